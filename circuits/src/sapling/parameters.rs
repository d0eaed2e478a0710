//! The parameter files of Zcash's Sapling ceremony.

/// The bytes of the two parameter files, as Zcash's nodes download them.
pub struct Parameters {
    /// `sapling-spend.params`: 47,958,396 bytes.
    pub spend: Vec<u8>,
    /// `sapling-output.params`: 3,592,860 bytes.
    pub output: Vec<u8>,
}

impl Parameters {
    /// The files of the ceremony, copied out of the program, which they are part of.
    pub fn ceremony() -> Self {
        let (spend, output) = wagyu_zcash_parameters::load_sapling_parameters();
        Parameters { spend, output }
    }
}

impl std::fmt::Debug for Parameters {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Parameters")
            .field("spend_bytes", &self.spend.len())
            .field("output_bytes", &self.output.len())
            .finish()
    }
}
