//! What a proof needs in memory, before it is begun.

/// The sizes that decide how much memory a proof needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProofSizes {
    /// Size of the evaluation domain.
    pub domain: usize,
    /// Variables of the circuit.
    pub variables: usize,
    /// Points of all queries in G1.
    pub g1_points: usize,
    /// Points of the query in G2.
    pub g2_points: usize,
    /// Entries of the matrices, all three together.
    pub matrix_entries: usize,
}

/// Bytes on the device for a resident key and one proof: the points, and beside them whichever is larger of the
/// transforms (three vectors and the twiddle factors) and the MSM over the largest query (scalars as integers
/// and sorted digits); the matrices and the compact witness throughout, counted as if no value were a bit.
///
/// # Examples
/// ```
/// use bellwether_core::plan::{ProofSizes, proof_memory};
///
/// let sapling_spend = ProofSizes { domain: 1 << 17, variables: 98_646, g1_points: 376_399, g2_points: 61_300,
///     matrix_entries: 0 };
/// assert!(proof_memory(&sapling_spend) < 100 << 20);
/// ```
pub fn proof_memory(sizes: &ProofSizes) -> u64 {
    const SCALAR: u64 = 32;
    let (domain, variables) = (sizes.domain as u64, sizes.variables as u64);
    let points = 96 * sizes.g1_points as u64 + 192 * sizes.g2_points as u64;
    let witness = variables * SCALAR + variables / 4;
    let transforms = 4 * domain * SCALAR;
    let msm = 2 * domain.max(variables) * SCALAR;
    let matrices = 8 * sizes.matrix_entries as u64;
    points + matrices + witness + transforms.max(msm)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A Filecoin 32 GiB PoRep partition: no intermediate result overflows, and the need is dominated by the
    /// 47 GB key.
    #[test]
    fn the_largest_known_circuit() {
        let sizes = ProofSizes {
            domain: 1 << 27,
            variables: 130_170_222,
            g1_points: (1 << 27) - 1 + 130_169_893 + 129_750_000 + 33_100_000,
            g2_points: 33_100_000,
            matrix_entries: 0,
        };
        let needed = proof_memory(&sizes);
        assert!((47_000_000_000..75_000_000_000).contains(&needed), "{needed}");
    }

    #[test]
    fn more_of_anything_needs_more() {
        let sizes = ProofSizes {
            domain: 1 << 20,
            variables: 1 << 20,
            g1_points: 1 << 22,
            g2_points: 1 << 20,
            matrix_entries: 1 << 22,
        };
        let needed = proof_memory(&sizes);
        for larger in [
            ProofSizes { domain: 1 << 21, ..sizes },
            ProofSizes { variables: 1 << 21, ..sizes },
            ProofSizes { g1_points: 1 << 23, ..sizes },
            ProofSizes { g2_points: 1 << 21, ..sizes },
            ProofSizes { matrix_entries: 1 << 23, ..sizes },
        ] {
            assert!(proof_memory(&larger) > needed, "{larger:?}");
        }
    }
}
