//! Lists the sources. With the feature `host`, compiles them, and what carries them out, for the processor. With the
//! feature `embed`, lists what `cargo xtask kernels` has compiled: BELLWETHER_KERNELS_DIR says where that is.

use std::path::{Path, PathBuf};

#[path = "build/digest.rs"]
mod digest;

/// Files of `cuda/` that are compiled, without extension.
const MODULES: [&str; 6] = ["field", "scalar", "ntt", "entries", "points_g1", "points_g2"];

fn main() -> Result<(), String> {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=build");
    println!("cargo:rerun-if-changed=cuda");
    let out = PathBuf::from(std::env::var_os("OUT_DIR").ok_or("OUT_DIR is not set")?);
    let root = std::env::current_dir().map_err(|error| error.to_string())?;
    list_sources(&root, &out)?;
    embed(&root, &out)?;
    #[cfg(feature = "host")]
    host::build(&root, &out)?;
    Ok(())
}

/// Writes `sources.rs`: the text of each module and header under its name.
fn list_sources(root: &Path, out: &Path) -> Result<(), String> {
    let (mut headers, mut sources) = (String::new(), String::new());
    for path in digest::files(&root.join("cuda"))? {
        let stem = name(path.file_stem());
        let row = |name: &str| format!("    Header {{ name: {name:?}, text: include_str!({path:?}) }},\n");
        if path.extension().is_some_and(|extension| extension == "cuh") {
            headers.push_str(&row(&name(path.file_name())));
        } else if MODULES.contains(&stem.as_str()) {
            sources.push_str(&row(&stem));
        }
    }
    let text = format!(
        "/// All files that modules include.\npub const HEADERS: &[Header] = &[\n{headers}];\n\n\
         const SOURCES: &[Header] = &[\n{sources}];\n"
    );
    write_if_new(&out.join("sources.rs"), &text)
}

fn name(part: Option<&std::ffi::OsStr>) -> String {
    part.unwrap_or_default().to_string_lossy().into_owned()
}

/// Writes `images.rs`: the images of each module, none without the feature `embed`.
fn embed(root: &Path, out: &Path) -> Result<(), String> {
    println!("cargo:rerun-if-env-changed=BELLWETHER_KERNELS_DIR");
    let directories = if cfg!(feature = "embed") { compiled(root)? } else { Vec::new() };
    let mut text = String::new();
    if !directories.is_empty() {
        text.push_str("/// Drivers read code as structures of eight bytes.\n#[repr(align(16))]\nstruct Aligned<T>(T);\n\n");
    }
    text.push_str("const IMAGES: &[(&str, &[Image])] = &[\n");
    for module in MODULES.iter().filter(|_| !directories.is_empty()) {
        text.push_str(&format!("    ({module:?}, &[\n"));
        for directory in &directories {
            text.push_str(&image(directory, module)?);
        }
        text.push_str("    ]),\n");
    }
    text.push_str("];\n");
    write_if_new(&out.join("images.rs"), &text)
}

/// What `cargo xtask kernels` has left in BELLWETHER_KERNELS_DIR: a directory an architecture, each complete and of these
/// sources. Nothing, with a warning, if that is not set: whoever turns on all features to check the code need not compile
/// for cards.
fn compiled(root: &Path) -> Result<Vec<PathBuf>, String> {
    let remedy = "run `cargo xtask kernels` and set BELLWETHER_KERNELS_DIR to target/kernels";
    let Some(place) = std::env::var_os("BELLWETHER_KERNELS_DIR") else {
        println!("cargo:warning=no kernels are embedded, they are compiled at run time: {remedy}");
        return Ok(Vec::new());
    };
    // A relative path is one in the workspace.
    let place = std::path::absolute(root.join("..").join(place)).map_err(|error| error.to_string())?;
    println!("cargo:rerun-if-changed={}", place.display());
    let mut directories: Vec<PathBuf> = std::fs::read_dir(&place)
        .and_then(|entries| entries.map(|entry| entry.map(|entry| entry.path())).collect())
        .map_err(|error| format!("no kernels to embed: {}: {error}; {remedy}", place.display()))?;
    directories.retain(|directory| directory.is_dir());
    directories.sort();
    let digest = digest::digest(&root.join("cuda"))?;
    for directory in &directories {
        let of =
            std::fs::read_to_string(directory.join("digest")).unwrap_or_else(|_| "incomplete".to_owned());
        if of != digest {
            return Err(format!(
                "cannot embed {}: the sources are {digest}, the kernels {of}; {remedy}",
                directory.display()
            ));
        }
    }
    if directories.is_empty() {
        return Err(format!("no kernels to embed in {}; {remedy}", place.display()));
    }
    Ok(directories)
}

