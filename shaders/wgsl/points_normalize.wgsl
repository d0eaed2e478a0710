// From sums to affine points below p: x = X/ZZ, y = Y/ZZZ. Each invocation takes `run` sums and inverts the product of
// their ZZZ once (Montgomery's trick); `products` keeps the partial products. Sums are interleaved, so that neighbouring
// invocations read neighbouring sums. With 1/ZZZ, 1/Z = ZZ/ZZZ and 1/ZZ = (1/Z)².

struct Params {
    first_group: u32,
    // Invocations.
    count: u32,
    run: u32,
    // Sums.
    length: u32,
    // Position of the first point written.
    first: u32,
    // 1 to give packed form, 0 to stay in device form.
    to_packed: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> sums: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read_write> products: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read_write> points: array<vec4<u32>>;

// access xyzz sums
// access coordinate products rw
// access affine points rw

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let index = (params.first_group + group.x) * 64u + local;
    if index >= params.count { return; }
    var product = COORDINATE_ONE;
    for (var i = index; i < params.length; i += params.count) {
        store_products(i, product);
        let sum = load_sums(i);
        if !xyzz_is_infinity(sum) { product = coordinate_mul(product, sum.zzz); }
    }
    var inverse = coordinate_inverse(product);
    for (var k = params.run; k > 0u; k--) {
        let i = index + (k - 1u) * params.count;
        if i >= params.length { continue; }
        let sum = load_sums(i);
        var point = Affine(Coordinate(), Coordinate());
        if !xyzz_is_infinity(sum) {
            // One product a step, as in the point formulas.
            var own = Coordinate();
            var left = inverse;
            var right = load_products(i);
            for (var step = 0u; step < 6u; step++) {
                let next = coordinate_mul(left, right);
                switch step {
                    case 0u: { own = next; left = inverse; right = sum.zzz; }
                    case 1u: { inverse = next; left = own; right = sum.zz; }
                    case 2u: { left = next; right = next; }
                    case 3u: { left = next; right = sum.x; }
                    case 4u: { point.x = next; left = own; right = sum.y; }
                    default: { point.y = next; }
                }
            }
            if params.to_packed == 1u {
                point.x = coordinate_scale(point.x, COORDINATE_TO_PACKED);
                point.y = coordinate_scale(point.y, COORDINATE_TO_PACKED);
            }
            point.x = coordinate_red1(point.x);
            point.y = coordinate_red1(point.y);
        }
        store_points(index + (k - 1u) * params.count + params.first, point);
    }
}
