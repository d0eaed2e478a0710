//! The cases of EIP-2537 and their encodings of points and scalars.

use std::path::Path;

use bellwether_core::curve::{AffinePoint, Group};
use blstrs::Scalar;
use ff::Field;
use serde::Deserialize;

/// One case of a file of vectors.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Case {
    /// What it is about.
    pub name: String,
    /// Hexadecimal input.
    pub input: String,
    /// Hexadecimal output; missing where the input must be refused.
    pub expected: Option<String>,
    /// Why it must be refused.
    pub expected_error: Option<String>,
}

/// The cases of a file in `tests/vectors/eip2537`.
pub fn cases(file: &str) -> Vec<Case> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("vectors/eip2537").join(file);
    let text = std::fs::read_to_string(&path).expect("the vectors are part of the repository");
    let cases: Vec<Case> = serde_json::from_str(&text).expect("a list of cases");
    assert!(!cases.is_empty(), "{file} has cases");
    cases
}

impl Case {
    /// The input's bytes.
    pub fn input(&self) -> Vec<u8> {
        bytes(&self.input)
    }

    /// The output's bytes.
    pub fn expected(&self) -> Vec<u8> {
        bytes(self.expected.as_deref().expect("a case with an output"))
    }
}

fn bytes(hex: &str) -> Vec<u8> {
    assert!(hex.len().is_multiple_of(2), "whole bytes");
    (0..hex.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&hex[at..at + 2], 16).expect("hexadecimal"))
        .collect()
}

/// Why an input is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// It is not a whole number of items, or empty.
    Length,
    /// One of the upper 16 bytes of a coordinate is not zero.
    TopBytes,
    /// A coordinate is not below p.
    NotCanonical,
    /// The coordinates do not satisfy the curve equation.
    NotOnCurve,
    /// The point is outside the subgroup of order r.
    NotInSubgroup(Group),
}

impl Refused {
    /// The words of the vectors.
    pub fn message(self) -> &'static str {
        match self {
            Refused::Length => "invalid input length",
            Refused::TopBytes => "invalid field element top bytes",
            Refused::NotCanonical => "invalid fp.Element encoding",
            Refused::NotOnCurve => "invalid point: not on curve",
            Refused::NotInSubgroup(Group::G1) => "g1 point is not in the correct subgroup",
            Refused::NotInSubgroup(Group::G2) => "g2 point is not in the correct subgroup",
        }
    }
}

/// Bytes of a padded coordinate in Fp, and of these the padding.
const COORDINATE: usize = 64;
const PADDING: usize = 16;

/// Bytes of a scalar.
pub const SCALAR_BYTES: usize = 32;

/// Bytes of an encoded point.
pub const fn point_bytes<P: AffinePoint>() -> usize {
    P::ENCODED_BYTES / (COORDINATE - PADDING) * COORDINATE
}

/// The items of an input, of `size` bytes each; at least one.
pub fn items(input: &[u8], size: usize) -> Result<impl Iterator<Item = &[u8]>, Refused> {
    if input.is_empty() || !input.len().is_multiple_of(size) {
        return Err(Refused::Length);
    }
    Ok(input.chunks_exact(size))
}

/// A point on the curve, in the subgroup or not: by way of zcash's uncompressed form, which is what blstrs reads.
/// It has the coordinates without padding, those in Fp2 with c1 before c0, and a flag for infinity.
pub fn decode_point<P: AffinePoint>(bytes: &[u8]) -> Result<P, Refused> {
    if bytes.len() != point_bytes::<P>() {
        return Err(Refused::Length);
    }
    let coordinates: Vec<&[u8]> = bytes.chunks_exact(COORDINATE).collect();
    if coordinates.iter().any(|coordinate| coordinate[..PADDING].iter().any(|&byte| byte != 0)) {
        return Err(Refused::TopBytes);
    }
    if coordinates.iter().any(|coordinate| !below_modulus(&coordinate[PADDING..])) {
        return Err(Refused::NotCanonical);
    }
    if bytes.iter().all(|&byte| byte == 0) {
        return Ok(P::identity());
    }
    let mut encoding = P::Uncompressed::default();
    for (slot, coordinate) in
        encoding.as_mut().chunks_exact_mut(COORDINATE - PADDING).zip(zcash_order::<P>(&coordinates))
    {
        slot.copy_from_slice(&coordinate[PADDING..]);
    }
    Option::from(P::from_uncompressed_unchecked(&encoding)).ok_or(Refused::NotOnCurve)
}

/// A point of the subgroup.
pub fn decode_subgroup_point<P: AffinePoint>(bytes: &[u8]) -> Result<P, Refused> {
    let point = decode_point::<P>(bytes)?;
    if point.is_in_subgroup() { Ok(point) } else { Err(Refused::NotInSubgroup(P::GROUP)) }
}

/// The encoding of a point.
pub fn encode_point<P: AffinePoint>(point: &P) -> Vec<u8> {
    if point.is_infinity() {
        return vec![0; point_bytes::<P>()];
    }
    let encoding = point.to_uncompressed();
    let coordinates: Vec<&[u8]> = encoding.as_ref().chunks_exact(COORDINATE - PADDING).collect();
    zcash_order::<P>(&coordinates).flat_map(|coordinate| [&[0; PADDING], coordinate].concat()).collect()
}

/// Coordinates with c0 and c1 exchanged, which is both ways the same.
fn zcash_order<'a, P: AffinePoint>(coordinates: &'a [&'a [u8]]) -> impl Iterator<Item = &'a [u8]> {
    let swap = match P::GROUP {
        Group::G1 => 0,
        Group::G2 => 1,
    };
    (0..coordinates.len()).map(move |i| coordinates[i ^ swap])
}

fn below_modulus(bytes: &[u8]) -> bool {
    let encoding: &[u8; COORDINATE - PADDING] = bytes.try_into().expect("48 bytes");
    blstrs::Fp::from_bytes_be(encoding).is_some().into()
}

/// A scalar: any 256-bit integer, taken modulo r.
pub fn decode_scalar(bytes: &[u8]) -> Scalar {
    assert_eq!(bytes.len(), SCALAR_BYTES);
    let base = Scalar::from(256u64);
    bytes.iter().fold(Scalar::ZERO, |sum, &byte| sum * base + Scalar::from(u64::from(byte)))
}
