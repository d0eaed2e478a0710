//! Compiles the CUDA kernels ahead of time and reports what each takes of a multiprocessor.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::time::Instant;

use crate::run::{command, root};

#[path = "../../kernels/build/digest.rs"]
mod digest;

/// Everything a release embeds: code for each architecture, and text for those to come.
pub(crate) const ARCHITECTURES: &str = "sm_80,sm_86,sm_89,sm_90,sm_100,sm_120,compute_80";

/// Elements of Fp2 have 24 words, and a sum of four, with what an addition needs beside it, exceeds 255 registers.
const FP2: &str = "sums over Fp2 exceed the registers of a thread";

/// Kernels that may spill registers to memory, with the reason. The others are hot.
const SPILLS: &[(&str, &str)] = &[
    ("accumulate_entries_g1", "16 bytes on sm_90, where the prototype, which was measured, spilled 96"),
    ("combine_partials_g1", "a small share of the additions"),
    ("fold_lists_g1", "a small share of the additions"),
    ("weigh_chunks_g1", "a small share of the additions"),
    ("accumulate_entries_g2", FP2),
    ("accumulate_points_g2", FP2),
    ("add_pairs_g2", FP2),
    ("combine_last_g2", FP2),
    ("combine_partials_g2", FP2),
    ("double_points_g2", FP2),
    ("fold_last_g2", FP2),
    ("fold_lists_g2", FP2),
    ("weigh_chunks_g2", FP2),
    ("check_additions_g1", "only tests run it"),
    ("check_additions_g2", "only tests run it"),
    ("fixed_base_multiply_g1", "only set-up runs it"),
    ("fixed_base_multiply_g2", "only set-up runs it"),
    ("fixed_base_table_g1", "a launch a base, in set-up"),
    ("fixed_base_table_g2", "a launch a base, in set-up"),
];

/// What `pip` installs where no nvcc is: the compiler and the headers that it wants, not the toolkit.
const PACKAGES: [&str; 5] = [
    "nvidia-cuda-nvcc==13.0.*",
    "nvidia-cuda-crt==13.0.*",
    "nvidia-nvvm==13.0.*",
    "nvidia-cuda-runtime==13.0.*",
    "nvidia-cuda-cccl==13.0.*",
];

/// Compilations at a time; each wants about a gigabyte of memory.
const JOBS: usize = 2;

/// What ptxas says of one kernel.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
struct Usage {
    registers: u32,
    spilled_bytes: u32,
    shared_bytes: u32,
}

/// Kernels of an architecture by name.
type Usages = BTreeMap<String, Usage>;

/// Compiles the modules, all if none is named, for each architecture into `target/kernels/ARCHITECTURE/` and prints a
/// table. Fails if one does not compile or a kernel spills.
pub(crate) fn build(architectures: &str, modules: Option<&str>) -> Result<(), String> {
    let architectures: Vec<&str> = architectures.split(',').collect();
    for architecture in &architectures {
        if !architecture.starts_with("sm_") && !architecture.starts_with("compute_") {
            return Err(format!(
                "{architecture} is no architecture: sm_90 is code, compute_80 is text (PTX)"
            ));
        }
    }
    let sources = root().join("kernels/cuda");
    let digest = digest::digest(&sources)?;
    let files: Vec<PathBuf> = digest::files(&sources)?
        .into_iter()
        .filter(|path| path.extension().is_some_and(|extension| extension == "cu"))
        .filter(|path| modules.is_none_or(|modules| modules.split(',').any(|module| stem(path) == module)))
        .collect();
    if files.is_empty() {
        return Err("no module is of that name".to_owned());
    }
    let nvcc = find_nvcc()?;
    println!("{}, {} modules", nvcc.display(), files.len());

    let mut jobs = Vec::new();
    for architecture in &architectures {
        let directory = output().join(architecture);
        std::fs::create_dir_all(&directory).map_err(|error| format!("{}: {error}", directory.display()))?;
        // It is complete once the digest is there.
        let _ = std::fs::remove_file(directory.join("digest"));
        jobs.extend(files.iter().map(|file| (*architecture, file.as_path())));
    }
    let usages = compile_all(&nvcc, &jobs)?;
    if digest::digest(&sources)? != digest {
        return Err("the sources were changed while they were compiled".to_owned());
    }
    if modules.is_none() {
        for architecture in &architectures {
            let path = output().join(architecture).join("digest");
            std::fs::write(&path, &digest).map_err(|error| format!("{}: {error}", path.display()))?;
        }
    }
    print_table(&usages);
    check_spills(&usages)
}

