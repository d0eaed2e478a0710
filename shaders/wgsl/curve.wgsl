// Sums of points on y² = x³ + b.
//
// A sum is (X, Y, ZZ, ZZZ) with x = X/ZZ, y = Y/ZZZ and ZZ³ = ZZZ²; the point at infinity has ZZ = 0 in all limbs.
// Bounds at rest: X below 8·p, Y below 4·p, ZZ and ZZZ below 2·p, so that each packs into the words of a coordinate.
// Formulas: https://hyperelliptic.org/EFD/g1p/auto-shortw-xyzz.html (madd-2008-s, add-2008-s, dbl-2008-s-1).
//
// Each formula is a loop that makes one product a step, operands chosen before it and the result placed after it by
// the number of the step. Written out, with ten to twenty products in line, a kernel compiles for many seconds and runs
// slower. Variables are reused as soon as their value is spent, since all of them live through the loop.

struct Affine {
    x: Coordinate,
    y: Coordinate,
}

struct Xyzz {
    x: Coordinate,
    y: Coordinate,
    zz: Coordinate,
    zzz: Coordinate,
}

fn affine_is_infinity(a: Affine) -> bool { return coordinate_is_all_zero(a.x) && coordinate_is_all_zero(a.y); }
fn xyzz_is_infinity(a: Xyzz) -> bool { return coordinate_is_all_zero(a.zz); }
fn xyzz_infinity() -> Xyzz { return Xyzz(Coordinate(), Coordinate(), Coordinate(), Coordinate()); }
fn xyzz_from_affine(a: Affine) -> Xyzz { return Xyzz(a.x, a.y, COORDINATE_ONE, COORDINATE_ONE); }

// a with the sign of y changed; y below 2·p. Infinity stays infinity.
fn affine_negate_if(a: Affine, negative: bool) -> Affine {
    if !negative || affine_is_infinity(a) { return a; }
    return Affine(a.x, coordinate_sub2(Coordinate(), a.y));
}

// 2·a for a that is not infinity; there is no point of order two.
fn xyzz_double(a: Xyzz) -> Xyzz {
    var x = a.x;
    var y = a.y;
    var zz = a.zz;
    var zzz = a.zzz;
    var m = coordinate_add(y, y);
    var v = Coordinate();
    var w = Coordinate();
    var left = Coordinate();
    var right = Coordinate();
    for (var step = 0u; step < 9u; step++) {
        switch step {
            case 0u: { left = m; right = m; }
            case 1u: { left = m; right = v; }
            case 2u: { left = x; right = x; }
            case 3u: { left = x; right = v; }
            case 4u: { left = zz; right = v; }
            case 5u: { left = zzz; right = w; }
            case 6u: { left = m; right = m; }
            case 7u: { left = y; right = w; }
            default: { left = m; right = x; }
        }
        let product = coordinate_mul(left, right);
        switch step {
            case 0u: { v = product; }
            case 1u: { w = product; }
            case 2u: { m = coordinate_add(coordinate_add(product, product), product); }
            case 3u: { x = product; }
            case 4u: { zz = product; }
            case 5u: { zzz = product; }
            case 6u: { v = coordinate_sub_and_twice(product, Coordinate(), x); x = coordinate_sub8(x, v); }
            case 7u: { y = product; }
            default: { y = coordinate_sub2(product, y); }
        }
    }
    return Xyzz(v, y, zz, zzz);
}

// a + b for b that is not infinity.
fn xyzz_add_affine(a: Xyzz, b: Affine) -> Xyzz {
    if xyzz_is_infinity(a) { return xyzz_from_affine(b); }
    var x = a.x;
    var y = a.y;
    var zz = a.zz;
    var zzz = a.zzz;
    // p becomes PPP, or 2·Y and then M when a = b; r is R, or W; v is PP, V and the new X.
    var p = b.x;
    var r = b.y;
    var v = Coordinate();
    var left = Coordinate();
    var right = Coordinate();
    var step = 0u;
    loop {
        switch step {
            case 0u: { left = p; right = zz; }
            case 1u: { left = r; right = zzz; }
            case 2u: { left = p; right = p; }
            case 3u: { left = p; right = v; }
            case 4u: { left = x; right = v; }
            case 5u: { left = zz; right = v; }
            case 6u: { left = zzz; right = p; }
            case 7u: { left = r; right = r; }
            // a = b or a = -b
            case 8u: { left = r; right = r; }
            case 9u: { p = coordinate_add(y, y); left = p; right = p; }
            case 10u: { left = p; right = v; }
            case 11u: { left = x; right = x; }
            case 12u: { left = x; right = v; }
            case 13u: { left = zz; right = v; }
            case 14u: { left = zzz; right = r; }
            default: { left = p; right = p; }
        }
        let product = coordinate_mul(left, right);
        switch step {
            case 0u: { p = coordinate_sub8(product, x); }
            case 1u: { r = coordinate_sub4(product, y); }
            case 2u: { v = product; if coordinate_is_zero(product) { step = 7u; } }
            case 3u: { p = product; }
            case 4u: { x = product; }
            case 5u: { zz = product; }
            case 6u: { zzz = product; }
            case 7u: { v = coordinate_sub_and_twice(product, p, x); x = coordinate_sub8(x, v); step = 15u; }
            case 8u: { if !coordinate_is_zero(product) { return xyzz_infinity(); } }
            case 9u: { v = product; }
            case 10u: { r = product; }
            case 11u: { p = coordinate_add(coordinate_add(product, product), product); }
            case 12u: { x = product; }
            case 13u: { zz = product; }
            case 14u: { zzz = product; }
            default: {
                v = coordinate_sub_and_twice(product, Coordinate(), x);
                x = coordinate_sub8(x, v);
                let w = r;
                r = p;
                p = w;
            }
        }
        step++;
        if step > 15u { break; }
    }
    // R·(Q - X) - Y·PPP, or M·(S - X) - Y·W.
    return Xyzz(v, coordinate_mul_difference(r, x, y, p), zz, zzz);
}

