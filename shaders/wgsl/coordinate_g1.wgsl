// The coordinate field of G1: Fp.

alias Coordinate = Fp;
alias CoordinatePacked = FpPacked;
const COORDINATE_VECTORS = 3u;
const COORDINATE_ONE = FP_ONE;
const COORDINATE_FROM_PACKED = FP_FROM_PACKED;
const COORDINATE_TO_PACKED = FP_TO_PACKED;

fn coordinate_unpack(words: CoordinatePacked) -> Coordinate { return fp_unpack(words[0], words[1], words[2]); }
fn coordinate_pack(a: Coordinate) -> CoordinatePacked { return fp_pack(a); }
fn coordinate_is_all_zero(a: Coordinate) -> bool { return fp_is_all_zero(a); }
fn coordinate_is_zero(a: Coordinate) -> bool { return fp_is_zero(a); }

// Below 2·p, for factors the product of whose bounds is below 600·p².
fn coordinate_mul(a: Coordinate, b: Coordinate) -> Coordinate { return fp_mul(a, b); }
// a·b - c·d, below 2·p, for a and b as above, c below 4·p and d below 2·p; reduced once, which makes additions of points
// 5 % faster on an H200.
fn coordinate_mul_difference(a: Coordinate, b: Coordinate, c: Coordinate, d: Coordinate) -> Coordinate {
    return fp_mul_sum(a, b, fp_sub4(Fp(), c), d);
}
// The product with an element of Fp.
fn coordinate_scale(a: Coordinate, b: Fp) -> Coordinate { return fp_mul(a, b); }
fn coordinate_add(a: Coordinate, b: Coordinate) -> Coordinate { return fp_add(a, b); }
fn coordinate_sub2(a: Coordinate, b: Coordinate) -> Coordinate { return fp_sub2(a, b); }
fn coordinate_sub4(a: Coordinate, b: Coordinate) -> Coordinate { return fp_sub4(a, b); }
fn coordinate_sub8(a: Coordinate, b: Coordinate) -> Coordinate { return fp_sub8(a, b); }
// From below 2·p to below p.
fn coordinate_red1(a: Coordinate) -> Coordinate { return fp_red1(a); }
// a - b - 2·q, below 8·p for a, b and q below 2·p.
fn coordinate_sub_and_twice(a: Coordinate, b: Coordinate, q: Coordinate) -> Coordinate {
    return fp_sub2(fp_sub2(fp_sub2(a, b), q), q);
}
