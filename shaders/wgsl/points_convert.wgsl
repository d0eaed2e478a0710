// Multiplies coordinates by a constant, and so takes them from packed to device form or back; the results are below p.

struct Params {
    first_group: u32,
    // Coordinates.
    count: u32,
    // 1 to packed form, 0 to device form.
    to_packed: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> source: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read_write> result: array<vec4<u32>>;

// access coordinate source
// access coordinate result rw

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let index = (params.first_group + group.x) * 64u + local;
    if index >= params.count { return; }
    var factor = COORDINATE_FROM_PACKED;
    if params.to_packed == 1u { factor = COORDINATE_TO_PACKED; }
    store_result(index, coordinate_red1(coordinate_scale(load_source(index), factor)));
}
