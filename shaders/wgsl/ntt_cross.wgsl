// One layer of butterflies between two parts of a vector that does not fit one binding.
//
// Decimation in frequency: (u, v) ← (u + v, (u − v)·ω^e); in time: (u, v) ← (u + ω^e·v, u − ω^e·v). The factor is
// the product of two table entries. Values are below 2·r before and after.

struct Params {
    first_group: u32,
    // Scalars in each of the two parts.
    count: u32,
    // Whether in time, whether the exponent is negated.
    in_time: u32,
    negative: u32,
    // The exponent is (offset + position) << shift, modulo 2^log_order.
    offset: u32,
    shift: u32,
    log_order: u32,
    // First entries of the tables, and the bits of the exponent that the first one is for.
    low: u32,
    high: u32,
    low_bits: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> first: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read_write> second: array<vec4<u32>>;
// Device form.
@group(0) @binding(3) var<storage, read> tables: array<vec4<u32>>;

fn entry(at: u32) -> Fr {
    return fr_unpack(tables[2u * at], tables[2u * at + 1u]);
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let position = (params.first_group + workgroup.x) * 64u + local;
    if position >= params.count {
        return;
    }
    var e = (params.offset + position) << params.shift;
    e = select(e, 0u - e, params.negative != 0u) & (0xffffffffu >> (32u - params.log_order));
    let low = entry(params.low + (e & ((1u << params.low_bits) - 1u)));
    let high = entry(params.high + (e >> params.low_bits));
    var u = fr_unpack(first[2u * position], first[2u * position + 1u]);
    var v = fr_unpack(second[2u * position], second[2u * position + 1u]);
    if params.in_time != 0u {
        let product = fr_mul(fr_mul(v, low), high);
        v = fr_red2(fr_sub2(u, product));
        u = fr_red2(fr_add(u, product));
    } else {
        let difference = fr_sub2(u, v);
        u = fr_red2(fr_add(u, v));
        v = fr_mul(fr_mul(difference, low), high);
    }
    let packed_u = fr_pack(u);
    let packed_v = fr_pack(v);
    first[2u * position] = packed_u[0];
    first[2u * position + 1u] = packed_u[1];
    second[2u * position] = packed_v[0];
    second[2u * position + 1u] = packed_v[1];
}
