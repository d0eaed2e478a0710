// Sums of matrix entries times witness values, one for each of a list of consecutive ranges of entries: rows, or
// pieces of rows that are long. One invocation a range.
//
// Dense values that do not fit one binding are taken part by part: the first pass counts the values one and the dense
// values of the first part, each other pass adds those of another part.

struct Params {
    first_group: u32,
    ranges: u32,
    // Where the sum of range 0 goes.
    first_output: u32,
    // The part of the dense values that is bound.
    first_dense: u32,
    dense_count: u32,
    // 1 in each pass but the first.
    is_later_pass: u32,
}
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> codes: array<u32>;
@group(0) @binding(2) var<storage, read> ranks: array<u32>;
@group(0) @binding(3) var<storage, read> dense: array<vec4<u32>>;
// The first entry of each range, and the end of the last.
@group(0) @binding(4) var<storage, read> starts: array<u32>;
// Column, and index of the coefficient: 0 is +1, 1 is -1.
@group(0) @binding(5) var<storage, read> entries: array<vec2<u32>>;
// Coefficients, each in packed form and then in device form.
@group(0) @binding(6) var<storage, read> coefficients: array<vec4<u32>>;
// Packed, below r.
@group(0) @binding(7) var<storage, read_write> outputs: array<vec4<u32>>;

// A dense value times a coefficient; below 2r.
fn product(index: u32, coefficient: u32) -> Fr {
    let value = witness_dense(index);
    if coefficient == 0u {
        return value;
    }
    if coefficient == 1u {
        return fr_sub2(Fr(), value);
    }
    let at = 4u * coefficient;
    return fr_mul(value, fr_unpack(coefficients[at + 2u], coefficients[at + 3u]));
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let range = (params.first_group + workgroup.x) * 64u + local;
    if range >= params.ranges {
        return;
    }
    let output = 2u * (params.first_output + range);
    let is_later_pass = params.is_later_pass != 0u;
    // Below 2r throughout.
    var sum = Fr();
    if is_later_pass {
        sum = fr_unpack(outputs[output], outputs[output + 1u]);
    }
    let end = starts[range + 1u];
    for (var i = starts[range]; i < end; i++) {
        let entry = entries[i];
        let code = witness_code(entry.x);
        var term: Fr;
        if code == 0u || (code == 1u && is_later_pass) {
            continue;
        } else if code == 1u {
            term = fr_unpack(coefficients[4u * entry.y], coefficients[4u * entry.y + 1u]);
        } else {
            // Wraps for a part before the one that is bound.
            let index = witness_dense_index(entry.x) - params.first_dense;
            if index >= params.dense_count {
                continue;
            }
            term = product(index, entry.y);
        }
        sum = fr_red2(fr_add(sum, term));
    }
    let packed = fr_pack(fr_red1(sum));
    outputs[output] = packed[0];
    outputs[output + 1u] = packed[1];
}
