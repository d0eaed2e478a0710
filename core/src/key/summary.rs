//! What a parameter file holds, without reading its points.

use std::path::Path;

use super::ProvingKey;
use super::digest::ParameterDigest;
use super::error::KeyError;
use super::options::{CheckPolicy, ProgressFn, ReadOptions};

/// The sizes and the digest of a parameter file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParameterSummary {
    /// Points of ic: public inputs, the constant one included.
    pub ic: u64,
    /// Points of h.
    pub h: u64,
    /// Points of l: auxiliary variables.
    pub l: u64,
    /// Points of a.
    pub a: u64,
    /// Points of b in G1.
    pub b_g1: u64,
    /// Points of b in G2.
    pub b_g2: u64,
    /// Size of the evaluation domain, a power of two.
    pub domain_size: u64,
    /// Bytes of the file.
    pub file_bytes: u64,
    /// Those of them behind the key.
    pub trailing_bytes: u64,
    /// BLAKE2b-512 of the file.
    pub digest: ParameterDigest,
}

/// Looks at a parameter file: its structure, its verifying key (checked in full) and its digest. The points of
/// the queries are not decoded, and the file is mapped, so that memory does not grow with it; time does, by the
/// digest: about a second a gigabyte, of which `progress` is told.
///
/// # Errors
/// Those of [`ProvingKey::map`].
pub fn inspect(
    path: impl AsRef<Path>,
    progress: Option<ProgressFn<'_>>,
) -> Result<ParameterSummary, KeyError> {
    let options = ReadOptions { checks: CheckPolicy::Never, progress, ..ReadOptions::default() };
    let (key, digest) = ProvingKey::map_with_digest(path.as_ref(), &options)?;
    let counts = 5 * 4;
    Ok(ParameterSummary {
        ic: key.vk.ic.len() as u64,
        h: key.h.len() as u64,
        l: key.l.len() as u64,
        a: key.a.len() as u64,
        b_g1: key.b_g1.len() as u64,
        b_g2: key.b_g2.len() as u64,
        domain_size: key.domain_size(),
        file_bytes: key.vk.encoded_bytes() + counts + key.query_bytes() + key.trailing_bytes,
        trailing_bytes: key.trailing_bytes,
        digest,
    })
}
