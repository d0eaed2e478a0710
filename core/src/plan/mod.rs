//! Decisions made from sizes and device information alone.
//!
//! Everything here is a pure function over integers, so that plans for sizes and devices nobody has at hand can
//! be tested. Tuning numbers stand here, each beside the measurement that chose it.

mod cpu;
mod gpu;
mod memory;

pub use cpu::{CPU_MSM_MIN, CpuMsmPlan, cpu_msm, fixed_base_window, windows};
pub use gpu::{
    BasesLimits, BasesPlan, GpuMsmWork, gpu_bases, gpu_batch_add_run, gpu_msm_work, gpu_proof_memory,
};
pub use memory::{ProofSizes, proof_memory};
