//! Groth16 over BLS12-381: everything that needs no GPU API.
//!
//! This crate holds the fields and curves, rank-1 constraint systems, keys, plans, the [`Device`](device::Device)
//! trait, the proving schedule and the CPU device. Backends implement the trait; the crate `bellwether` picks a
//! device at run time. Users who only want proofs start there.
//!
//! # Contract
//!
//! - **Who validates.** Files and bytes are checked where they enter ([`key`], [`groth16::Proof::from_bytes`],
//!   [`curve::unpack_points`]); lengths, indices and the agreement of key and circuit are checked when a
//!   [`Session`](groth16::Session) is opened and when it takes an assignment. Behind that line, backends rely on
//!   what the methods of [`Device`](device::Device) state.
//! - **No proof leaves unverified.** [`Session::prove`](groth16::Session::prove) verifies every proof before it
//!   returns it.
//! - **Panics.** Not on input, not on a device fault. The one exception is the contract of
//!   [`Device`](device::Device), whose callers must respect the stated lengths.
//! - **Secrets.** Witness values, blinding scalars and trapdoors are cleared when dropped
//!   ([`secret`]); `Debug` shows none of them. Arithmetic on the CPU is not constant-time: a prover's time can
//!   depend on its witness.
//! - **Unsafe.** Denied but in one module, `fenced`, which reinterprets slices of field elements and points as
//!   words and maps files.
//! - **State.** None is global. Nothing is printed; phases and choices are `tracing` spans and events.
//!
//! # Where things are
//!
//! | module | holds |
//! |---|---|
//! | [`field`] | moduli, constants for any limb width, reference limb arithmetic |
//! | [`curve`] | the two groups, packed form |
//! | [`domain`] | evaluation domains, root conventions, coset shift |
//! | [`r1cs`] | sparse matrices, compact witness, the three constraint systems |
//! | [`key`] | parameter files, proving and verifying keys, digests |
//! | [`plan`] | decisions from sizes and device information |
//! | [`device`] | the `Device` trait, the CPU device, `Dual`, the self-test |
//! | [`groth16`] | schedule, session, set-up, verification, proof |
//! | [`driver`] | finding devices at run time |
//! | [`secret`] | buffers that are cleared |

#![deny(unsafe_code)]

pub mod curve;
pub mod device;
pub mod domain;
pub mod driver;
mod fenced;
pub mod field;
pub mod groth16;
pub mod key;
pub mod plan;
pub mod r1cs;
pub mod secret;
