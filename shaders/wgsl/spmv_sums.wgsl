// Sums of consecutive scalars: partial sums of long rows. One invocation a sum.

struct Params {
    first_group: u32,
    sums: u32,
}
@group(0) @binding(0) var<uniform> params: Params;
// For each sum: the first scalar, the end, and where the sum goes.
@group(0) @binding(1) var<storage, read> tasks: array<u32>;
// Packed, below r.
@group(0) @binding(2) var<storage, read> inputs: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read_write> outputs: array<vec4<u32>>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let task = (params.first_group + workgroup.x) * 64u + local;
    if task >= params.sums {
        return;
    }
    // Below 2r throughout.
    var sum = Fr();
    let end = tasks[3u * task + 1u];
    for (var i = tasks[3u * task]; i < end; i++) {
        sum = fr_red2(fr_add(sum, fr_unpack(inputs[2u * i], inputs[2u * i + 1u])));
    }
    let packed = fr_pack(fr_red1(sum));
    let output = 2u * tasks[3u * task + 2u];
    outputs[output] = packed[0];
    outputs[output + 1u] = packed[1];
}