// a + b.
fn xyzz_add(a: Xyzz, b: Xyzz) -> Xyzz {
    if xyzz_is_infinity(a) { return b; }
    if xyzz_is_infinity(b) { return a; }
    // u becomes U1 and Q; p becomes P, or 2·Y and then M when a = b; s is S1; r is R; zz2 becomes PP, V and the new X;
    // zzz2 becomes PPP, or W.
    var u = a.x;
    var s = a.y;
    var zz = a.zz;
    var zzz = a.zzz;
    var p = b.x;
    var r = b.y;
    var zz2 = b.zz;
    var zzz2 = b.zzz;
    var left = Coordinate();
    var right = Coordinate();
    var step = 0u;
    loop {
        switch step {
            case 0u: { left = u; right = zz2; }
            case 1u: { left = p; right = zz; }
            case 2u: { left = zz; right = zz2; }
            case 3u: { left = s; right = zzz2; }
            case 4u: { left = r; right = zzz; }
            case 5u: { left = zzz; right = zzz2; }
            case 6u: { left = p; right = p; }
            case 7u: { left = p; right = zz2; }
            case 8u: { left = u; right = zz2; }
            case 9u: { left = zz; right = zz2; }
            case 10u: { left = zzz; right = zzz2; }
            case 11u: { left = r; right = r; }
            case 12u: { left = s; right = zzz2; }
            case 13u: { left = r; right = u; }
            // a = b or a = -b; (u, s, zz, zzz) is a by now.
            case 14u: { left = r; right = r; }
            case 15u: { p = coordinate_add(s, s); left = p; right = p; }
            case 16u: { left = p; right = zz2; }
            case 17u: { left = u; right = u; }
            case 18u: { left = u; right = zz2; }
            case 19u: { left = zz; right = zz2; }
            case 20u: { left = zzz; right = zzz2; }
            case 21u: { left = p; right = p; }
            case 22u: { left = s; right = zzz2; }
            default: { left = p; right = u; }
        }
        let product = coordinate_mul(left, right);
        switch step {
            case 0u: { u = product; }
            case 1u: { p = coordinate_sub2(product, u); }
            case 2u: { zz = product; }
            case 3u: { s = product; }
            case 4u: { r = coordinate_sub2(product, s); }
            case 5u: { zzz = product; }
            case 6u: { zz2 = product; if coordinate_is_zero(product) { step = 13u; } }
            case 7u: { zzz2 = product; }
            case 8u: { u = product; }
            case 9u: { zz = product; }
            case 10u: { zzz = product; }
            case 11u: { zz2 = coordinate_sub_and_twice(product, zzz2, u); u = coordinate_sub8(u, zz2); }
            case 12u: { s = product; }
            case 13u: { s = coordinate_sub2(product, s); step = 23u; }
            case 14u: { if !coordinate_is_zero(product) { return xyzz_infinity(); } }
            case 15u: { zz2 = product; }
            case 16u: { zzz2 = product; }
            case 17u: { p = coordinate_add(coordinate_add(product, product), product); }
            case 18u: { u = product; }
            case 19u: { zz = product; }
            case 20u: { zzz = product; }
            case 21u: { zz2 = coordinate_sub_and_twice(product, Coordinate(), u); u = coordinate_sub8(u, zz2); }
            case 22u: { s = product; }
            default: { s = coordinate_sub2(product, s); }
        }
        step++;
        if step > 23u { break; }
    }
    return Xyzz(zz2, s, zz, zzz);
}
