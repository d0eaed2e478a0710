//! The compute shaders of the Bellwether prover.
//!
//! Each [`Program`] is a WGSL file in `wgsl/`, put together with the parts it names: field arithmetic, which a
//! generator writes for each [`Tier`] from the constants of `bellwether_core::field`, the coordinate field of the
//! group, point formulas. That is done, and validated by naga, when this crate is built; what is left at run time is a
//! table of texts. The crate knows no driver.
//!
//! # Conventions
//!
//! - Binding 0 is the uniform `params`, whose first member `first_group` is the number of the first workgroup of
//!   this dispatch: a long dispatch is cut into several, each a range of workgroups. Storage buffers are bindings 1, 2, …
//!   The rest of the parameters are the structs in [`params`].
//! - Vectors of scalars are packed: two `vec4<u32>` each, in Montgomery form with R = 2^256, below 2·r between
//!   passes and below r at rest. The arithmetic's own R, which depends on the tier, cancels out: every product with a
//!   constant takes the constant in device form.
//! - Resident points are packed in device form, the Montgomery form of the tier's R; infinity is all zeros.
//! - A sum of points is (X, Y, ZZ, ZZZ), x = X/ZZ and y = Y/ZZZ, packed in device form; infinity has ZZ = 0, all limbs.
//! - No invocation loops more than some thousand times: lavapipe ends it silently at 65,535.

mod table;

use bellwether_core::curve::Group;

pub use table::{Program, Tier};

/// Parameters of the programs, generated from the struct `Params` of each.
pub mod params {
    pub use super::Params;
    use super::Program;

    include!(concat!(env!("OUT_DIR"), "/params.rs"));
}

/// The parameters of one program.
pub trait Params {
    /// Which program.
    const PROGRAM: Program;

    /// Appends the parameters behind `first_group`.
    fn write(&self, words: &mut Vec<u32>);
}

/// What has to be known of a program to launch it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reflection {
    /// For each storage buffer, in order, whether the program writes to it.
    pub writes: &'static [bool],
    /// Invocations of a workgroup.
    pub workgroup_size: u32,
    /// Words of the parameters, `first_group` among them.
    pub params_words: u32,
}

include!(concat!(env!("OUT_DIR"), "/programs.rs"));

impl Program {
    /// What has to be known to launch it.
    pub fn reflection(self) -> Reflection {
        REFLECTIONS[self as usize]
    }

    /// Whether there is a program for each group.
    pub fn is_per_group(self) -> bool {
        source_index(self, Some(Group::G1), Tier::U64).is_some()
    }

    /// The whole text, with one entry point `main`; `None` if a group is given to a program that has none, or none
    /// to one that needs it.
    pub fn source(self, group: Option<Group>, tier: Tier) -> Option<&'static str> {
        source_index(self, group, tier).map(|index| SOURCES[index])
    }
}
