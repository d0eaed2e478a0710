//! Filecoin's proofs of spacetime for sectors of 2 KiB, whose circuits synthesise their sectors in parallel.

use blstrs::Scalar;
use filecoin_hashers::poseidon::PoseidonHasher;
use filecoin_hashers::{Domain, HashFunction, Hasher};
use generic_array::typenum::{U0, U8};
use rand::SeedableRng;
use rand::rngs::StdRng;
use storage_proofs_core::api_version::ApiVersion;
use storage_proofs_core::compound_proof::CompoundProof;
use storage_proofs_core::merkle::{LCTree, generate_tree};
use storage_proofs_core::proof::ProofScheme;
use storage_proofs_core::util::NODE_SIZE;
use storage_proofs_post::fallback::{
    FallbackPoSt, FallbackPoStCircuit, FallbackPoStCompound, PrivateInputs, PrivateSector, PublicInputs,
    PublicParams, PublicSector,
};

const SECTOR_BYTES: usize = 2048;

/// The tree of a 2 KiB sector: Poseidon, eight children a node.
pub type Tree = LCTree<PoseidonHasher, U8, U0, U0>;
type Node = <PoseidonHasher as Hasher>::Domain;

/// A proof of spacetime: the circuit with and without its witness.
pub struct PostInstance {
    /// The circuit without a witness.
    pub blank: FallbackPoStCircuit<Tree>,
    /// The circuit with its witness.
    pub circuit: FallbackPoStCircuit<Tree>,
    /// The public inputs as Filecoin's verifier computes them, the constant one left out.
    pub public_inputs: Vec<Scalar>,
}

/// WindowPoSt: two sectors, ten challenges each.
pub fn window(seed: u64) -> PostInstance {
    instance(seed, 2, 2, 10)
}

/// WinningPoSt: one sector, challenged 66 times, each time as a sector of its own.
pub fn winning(seed: u64) -> PostInstance {
    instance(seed, 1, 66, 1)
}

/// `sectors` places in the circuit, filled in turn from `distinct` sectors of random data.
fn instance(seed: u64, distinct: usize, sectors: usize, challenges: usize) -> PostInstance {
    let mut rng = StdRng::seed_from_u64(seed);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let trees: Vec<_> = (0..distinct)
        .map(|_| {
            let place = Some(folder.path().to_path_buf());
            generate_tree::<Tree, _>(&mut rng, SECTOR_BYTES / NODE_SIZE, place).1
        })
        .collect();
    let commitments: Vec<Node> = trees.iter().map(|_| Node::random(&mut rng)).collect();
    let (mut public, mut private) = (Vec::new(), Vec::new());
    for place in 0..sectors {
        let (tree, comm_c) = (&trees[place % distinct], commitments[place % distinct]);
        let comm_r_last = tree.root();
        private.push(PrivateSector { tree, comm_c, comm_r_last });
        public.push(PublicSector {
            id: ((place % distinct) as u64).into(),
            comm_r: <PoseidonHasher as Hasher>::Function::hash2(&comm_c, &comm_r_last),
        });
    }

    let params = PublicParams {
        sector_size: SECTOR_BYTES as u64,
        challenge_count: challenges,
        sector_count: sectors,
        api_version: ApiVersion::V1_2_0,
    };
    let inputs = PublicInputs {
        randomness: Node::random(&mut rng),
        prover_id: Node::random(&mut rng),
        sectors: public,
        k: None,
    };
    let vanilla = FallbackPoSt::<Tree>::prove(&params, &inputs, &PrivateInputs { sectors: &private })
        .expect("every challenged leaf has a path");
    PostInstance {
        blank: FallbackPoStCompound::<Tree>::blank_circuit(&params),
        circuit: FallbackPoStCompound::<Tree>::circuit(&inputs, Default::default(), &vanilla, &params, None)
            .expect("the proof has the parameters' sectors"),
        public_inputs: FallbackPoStCompound::<Tree>::generate_public_inputs(&inputs, &params, None)
            .expect("there is one partition"),
    }
}
