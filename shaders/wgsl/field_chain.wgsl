// Field arithmetic by itself: each invocation applies an operation `steps` times, x ← operation(x, y, z, w), to its own
// operands in Fr and to its own in Fp. For tests of the generated arithmetic and for the device's rate.
//
// Elements are limbs as they are, so that values may be anything an operation takes; what is packed takes the first
// words of an element's place.

// Which operation; the numbers are those of backend-wgpu's tests.
const MUL = 0u;
const SQR = 1u;
const ADD = 2u;
const SUB2 = 3u;
const SUB4 = 4u;
const SUB8 = 5u;
const RED1 = 6u;
const RED2 = 7u;
const RED4 = 8u;
const RED8 = 9u;
const PACK = 10u;
const UNPACK = 11u;
// 1 or 0 for is_zero, then for is_all_zero.
const IS_ZERO = 12u;
const FROM_PACKED = 13u;
const TO_PACKED = 14u;
const INTEGER = 15u;
const ONE = 16u;
const SUB16 = 17u;
// The only one that takes z and w.
const MUL_SUM = 18u;

struct Params {
    first_group: u32,
    // Quadruples of operands in each field.
    len: u32,
    operation: u32,
    steps: u32,
    // 1 to leave a field out.
    skip_fr: u32,
    skip_fp: u32,
}
@group(0) @binding(0) var<uniform> params: Params;
// x, y, z, w of each quadruple; x is replaced by the result.
@group(0) @binding(1) var<storage, read_write> fr_operands: array<u32>;
@group(0) @binding(2) var<storage, read_write> fp_operands: array<u32>;

fn fr_step(x: Fr, y: Fr, z: Fr, w: Fr) -> Fr {
    switch params.operation {
        case MUL: { return fr_mul(x, y); }
        case MUL_SUM: { return fr_mul_sum(x, y, z, w); }
        case SQR: { return fr_sqr(x); }
        case ADD: { return fr_add(x, y); }
        case SUB2: { return fr_sub2(x, y); }
        case SUB4: { return fr_sub4(x, y); }
        case SUB8: { return fr_sub8(x, y); }
        case SUB16: { return fr_sub16(x, y); }
        case RED1: { return fr_red1(x); }
        case RED2: { return fr_red2(x); }
        case RED4: { return fr_red4(x); }
        case RED8: { return fr_red8(x); }
        case PACK: {
            var p = fr_pack(x);
            var words = Fr();
            for (var i = 0u; i < 8u; i++) { words[i] = p[i / 4u][i % 4u]; }
            return words;
        }
        case UNPACK: { return fr_unpack(vec4(x[0], x[1], x[2], x[3]), vec4(x[4], x[5], x[6], x[7])); }
        case IS_ZERO: {
            var flags = Fr();
            flags[0] = u32(fr_is_zero(x));
            flags[1] = u32(fr_is_all_zero(x));
            return flags;
        }
        case FROM_PACKED: { return fr_mul(x, FR_FROM_PACKED); }
        case TO_PACKED: { return fr_mul(x, FR_TO_PACKED); }
        case INTEGER: { return fr_mul(x, FR_INTEGER); }
        default: { return FR_ONE; }
    }
}

fn fp_step(x: Fp, y: Fp, z: Fp, w: Fp) -> Fp {
    switch params.operation {
        case MUL: { return fp_mul(x, y); }
        case MUL_SUM: { return fp_mul_sum(x, y, z, w); }
        case SQR: { return fp_sqr(x); }
        case ADD: { return fp_add(x, y); }
        case SUB2: { return fp_sub2(x, y); }
        case SUB4: { return fp_sub4(x, y); }
        case SUB8: { return fp_sub8(x, y); }
        case SUB16: { return fp_sub16(x, y); }
        case RED1: { return fp_red1(x); }
        case RED2: { return fp_red2(x); }
        case RED4: { return fp_red4(x); }
        case RED8: { return fp_red8(x); }
        case PACK: {
            var p = fp_pack(x);
            var words = Fp();
            for (var i = 0u; i < 12u; i++) { words[i] = p[i / 4u][i % 4u]; }
            return words;
        }
        case UNPACK: {
            return fp_unpack(
                vec4(x[0], x[1], x[2], x[3]), vec4(x[4], x[5], x[6], x[7]), vec4(x[8], x[9], x[10], x[11]));
        }
        case IS_ZERO: {
            var flags = Fp();
            flags[0] = u32(fp_is_zero(x));
            flags[1] = u32(fp_is_all_zero(x));
            return flags;
        }
        case FROM_PACKED: { return fp_mul(x, FP_FROM_PACKED); }
        case TO_PACKED: { return fp_mul(x, FP_TO_PACKED); }
        case INTEGER: { return fp_mul(x, FP_INTEGER); }
        default: { return FP_ONE; }
    }
}

fn fr_chain(item: u32) {
    let first = 4u * FR_LIMBS * item;
    var x: Fr;
    var y: Fr;
    var z: Fr;
    var w: Fr;
    for (var i = 0u; i < FR_LIMBS; i++) {
        x[i] = fr_operands[first + i];
        y[i] = fr_operands[first + FR_LIMBS + i];
        z[i] = fr_operands[first + 2u * FR_LIMBS + i];
        w[i] = fr_operands[first + 3u * FR_LIMBS + i];
    }
    for (var step = 0u; step < params.steps; step++) {
        x = fr_step(x, y, z, w);
    }
    for (var i = 0u; i < FR_LIMBS; i++) {
        fr_operands[first + i] = x[i];
    }
}

fn fp_chain(item: u32) {
    let first = 4u * FP_LIMBS * item;
    var x: Fp;
    var y: Fp;
    var z: Fp;
    var w: Fp;
    for (var i = 0u; i < FP_LIMBS; i++) {
        x[i] = fp_operands[first + i];
        y[i] = fp_operands[first + FP_LIMBS + i];
        z[i] = fp_operands[first + 2u * FP_LIMBS + i];
        w[i] = fp_operands[first + 3u * FP_LIMBS + i];
    }
    for (var step = 0u; step < params.steps; step++) {
        x = fp_step(x, y, z, w);
    }
    for (var i = 0u; i < FP_LIMBS; i++) {
        fp_operands[first + i] = x[i];
    }
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let item = (params.first_group + workgroup.x) * 64u + local;
    if item >= params.len {
        return;
    }
    if params.skip_fr == 0u {
        fr_chain(item);
    }
    if params.skip_fp == 0u {
        fp_chain(item);
    }
}
