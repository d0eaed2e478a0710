// The pointwise quotient a ← (a·b − c)·scale, or a·b·scale without c; packed form, with P = 2^256.
//
// The product of two packed values is a·b·P²/R; c·P times P is c·P²/R. The scale, scale·R²/P, makes it packed again.
// Values of a, b and c are below 2·r.

struct Params {
    first_group: u32,
    count: u32,
    with_c: u32,
    unused: u32,
    // scale·R²/P.
    scale: array<vec4<u32>, 2>,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> a: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> b: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read> c: array<vec4<u32>>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let i = (params.first_group + workgroup.x) * 64u + local;
    if i >= params.count {
        return;
    }
    var x = fr_mul(fr_unpack(a[2u * i], a[2u * i + 1u]), fr_unpack(b[2u * i], b[2u * i + 1u]));
    if params.with_c != 0u {
        x = fr_sub2(x, fr_mul(fr_unpack(c[2u * i], c[2u * i + 1u]), FR_TO_PACKED));
    }
    let packed = fr_pack(fr_red1(fr_mul(x, fr_unpack(params.scale[0], params.scale[1]))));
    a[2u * i] = packed[0];
    a[2u * i + 1u] = packed[1];
}
