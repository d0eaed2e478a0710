// 1/x = (a - b·u)/(a² + b²) for x = a + b·u with a and b below 2·p; 0 for 0.
fn coordinate_inverse(x: Coordinate) -> Coordinate {
    let inverse = fp_inverse(fp_add(fp_sqr(x.a), fp_sqr(x.b)));
    return Coordinate(fp_mul(x.a, inverse), fp_mul(fp_sub2(Fp(), x.b), inverse));
}
