//! Digests of parameter files: BLAKE2b-512 of the whole file, the one Zcash and Filecoin publish.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// BLAKE2b-512 (no key, no personalisation) of a whole parameter file, trailing bytes included.
///
/// Displayed and parsed as 128 hexadecimal digits, as `b2sum` prints it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ParameterDigest(pub [u8; 64]);

impl ParameterDigest {
    /// `sapling-spend.params` of Zcash's Sapling ceremony (47,958,396 bytes).
    pub const SAPLING_SPEND: Self = Self::literal(
        "8270785a1a0d0bc77196f000ee6d221c9c9894f55307bd9357c3f0105d31ca63\
         991ab91324160d8f53e2bbd3c2633a6eb8bdf5205d822e7f3f73edac51b2b70c",
    );

    /// `sapling-output.params` of Zcash's Sapling ceremony (3,592,860 bytes).
    pub const SAPLING_OUTPUT: Self = Self::literal(
        "657e3d38dbb5cb5e7dd2970e8b03d69b4787dd907285b5a7f0790dcc8072f60b\
         f593b32cc2d1c030e00ff5ae64bf84c5c3beb84ddc841d48264b4a171744d028",
    );

    /// Files whose points are known to lie in the subgroup: the two Sapling ceremony files.
    pub const TRUSTED: [Self; 2] = [Self::SAPLING_SPEND, Self::SAPLING_OUTPUT];

    /// The digest of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(*blake2b_simd::blake2b(bytes).as_array())
    }

    /// The first 32 hexadecimal digits: the form in Filecoin's `parameters.json`.
    pub fn short(&self) -> String {
        format!("{self:.32}")
    }

    /// For the constants above: a typing mistake in one of them fails the build.
    const fn literal(hex: &str) -> Self {
        let digest = match parse(hex.as_bytes()) {
            Ok(bytes) => Some(Self(bytes)),
            Err(_) => None,
        };
        digest.expect("128 hexadecimal digits")
    }
}

impl fmt::Display for ParameterDigest {
    /// A precision shortens, as it does with strings.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let hex: String = self
            .0
            .iter()
            .flat_map(|byte| [byte >> 4, byte & 15])
            .map(|digit| char::from(DIGITS[usize::from(digit)]))
            .collect();
        f.pad(&hex)
    }
}

impl fmt::Debug for ParameterDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ParameterDigest({self})")
    }
}

/// A text that is not a digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ParseDigestError {
    /// It has another length.
    #[error("a digest has 128 hexadecimal digits, this text has {found} bytes")]
    Length {
        /// Bytes of the text.
        found: usize,
    },
    /// It holds something else than hexadecimal digits.
    #[error("byte {at} of the digest is not a hexadecimal digit")]
    Digit {
        /// The first such byte, from 0.
        at: usize,
    },
}

impl FromStr for ParameterDigest {
    type Err = ParseDigestError;

    /// Takes 128 hexadecimal digits of either case.
    fn from_str(text: &str) -> Result<Self, ParseDigestError> {
        parse(text.as_bytes()).map(Self)
    }
}

const fn parse(hex: &[u8]) -> Result<[u8; 64], ParseDigestError> {
    if hex.len() != 128 {
        return Err(ParseDigestError::Length { found: hex.len() });
    }
    let mut bytes = [0; 64];
    let mut at = 0;
    while at < 128 {
        let digit = match hex[at] {
            digit @ b'0'..=b'9' => digit - b'0',
            digit @ b'a'..=b'f' => digit - b'a' + 10,
            digit @ b'A'..=b'F' => digit - b'A' + 10,
            _ => return Err(ParseDigestError::Digit { at }),
        };
        bytes[at / 2] = bytes[at / 2] << 4 | digit;
        at += 1;
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn displays_what_it_parses() {
        let digest = ParameterDigest::of(b"abc");
        // RFC 7693, appendix A.
        let expected = "ba80a53f981c4d0d6a2797b69f12f6e94c212f14685ac4b74b12bb6fdbffa2d1\
                        7d87c5392aab792dc252d5de4533cc9518d38aa8dbf1925ab92386edd4009923";
        assert_eq!(digest.to_string(), expected);
        assert_eq!(expected.parse(), Ok(digest));
        assert_eq!(expected.to_uppercase().parse(), Ok(digest));
        assert_eq!(digest.short(), "ba80a53f981c4d0d6a2797b69f12f6e9");
    }

    #[test]
    fn refuses_other_texts() {
        let parse = |text: &str| text.parse::<ParameterDigest>();
        assert_eq!(parse(""), Err(ParseDigestError::Length { found: 0 }));
        assert_eq!(parse(&"0".repeat(127)), Err(ParseDigestError::Length { found: 127 }));
        assert_eq!(parse(&"é".repeat(64)), Err(ParseDigestError::Digit { at: 0 }));
        assert_eq!(parse(&("0".repeat(127) + "g")), Err(ParseDigestError::Digit { at: 127 }));
    }
}
