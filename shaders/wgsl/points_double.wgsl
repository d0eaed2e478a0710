// Doubles affine points `times` times, one each invocation; the results are not normalized.

struct Params {
    first_group: u32,
    // Points.
    count: u32,
    times: u32,
    // Position of the first point.
    first: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> points: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read_write> sums: array<vec4<u32>>;

// access affine points
// access xyzz sums rw

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let index = (params.first_group + group.x) * 64u + local;
    if index >= params.count { return; }
    let point = load_points(params.first + index);
    var sum = xyzz_infinity();
    if !affine_is_infinity(point) {
        sum = xyzz_from_affine(point);
        for (var i = 0u; i < params.times; i++) { sum = xyzz_double(sum); }
    }
    store_sums(index, sum);
}
