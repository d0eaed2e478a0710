// The table of a fixed base: d·2^(bits·w)·P for each window w and each d below 2^bits, not normalized, from the starts
// 2^(bits·w)·P of the windows. One multiple each invocation, by double and add.

struct Params {
    first_group: u32,
    // Multiples: windows · 2^bits.
    count: u32,
    bits: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> starts: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read_write> sums: array<vec4<u32>>;

// access affine starts
// access xyzz sums rw

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let index = (params.first_group + group.x) * 64u + local;
    if index >= params.count { return; }
    let start = load_starts(index >> params.bits);
    var sum = xyzz_infinity();
    if !affine_is_infinity(start) {
        for (var bit = params.bits; bit > 0u; bit--) {
            if !xyzz_is_infinity(sum) { sum = xyzz_double(sum); }
            if ((index >> (bit - 1u)) & 1u) == 1u { sum = xyzz_add_affine(sum, start); }
        }
    }
    store_sums(index, sum);
}
