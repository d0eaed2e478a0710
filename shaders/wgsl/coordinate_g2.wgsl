// The coordinate field of G2: Fp2 = Fp[u] / (u² + 1).

struct Coordinate {
    // a + b·u
    a: Fp,
    b: Fp,
}
alias CoordinatePacked = array<vec4<u32>, 6>;
const COORDINATE_VECTORS = 6u;
const COORDINATE_ONE = Coordinate(FP_ONE, Fp());
const COORDINATE_FROM_PACKED = FP_FROM_PACKED;
const COORDINATE_TO_PACKED = FP_TO_PACKED;

fn coordinate_unpack(words: CoordinatePacked) -> Coordinate {
    return Coordinate(fp_unpack(words[0], words[1], words[2]), fp_unpack(words[3], words[4], words[5]));
}
fn coordinate_pack(x: Coordinate) -> CoordinatePacked {
    let a = fp_pack(x.a);
    let b = fp_pack(x.b);
    return CoordinatePacked(a[0], a[1], a[2], b[0], b[1], b[2]);
}
fn coordinate_is_all_zero(x: Coordinate) -> bool { return fp_is_all_zero(x.a) && fp_is_all_zero(x.b); }
fn coordinate_is_zero(x: Coordinate) -> bool { return fp_is_zero(x.a) && fp_is_zero(x.b); }

// a·b - c·d, below 4·p, for factors as above. One product after the other, in a loop, since each is long.
fn coordinate_mul_difference(a: Coordinate, b: Coordinate, c: Coordinate, d: Coordinate) -> Coordinate {
    var x = c;
    var y = d;
    var subtrahend = Coordinate();
    for (var i = 0u; i < 2u; i++) {
        let product = coordinate_mul(x, y);
        if i == 1u { return coordinate_sub2(product, subtrahend); }
        subtrahend = product;
        x = a;
        y = b;
    }
    return subtrahend;
}
// The product with an element of Fp.
fn coordinate_scale(x: Coordinate, y: Fp) -> Coordinate { return Coordinate(fp_mul(x.a, y), fp_mul(x.b, y)); }
fn coordinate_add(x: Coordinate, y: Coordinate) -> Coordinate {
    return Coordinate(fp_add(x.a, y.a), fp_add(x.b, y.b));
}
fn coordinate_sub2(x: Coordinate, y: Coordinate) -> Coordinate {
    return Coordinate(fp_sub2(x.a, y.a), fp_sub2(x.b, y.b));
}
fn coordinate_sub4(x: Coordinate, y: Coordinate) -> Coordinate {
    return Coordinate(fp_sub4(x.a, y.a), fp_sub4(x.b, y.b));
}
fn coordinate_sub8(x: Coordinate, y: Coordinate) -> Coordinate {
    return Coordinate(fp_sub8(x.a, y.a), fp_sub8(x.b, y.b));
}
// From below 2·p to below p.
fn coordinate_red1(x: Coordinate) -> Coordinate { return Coordinate(fp_red1(x.a), fp_red1(x.b)); }
// x - y - 2·q, below 8·p for x, y and q below 2·p.
fn coordinate_sub_and_twice(x: Coordinate, y: Coordinate, q: Coordinate) -> Coordinate {
    return coordinate_sub2(coordinate_sub2(coordinate_sub2(x, y), q), q);
}
