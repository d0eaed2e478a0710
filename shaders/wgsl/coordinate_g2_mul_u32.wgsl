// Below 2·p, for x below 16·p and y below 16·p: the real and the imaginary part are sums of two products, each reduced once.
// One after the other, in a loop: with 30 limbs and both in line, NVIDIA's compiler (580.159) gave up on the program
// msm_combine, and the device was lost.
fn coordinate_mul(x: Coordinate, y: Coordinate) -> Coordinate {
    var result = Coordinate();
    var a = x.a;
    var b = y.a;
    var c = fp_sub16(Fp(), x.b);
    var d = y.b;
    for (var i = 0u; i < 2u; i++) {
        let sum = fp_mul_sum(a, b, c, d);
        if i == 0u {
            result.a = sum;
            b = y.b;
            c = x.b;
            d = y.a;
        } else {
            result.b = sum;
        }
    }
    return result;
}
