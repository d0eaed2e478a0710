// Signed digits of a scalar s: those of the smaller of s and r - s, each in -2^(c-1)+1 ..= 2^(c-1), lowest first. The
// magnitude has 254 bits, so that ⌈255/c⌉ digits leave no carry.

struct Digits {
    // What is left of the magnitude, shifted down by a window a digit.
    magnitude: array<u32, 8>,
    carry: u32,
    negative: bool,
}

// r and (r - 1)/2 come from the parameters of the program, two vectors each.
fn digits_of(scalar: Fr, r: array<vec4<u32>, 2>, half: array<vec4<u32>, 2>) -> Digits {
    let integer = fr_pack(fr_red1(fr_mul(scalar, FR_INTEGER)));
    var words = array<u32, 8>(
        integer[0].x, integer[0].y, integer[0].z, integer[0].w, integer[1].x, integer[1].y, integer[1].z, integer[1].w);
    let halves = array<u32, 8>(
        half[0].x, half[0].y, half[0].z, half[0].w, half[1].x, half[1].y, half[1].z, half[1].w);
    let modulus = array<u32, 8>(r[0].x, r[0].y, r[0].z, r[0].w, r[1].x, r[1].y, r[1].z, r[1].w);
    var larger = false;
    for (var i = 0u; i < 8u; i++) {
        if words[i] != halves[i] { larger = words[i] > halves[i]; }
    }
    if larger {
        var borrow = 0u;
        for (var i = 0u; i < 8u; i++) {
            let difference = modulus[i] - words[i];
            let without = difference - borrow;
            borrow = u32(modulus[i] < words[i]) + u32(difference < borrow);
            words[i] = without;
        }
    }
    return Digits(words, 0u, larger);
}

// A digit: its magnitude, 0 for none, and whether it counts negatively.
struct Digit {
    magnitude: u32,
    negative: bool,
}

fn next_digit(digits: ptr<function, Digits>, bits: u32) -> Digit {
    var value = ((*digits).magnitude[0] & ((1u << bits) - 1u)) + (*digits).carry;
    for (var i = 0u; i < 7u; i++) {
        (*digits).magnitude[i] = ((*digits).magnitude[i] >> bits) | ((*digits).magnitude[i + 1u] << (32u - bits));
    }
    (*digits).magnitude[7] = (*digits).magnitude[7] >> bits;
    var negative = (*digits).negative;
    (*digits).carry = 0u;
    if value > (1u << (bits - 1u)) {
        value = (1u << bits) - value;
        negative = !negative;
        (*digits).carry = 1u;
    }
    return Digit(value, negative);
}

// What the two programs over digits have in common.

struct Params {
    first_group: u32,
    // Scalars at hand.
    count: u32,
    // Where they start: in `scalars`, or in `positions` if these are given.
    first: u32,
    window_bits: u32,
    windows: u32,
    sets: u32,
    // 1 if `positions` says which scalar belongs to which base.
    indexed: u32,
    // The bases at hand: position of the first, and how many.
    bases_first: u32,
    bases_count: u32,
    // Position among them of the base of the first scalar, where scalars are not looked up.
    base: u32,
    // The scalars that `scalars` holds of those that `positions` counts.
    scalars_first: u32,
    scalars_count: u32,
    modulus: array<vec4<u32>, 2>,
    half: array<vec4<u32>, 2>,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> scalars: array<vec4<u32>>;
// Pairs: position of the base, index of the scalar.
@group(0) @binding(2) var<storage, read> positions: array<vec2<u32>>;
