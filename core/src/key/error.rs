//! What can be wrong with a key file, each with the file and the byte where it shows.

use std::fmt;
use std::io;
use std::path::Path;
use std::sync::Arc;

use thiserror::Error;

/// Where a key's bytes come from, for messages: a path, or memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyOrigin(Option<Arc<Path>>);

impl KeyOrigin {
    /// Bytes that the caller holds or takes, with no name known.
    pub const UNNAMED: Self = Self(None);

    /// The path, where the bytes come from a file.
    pub fn path(&self) -> Option<&Path> {
        self.0.as_deref()
    }
}

impl From<&Path> for KeyOrigin {
    fn from(path: &Path) -> Self {
        Self(Some(path.into()))
    }
}

impl fmt::Display for KeyOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Some(path) => path.display().fmt(f),
            None => f.write_str("key bytes"),
        }
    }
}

/// The parts of a parameter file, in file order; displayed by the names bellman gave them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum KeyPart {
    /// \[α\] in G1.
    AlphaG1,
    /// \[β\] in G1.
    BetaG1,
    /// \[β\] in G2.
    BetaG2,
    /// \[γ\] in G2.
    GammaG2,
    /// \[δ\] in G1.
    DeltaG1,
    /// \[δ\] in G2.
    DeltaG2,
    /// One G1 point a public input, the constant one included.
    Ic,
    /// The powers of τ times Z(τ)/δ, in G1.
    H,
    /// One G1 point an auxiliary variable.
    L,
    /// The A polynomials at τ, in G1, without those that vanish.
    A,
    /// The B polynomials at τ, in G1, without those that vanish.
    BG1,
    /// The B polynomials at τ, in G2, without those that vanish.
    BG2,
}

impl fmt::Display for KeyPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::AlphaG1 => "alpha_g1",
            Self::BetaG1 => "beta_g1",
            Self::BetaG2 => "beta_g2",
            Self::GammaG2 => "gamma_g2",
            Self::DeltaG1 => "delta_g1",
            Self::DeltaG2 => "delta_g2",
            Self::Ic => "ic",
            Self::H => "h",
            Self::L => "l",
            Self::A => "a",
            Self::BG1 => "b_g1",
            Self::BG2 => "b_g2",
        })
    }
}

/// Why an encoded point is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PointFault {
    /// A coordinate is not below the field's modulus, or flag bits are set that an uncompressed encoding
    /// does not have (the compressed form, a sign bit, infinity with a coordinate that is not zero).
    NotCanonical,
    /// The coordinates do not satisfy the curve equation.
    NotOnCurve,
    /// The point at infinity, which no part of a key may hold.
    Infinity,
    /// On the curve, but outside the subgroup of order r.
    NotInSubgroup,
}

impl fmt::Display for PointFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotCanonical => "its encoding is not canonical",
            Self::NotOnCurve => "it is not on the curve",
            Self::Infinity => "it is the point at infinity",
            Self::NotInSubgroup => "it is not in the subgroup of order r",
        })
    }
}

/// A key that cannot be read, kept or written. Offsets and sizes are in bytes.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum KeyError {
    /// The operating system refused an operation on the file.
    #[error("{file}{}: {source}", at(*offset))]
    Io {
        /// The file.
        file: KeyOrigin,
        /// How far reading or writing had come.
        offset: u64,
        /// What the operating system said.
        source: io::Error,
    },

    /// There is not a single byte.
    #[error("{file}, byte 0: the file is empty")]
    Empty {
        /// The file.
        file: KeyOrigin,
    },

    /// The file ends inside a count or a point of the verifying key.
    #[error("{file}, byte {offset}: truncated: {needed} bytes needed, {found} left")]
    Truncated {
        /// The file.
        file: KeyOrigin,
        /// Where the count or the point starts.
        offset: u64,
        /// Its size.
        needed: u64,
        /// Bytes from there to the end of the file.
        found: u64,
    },

    /// A count promises more points than the rest of the file can hold. The file was truncated, or the count
    /// was altered; no memory was allocated for it.
    #[error(
        "{file}, byte {offset}: the count of {part} is {count}, but only {available} bytes follow: \
         truncated file or forged count"
    )]
    ForgedCount {
        /// The file.
        file: KeyOrigin,
        /// Where the count is.
        offset: u64,
        /// What is counted.
        part: KeyPart,
        /// The count.
        count: u32,
        /// Bytes from behind the count to the end of the file.
        available: u64,
    },

    /// A point is refused.
    #[error("{file}, byte {offset}: point {index} of {part} is refused: {fault}")]
    InvalidPoint {
        /// The file.
        file: KeyOrigin,
        /// Where the point starts, in the file that is read or written.
        offset: u64,
        /// What it is part of.
        part: KeyPart,
        /// Its index there, from 0.
        index: u64,
        /// Why.
        fault: PointFault,
    },

    /// The file's size is no longer the one that it was opened with.
    #[error("{file}, byte {found}: the file changed while in use: it had {expected} bytes and has {found}")]
    Changed {
        /// The file.
        file: KeyOrigin,
        /// Its size when opened.
        expected: u64,
        /// Its size now, or the bytes that could be read.
        found: u64,
    },

    /// Bytes follow where the format has none.
    #[error("{file}, byte {offset}: {extra} bytes too many")]
    TrailingBytes {
        /// The file.
        file: KeyOrigin,
        /// Where they start.
        offset: u64,
        /// How many there are.
        extra: u64,
    },

    /// The points of a part do not fit into this machine's memory; mapping the file instead may do.
    #[error("{file}, byte {offset}: no memory for the {count} points of {part}")]
    OutOfMemory {
        /// The file.
        file: KeyOrigin,
        /// Where the points start.
        offset: u64,
        /// What they are.
        part: KeyPart,
        /// How many there are.
        count: u64,
    },

    /// The format counts with 32 bits.
    #[error("{part} has {count} points, a parameter file holds at most {}", u32::MAX)]
    TooLarge {
        /// The part to be written.
        part: KeyPart,
        /// Its points.
        count: u64,
    },

    /// Points were asked for that a query does not have.
    #[error("points {start}..{start}+{count} asked of a query of {len} points")]
    OutOfRange {
        /// The first point asked for.
        start: u64,
        /// How many were asked for.
        count: u64,
        /// How many there are.
        len: u64,
    },
}

/// Where in the file, unless it was at its beginning, which may not even be there.
fn at(offset: u64) -> String {
    if offset == 0 { String::new() } else { format!(", byte {offset}") }
}