fn output() -> PathBuf {
    root().join("target/kernels")
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// Runs the compilations, some at a time; the first failure is returned when those that run have ended.
fn compile_all(nvcc: &Path, jobs: &[(&str, &Path)]) -> Result<BTreeMap<String, Usages>, String> {
    let queue = Mutex::new(jobs.iter());
    let done = Mutex::new(Ok(BTreeMap::<String, Usages>::new()));
    let lock_failed = "a compilation panicked";
    // The lock is released before the compilation begins.
    let next = || queue.lock().expect(lock_failed).next();
    std::thread::scope(|scope| {
        for _ in 0..JOBS {
            scope.spawn(|| {
                while let Some((architecture, file)) = next() {
                    let outcome = compile(nvcc, architecture, file);
                    let mut done = done.lock().expect(lock_failed);
                    match (outcome, &mut *done) {
                        (Ok(usages), Ok(all)) => {
                            all.entry((*architecture).to_owned()).or_default().extend(usages);
                        }
                        (Err(error), Ok(_)) => *done = Err(error),
                        (_, Err(_)) => return,
                    }
                }
            });
        }
    });
    done.into_inner().expect(lock_failed)
}

fn compile(nvcc: &Path, architecture: &str, file: &Path) -> Result<Usages, String> {
    let is_ptx = architecture.starts_with("compute_");
    let (kind, extension) = if is_ptx { ("-ptx", "ptx") } else { ("-cubin", "cubin") };
    let to = output().join(architecture).join(stem(file)).with_extension(extension);
    let start = Instant::now();
    let done = Command::new(nvcc)
        .args(["-std=c++17", "-O3", "-Xptxas", "-v", kind, "-arch", architecture, "-o"])
        .args([&to, file])
        .output()
        .map_err(|error| format!("{}: {error}", nvcc.display()))?;
    let log = String::from_utf8_lossy(&done.stderr);
    if !done.status.success() {
        return Err(format!("{} for {architecture}: {}\n{log}", file.display(), done.status));
    }
    println!("{architecture:<12} {:<12} {:>6.1} s", stem(file), start.elapsed().as_secs_f64());
    for line in log.lines().filter(|line| line.contains("warning")) {
        println!("{line}");
    }
    Ok(parse(&log))
}

/// Reads the report of `-Xptxas -v`. What functions that a kernel calls spill counts as the kernel's.
fn parse(log: &str) -> Usages {
    let mut usages = Usages::new();
    let mut kernel = String::new();
    for line in log.lines() {
        if let Some((_, rest)) = line.split_once("Compiling entry function '") {
            kernel = rest.split('\'').next().unwrap_or_default().to_owned();
        }
        let number = |what: &str| number_before(line, what);
        if line.contains("bytes spill stores") {
            let usage = usages.entry(kernel.clone()).or_default();
            usage.spilled_bytes += number(" bytes spill stores") + number(" bytes spill loads");
        } else if line.contains(" registers") {
            let usage = usages.entry(kernel.clone()).or_default();
            usage.registers = number(" registers");
            usage.shared_bytes = number(" bytes smem");
        }
    }
    usages
}

/// The number that stands before `what` in a line; 0 if there is none.
fn number_before(line: &str, what: &str) -> u32 {
    let Some((before, _)) = line.split_once(what) else { return 0 };
    before.rsplit([' ', ',']).next().and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// A row a kernel, a column an architecture: registers, and what is spilled and shared.
fn print_table(usages: &BTreeMap<String, Usages>) {
    let compiled: Vec<_> = usages.iter().filter(|(_, usages)| !usages.is_empty()).collect();
    let mut kernels: Vec<&String> = compiled.iter().flat_map(|(_, usages)| usages.keys()).collect();
    kernels.sort();
    kernels.dedup();
    println!("\nregisters a thread (! bytes spilled), last the bytes of shared arrays");
    print!("{:<32}", "kernel");
    compiled.iter().for_each(|(architecture, _)| print!(" {architecture:>10}"));
    println!(" {:>8}", "shared");
    for kernel in kernels {
        print!("{kernel:<32}");
        let mut shared = 0;
        for (_, usages) in &compiled {
            let usage = usages.get(kernel).copied().unwrap_or_default();
            shared = shared.max(usage.shared_bytes);
            let spill =
                if usage.spilled_bytes == 0 { String::new() } else { format!("!{}", usage.spilled_bytes) };
            print!(" {:>10}", format!("{}{spill}", usage.registers));
        }
        println!(" {shared:>8}");
    }
}

fn check_spills(usages: &BTreeMap<String, Usages>) -> Result<(), String> {
    let mut faults = Vec::new();
    for (architecture, usages) in usages {
        for (kernel, usage) in usages.iter().filter(|(_, usage)| usage.spilled_bytes > 0) {
            match SPILLS.iter().find(|(name, _)| name == kernel) {
                Some((_, reason)) => println!("{kernel} may spill: {reason}"),
                None => {
                    faults.push(format!("{kernel} spills {} bytes on {architecture}", usage.spilled_bytes))
                }
            }
        }
    }
    if faults.is_empty() { Ok(()) } else { Err(faults.join("\n")) }
}

/// nvcc of the system, or of an environment under `target/`, which is made if need be.
fn find_nvcc() -> Result<PathBuf, String> {
    let in_path = std::env::var_os("PATH").unwrap_or_default();
    let candidates = std::env::split_paths(&in_path).map(|directory| directory.join("nvcc"));
    let home = std::env::var_os("CUDA_HOME").map(|home| PathBuf::from(home).join("bin/nvcc"));
    if let Some(nvcc) = home.into_iter().chain(candidates).find(|path| path.is_file()) {
        return Ok(nvcc);
    }
    let environment = root().join("target/nvcc");
    if let Some(nvcc) = nvcc_in(&environment) {
        return Ok(nvcc);
    }
    println!("no nvcc in CUDA_HOME or PATH: installing one in {}", environment.display());
    let directory = environment.to_string_lossy().into_owned();
    command("python3".to_owned(), &["-m", "venv", &directory], &[])?;
    let pip = environment.join("bin/pip").to_string_lossy().into_owned();
    command(pip, &[&["install", "--quiet", "--disable-pip-version-check"][..], &PACKAGES[..]].concat(), &[])?;
    nvcc_in(&environment).ok_or_else(|| format!("pip has installed no nvcc in {directory}"))
}

/// Where the packages of NVIDIA put it: lib/python3.N/site-packages/nvidia/cu13/bin/nvcc.
fn nvcc_in(environment: &Path) -> Option<PathBuf> {
    std::fs::read_dir(environment.join("lib"))
        .ok()?
        .filter_map(Result::ok)
        .map(|python| python.path().join("site-packages/nvidia/cu13/bin/nvcc"))
        .find(|path| path.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_are_read() {
        let log = "\
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'ntt_rows' for 'sm_90'
ptxas info    : Function properties for ntt_rows
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 124 registers, used 1 barriers, 16384 bytes smem, 400 bytes cmem[0]
ptxas info    : Compiling entry function 'sum_g2' for 'sm_90'
ptxas info    : Function properties for _Z3mulv
    16 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads
ptxas info    : Function properties for sum_g2
    96 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 255 registers, used 0 barriers";
        let usages = parse(log);
        let rows = Usage { registers: 124, shared_bytes: 16384, ..Usage::default() };
        let sum = Usage { registers: 255, spilled_bytes: 20, shared_bytes: 0 };
        assert_eq!(usages, Usages::from([("ntt_rows".to_owned(), rows), ("sum_g2".to_owned(), sum)]));
    }
}
