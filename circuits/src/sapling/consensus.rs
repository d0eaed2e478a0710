//! What a Zcash node does with a Sapling proof.

use std::io::{self, Read};

use bls12_381::Bls12;
use groth16::Proof;
use sapling_crypto::SaplingVerificationContext;
use sapling_crypto::circuit::{
    OutputParameters, PreparedOutputVerifyingKey, PreparedSpendVerifyingKey, SpendParameters,
};

use super::{OutputInstance, Parameters, SpendInstance};

/// Bytes of a proof: compressed points of G1, G2 and G1.
const PROOF_BYTES: usize = 192;

/// sapling-crypto's consensus checks, with the verifying keys of a pair of parameter files.
///
/// A check covers one description: the points are not of small order, the spend authorisation is signed with the
/// published key, and the proof holds for the published values. The balance of a whole transaction is not checked.
pub struct ConsensusRules {
    spend: PreparedSpendVerifyingKey,
    output: PreparedOutputVerifyingKey,
}

/// Consensus rules do not accept a proof.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The bytes are no proof.
    #[error("the bytes are no proof: {0}")]
    Encoding(#[source] io::Error),
    /// The proof does not hold for the published values, or these break a rule.
    #[error("consensus rules refuse the description")]
    Refused,
}

impl ConsensusRules {
    /// Reads the verifying keys at the beginning of the two parameter files. The rest is not looked at.
    ///
    /// # Errors
    /// Those of sapling-crypto's reader, for a file that does not begin with a verifying key.
    pub fn new(parameters: &Parameters) -> io::Result<Self> {
        let spend = SpendParameters::read(without_queries(&parameters.spend)?, true)?;
        let output = OutputParameters::read(without_queries(&parameters.output)?, true)?;
        Ok(ConsensusRules { spend: spend.prepared_verifying_key(), output: output.prepared_verifying_key() })
    }

    /// Checks a Spend description with this proof.
    ///
    /// # Errors
    /// [`Refusal`].
    pub fn check_spend(&self, spend: &SpendInstance, proof: &[u8]) -> Result<(), Refusal> {
        let accepted = SaplingVerificationContext::new().check_spend(
            &spend.cv,
            spend.anchor,
            &spend.nullifier.0,
            spend.rk,
            &spend.sighash,
            spend.signature,
            read_proof(proof)?,
            &self.spend,
        );
        accepted.then_some(()).ok_or(Refusal::Refused)
    }

    /// Checks an Output description with this proof.
    ///
    /// # Errors
    /// [`Refusal`].
    pub fn check_output(&self, output: &OutputInstance, proof: &[u8]) -> Result<(), Refusal> {
        let accepted = SaplingVerificationContext::new().check_output(
            &output.cv,
            output.cmu,
            output.epk,
            read_proof(proof)?,
            &self.output,
        );
        accepted.then_some(()).ok_or(Refusal::Refused)
    }
}

impl std::fmt::Debug for ConsensusRules {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ConsensusRules").finish_non_exhaustive()
    }
}

fn read_proof(bytes: &[u8]) -> Result<Proof<Bls12>, Refusal> {
    if bytes.len() != PROOF_BYTES {
        let message = format!("a proof has {PROOF_BYTES} bytes, not {}", bytes.len());
        return Err(Refusal::Encoding(io::Error::new(io::ErrorKind::InvalidData, message)));
    }
    Proof::read(bytes).map_err(Refusal::Encoding)
}

/// A parameter file with the same verifying key and no query. sapling-crypto reads verifying keys only from whole
/// files, and decoding the queries, which a verifier has no use for, would take seconds.
fn without_queries(file: &[u8]) -> io::Result<impl Read> {
    /// α, β, δ in G1 and β, γ, δ in G2, uncompressed.
    const BEFORE_IC: usize = 3 * 96 + 3 * 192;
    const NO_QUERIES: &[u8] = &[0; 5 * 4];
    let truncated = || io::Error::new(io::ErrorKind::UnexpectedEof, "the file ends in the verifying key");
    let (_, from_count) = file.split_at_checked(BEFORE_IC).ok_or_else(truncated)?;
    let (count, _) = from_count.split_first_chunk().ok_or_else(truncated)?;
    let count = u64::from(u32::from_be_bytes(*count));
    let key = usize::try_from(BEFORE_IC as u64 + 4 + count * 96).map_err(|_| truncated())?;
    let key = file.get(..key).ok_or_else(truncated)?;
    Ok(key.chain(NO_QUERIES))
}

#[cfg(test)]
mod tests {
    use super::super::{output, spend};
    use super::*;

    #[test]
    fn reads_the_keys_of_the_ceremony_and_refuses_what_is_no_proof() {
        let rules = ConsensusRules::new(&Parameters::ceremony()).unwrap();
        let (spend, output) = (spend(1), output(1));
        for len in [0, PROOF_BYTES - 1, PROOF_BYTES, PROOF_BYTES + 1] {
            let bytes = vec![0; len];
            assert!(matches!(rules.check_spend(&spend, &bytes), Err(Refusal::Encoding(_))));
            assert!(matches!(rules.check_output(&output, &bytes), Err(Refusal::Encoding(_))));
        }
    }

    #[test]
    fn refuses_a_proof_of_another_statement() {
        use bls12_381::{G1Affine, G2Affine};
        let rules = ConsensusRules::new(&Parameters::ceremony()).unwrap();
        let generators =
            Proof::<Bls12> { a: G1Affine::generator(), b: G2Affine::generator(), c: G1Affine::generator() };
        let mut bytes = vec![];
        generators.write(&mut bytes).unwrap();
        assert!(matches!(rules.check_spend(&spend(2), &bytes), Err(Refusal::Refused)));
        assert!(matches!(rules.check_output(&output(2), &bytes), Err(Refusal::Refused)));
    }

    #[test]
    fn files_that_end_early_are_errors() {
        let Parameters { spend, output } = Parameters::ceremony();
        for len in [0, 863, 867, 1000] {
            let parameters = Parameters { spend: spend[..len].to_vec(), output: output.clone() };
            assert!(ConsensusRules::new(&parameters).is_err(), "{len} bytes");
        }
        let parameters = Parameters { output: output[..900].to_vec(), spend };
        assert!(ConsensusRules::new(&parameters).is_err());
    }
}