/// The row of a module for an architecture: sm_90 for code, compute_80 for text.
fn image(directory: &Path, module: &str) -> Result<String, String> {
    let architecture = name(directory.file_name());
    let (is_ptx, number) = match architecture.split_once('_') {
        Some(("sm", number)) => (false, number),
        Some(("compute", number)) => (true, number),
        _ => return Err(format!("{} is no architecture", directory.display())),
    };
    let path = directory.join(module).with_extension(if is_ptx { "ptx" } else { "cubin" });
    Ok(format!(
        "        Image {{ arch: {number}, is_ptx: {is_ptx}, bytes: &Aligned(*include_bytes!({path:?})).0 }},\n"
    ))
}

/// Leaves a file alone that has this text already: compilers go by its time.
fn write_if_new(path: &Path, text: &str) -> Result<(), String> {
    if std::fs::read_to_string(path).is_ok_and(|before| before == text) {
        return Ok(());
    }
    std::fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}

#[cfg(feature = "host")]
mod host {
    use std::path::{Path, PathBuf};
    use std::process::Command;
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::{MODULES, write_if_new};

    /// Kernels for the tests of `host/`.
    const TEST_MODULE: &str = "simt_test";

    /// Compiles each module as a unit of its own.
    pub(super) fn build(root: &Path, out: &Path) -> Result<(), String> {
        println!("cargo:rerun-if-changed=host");
        let modules: Vec<(&str, PathBuf)> = MODULES
            .iter()
            .map(|module| (*module, root.join("cuda").join(format!("{module}.cu"))))
            .chain([(TEST_MODULE, root.join("host").join("simt_test.cu"))])
            .collect();
        let list: String = modules.iter().map(|(module, _)| format!("MODULE({module}) ")).collect();
        write_if_new(&out.join("modules.h"), &format!("#define BELLWETHER_MODULES {list}\n"))?;

        let mut units = vec![root.join("host/simt.cpp"), root.join("host/fibre.cpp")];
        for (module, path) in &modules {
            units.push(out.join(format!("{module}.cpp")));
            write_if_new(&out.join(format!("{module}.cpp")), &wrapper(module, root, path))?;
        }
        let build = compiler(out);
        let objects = compile(&build, &units, out)?;
        build
            .clone()
            .objects(objects)
            .try_compile("bellwether_kernels_host")
            .map_err(|error| error.to_string())
    }

    /// Each module stands in a namespace of its own: functions of headers that mean something else in another module,
    /// such as those of G1 and G2, would be taken for the same by the linker.
    fn wrapper(module: &str, root: &Path, path: &Path) -> String {
        format!(
            "#include \"{}\"\nnamespace module_{module} {{\n#include \"{}\"\n}}\n",
            root.join("host/simt.hpp").display(),
            path.display()
        )
    }

    fn compiler(out: &Path) -> cc::Build {
        let mut build = cc::Build::new();
        build
            .cpp(true)
            .std("c++17")
            // In every profile: whole proofs run on this.
            .opt_level(2)
            .define("BELLWETHER_HOST", None)
            .include(out)
            .flag("-g1")
            .flag("-Wall")
            .flag("-Wextra")
            // `#pragma unroll` is nvcc's.
            .flag("-Wno-unknown-pragmas");
        sanitize(&mut build);
        build
    }

