// Multiples of a fixed base: for each scalar, the sum over windows of the table's multiples, not normalized.

struct Params {
    first_group: u32,
    // Scalars.
    count: u32,
    // Where they start.
    first: u32,
    bits: u32,
    windows: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> scalars: array<vec4<u32>>;
// d·2^(bits·w)·P at w·2^bits + d.
@group(0) @binding(2) var<storage, read> multiples: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read_write> sums: array<vec4<u32>>;

// access affine multiples
// access xyzz sums rw

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let index = (params.first_group + group.x) * 64u + local;
    if index >= params.count { return; }
    let source = params.first + index;
    let integer = fr_pack(fr_red1(fr_mul(
        fr_unpack(scalars[2u * source], scalars[2u * source + 1u]), FR_INTEGER)));
    var words = array<u32, 8>(
        integer[0].x, integer[0].y, integer[0].z, integer[0].w, integer[1].x, integer[1].y, integer[1].z, integer[1].w);
    var sum = xyzz_infinity();
    for (var window = 0u; window < params.windows; window++) {
        let digit = words[0] & ((1u << params.bits) - 1u);
        for (var i = 0u; i < 7u; i++) {
            words[i] = (words[i] >> params.bits) | (words[i + 1u] << (32u - params.bits));
        }
        words[7] = words[7] >> params.bits;
        if digit != 0u {
            let multiple = load_multiples((window << params.bits) + digit);
            if !affine_is_infinity(multiple) { sum = xyzz_add_affine(sum, multiple); }
        }
    }
    store_sums(index, sum);
}
