//! Field and curve operations one by one, and chains of them: `field.cu`.

use crate::kernel::{Address, Module, declare_kernels};

declare_kernels! {
    /// An operation on each of `count` elements.
    struct Unary { a: Address, out: Address, count: u64 }
    kernels {
        FR_NEGATE = "fr_negate" in Module::Field, 128 threads;
        FR_CANONICAL = "fr_canonical" in Module::Field, 128 threads;
        FP_SQR = "fp_sqr" in Module::Field, 128 threads;
        FP_THRICE = "fp_thrice" in Module::Field, 128 threads;
        FP_NEGATE = "fp_negate" in Module::Field, 128 threads;
        FP_INVERSE = "fp_inverse" in Module::Field, 128 threads;
        FP_CANONICAL = "fp_canonical" in Module::Field, 128 threads;
        FP_IS_ZERO = "fp_is_zero" in Module::Field, 128 threads;
        FP2_SQR = "fp2_sqr" in Module::Field, 128 threads;
        FP2_INVERSE = "fp2_inverse" in Module::Field, 128 threads;
    }

    /// An operation on each of `count` pairs.
    struct Binary { a: Address, b: Address, out: Address, count: u64 }
    kernels {
        FR_MUL_MONT = "fr_mul_mont" in Module::Field, 128 threads;
        FR_MUL_SHOUP = "fr_mul_shoup" in Module::Field, 128 threads;
        FR_ADD = "fr_add" in Module::Field, 128 threads;
        FR_SUB = "fr_sub" in Module::Field, 128 threads;
        FP_MUL = "fp_mul" in Module::Field, 128 threads;
        FP_SUB = "fp_sub" in Module::Field, 128 threads;
        FP_MINUS_TWICE = "fp_minus_twice" in Module::Field, 128 threads;
        FP2_MUL = "fp2_mul" in Module::Field, 128 threads;
        FP2_MINUS_TWICE = "fp2_minus_twice" in Module::Field, 128 threads;
    }

    /// a·b + c·d for each of `count` quadruples.
    struct Dot { a: Address, b: Address, c: Address, d: Address, out: Address, count: u64 }
    kernels {
        FP_DOT = "fp_dot" in Module::Field, 128 threads;
        FP2_DOT = "fp2_dot" in Module::Field, 128 threads;
    }

    /// The constants of both fields: [`CONSTANT_WORDS`] words.
    struct Constants { out: Address }
    kernels { FIELD_CONSTANTS = "field_constants" in Module::Field, 32 threads; }

    /// All ways to p + q and 2p: [`CHECKED_SUMS`] sums for each of `count` pairs.
    struct CheckAdditions { p: Address, q: Address, scales: Address, out: Address, count: u64 }
    kernels {
        CHECK_ADDITIONS_G1 = "check_additions_g1" in Module::Field, 64 threads;
        CHECK_ADDITIONS_G2 = "check_additions_g2" in Module::Field, 64 threads;
    }

    /// Steps of two operations each on `count / 2` pairs of values.
    struct Chain { values: Address, count: u64, steps: u32 }
    kernels {
        FR_MUL_MONT_CHAIN = "fr_mul_mont_chain" in Module::Field, 128 threads;
        FP_MUL_CHAIN = "fp_mul_chain" in Module::Field, 128 threads;
        FP_SQR_CHAIN = "fp_sqr_chain" in Module::Field, 128 threads;
        FP2_MUL_CHAIN = "fp2_mul_chain" in Module::Field, 128 threads;
    }

    /// The same with a constant, in Montgomery form.
    struct ConstantChain { values: Address, multiplier: Address, count: u64, steps: u32 }
    kernels { FR_MUL_SHOUP_CHAIN = "fr_mul_shoup_chain" in Module::Field, 128 threads; }
}

/// Words that `field_constants` writes: r and 1 of Fr, p, 1 and R³ of Fp, −1/p mod 2³² and 1/p mod 2³⁰.
pub const CONSTANT_WORDS: usize = 2 * 8 + 3 * 12 + 2;

/// Sums that `check_additions` writes for a pair: five that are p + q, three that are 2p.
pub const CHECKED_SUMS: usize = 8;