    /// BELLWETHER_KERNELS_SANITIZE=address,undefined
    fn sanitize(build: &mut cc::Build) {
        println!("cargo:rerun-if-env-changed=BELLWETHER_KERNELS_SANITIZE");
        let sanitizers = std::env::var("BELLWETHER_KERNELS_SANITIZE").unwrap_or_default();
        if sanitizers.is_empty() {
            return;
        }
        build.flag(format!("-fsanitize={sanitizers}")).flag("-fno-omit-frame-pointer");
        build.flag("-fno-sanitize-recover=undefined");
        for sanitizer in sanitizers.split(',') {
            let library = match sanitizer {
                "address" => "asan",
                "undefined" => "ubsan",
                other => other,
            };
            println!("cargo:rustc-link-lib=dylib={library}");
        }
    }

    /// Compiles the units whose object is missing or older than what it was made from, as many at a time as cargo allows.
    fn compile(build: &cc::Build, units: &[PathBuf], out: &Path) -> Result<Vec<PathBuf>, String> {
        let compiler = build.try_get_compiler().map_err(|error| error.to_string())?;
        let objects: Vec<PathBuf> = units
            .iter()
            .map(|unit| out.join(Path::new(unit.file_name().unwrap_or_default()).with_extension("o")))
            .collect();
        let jobs: usize = std::env::var("NUM_JOBS").ok().and_then(|jobs| jobs.parse().ok()).unwrap_or(1);
        let (next, failure) = (AtomicUsize::new(0), Mutex::new(None));
        // Other flags, other objects.
        let flags = format!("{:?} {:?}", compiler.path(), compiler.args());
        let same_flags = std::fs::read_to_string(out.join("flags")).is_ok_and(|before| before == flags);
        std::thread::scope(|scope| {
            for _ in 0..jobs.clamp(1, units.len()) {
                scope.spawn(|| {
                    while let Some(unit) = units.get(next.fetch_add(1, Ordering::Relaxed)) {
                        let object =
                            out.join(Path::new(unit.file_name().unwrap_or_default()).with_extension("o"));
                        if same_flags && is_current(&object) {
                            continue;
                        }
                        if let Err(error) = compile_unit(compiler.to_command(), unit, &object)
                            && let Ok(mut failure) = failure.lock()
                        {
                            *failure = Some(error);
                        }
                    }
                });
            }
        });
        match failure.into_inner() {
            Ok(None) => std::fs::write(out.join("flags"), flags).map_err(|error| error.to_string())?,
            Ok(Some(error)) => return Err(error),
            Err(error) => return Err(error.to_string()),
        }
        Ok(objects)
    }

    fn compile_unit(mut command: Command, unit: &Path, object: &Path) -> Result<(), String> {
        // What it includes is listed beside it.
        command.args(["-MMD", "-c", "-o"]).args([object, unit]);
        let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
        let log = String::from_utf8_lossy(&output.stderr);
        if !output.status.success() {
            let _ = std::fs::remove_file(object);
            return Err(format!("{command:?}: {}\n{log}", output.status));
        }
        for line in log.lines() {
            println!("cargo:warning={line}");
        }
        Ok(())
    }

    /// Whether an object is younger than all files of the rule that the compiler left beside it.
    fn is_current(object: &Path) -> bool {
        let time = |path: &Path| std::fs::metadata(path).and_then(|data| data.modified()).ok();
        let (Some(made), Ok(rule)) = (time(object), std::fs::read_to_string(object.with_extension("d")))
        else {
            return false;
        };
        let Some((_, files)) = rule.split_once(": ") else { return false };
        files
            .split_whitespace()
            .filter(|file| *file != "\\")
            .all(|file| time(Path::new(file)).is_some_and(|changed| changed < made))
    }
}
