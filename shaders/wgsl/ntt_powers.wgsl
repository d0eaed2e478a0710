// scale·base^i for i below `count`, in device form. A thread makes a run of them.

struct Params {
    first_group: u32,
    // The entry of the table with which the powers begin, and how many they are.
    first: u32,
    count: u32,
    // Powers a thread.
    run: u32,
    // Device form.
    base: array<vec4<u32>, 2>,
    scale: array<vec4<u32>, 2>,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> table: array<vec4<u32>>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let begin = ((params.first_group + workgroup.x) * 64u + local) * params.run;
    let end = min(begin + params.run, params.count);
    if begin >= end {
        return;
    }
    let base = fr_unpack(params.base[0], params.base[1]);
    var power = fr_unpack(params.scale[0], params.scale[1]);
    var square = base;
    for (var bits = begin; bits > 0u; bits >>= 1u) {
        if (bits & 1u) != 0u {
            power = fr_mul(power, square);
        }
        square = fr_sqr(square);
    }
    for (var i = begin; i < end; i++) {
        let packed = fr_pack(fr_red1(power));
        table[2u * (params.first + i)] = packed[0];
        table[2u * (params.first + i) + 1u] = packed[1];
        power = fr_mul(power, base);
    }
}
