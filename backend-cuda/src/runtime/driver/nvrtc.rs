//! The driver's runtime compiler: a library that is loaded when sources have to be compiled.

use std::ffi::{CString, c_char, c_int, c_void};
use std::path::PathBuf;

use bellwether_core::device::DeviceError;
use bellwether_kernels::{HEADERS, Module};
use libloading::Library;

use super::cards::Architecture;

/// Versions of the library, the newest first.
const VERSIONS: [u32; 2] = [13, 12];

/// Names of the library, with the places in which it may stand besides those that the system looks in.
fn candidates() -> Vec<PathBuf> {
    let mut names: Vec<PathBuf> = Vec::new();
    for version in VERSIONS {
        names.push(match cfg!(windows) {
            true => format!("nvrtc64_{version}0_0.dll").into(),
            false => format!("libnvrtc.so.{version}").into(),
        });
    }
    if !cfg!(windows) {
        names.push("libnvrtc.so".into());
        let roots = ["CUDA_PATH", "CUDA_HOME"].iter().filter_map(std::env::var_os).map(PathBuf::from);
        for root in roots.chain([PathBuf::from("/usr/local/cuda")]).filter(|root| root.is_absolute()) {
            names.extend(["lib64/libnvrtc.so", "lib/libnvrtc.so"].map(|name| root.join(name)));
        }
    }
    names
}

/// A program that is being compiled.
type Program = *mut c_void;

macro_rules! functions {
    ($($name:ident = $symbol:literal ($($argument:ty),*);)*) => {
        /// The compiler's functions.
        struct Functions {
            $($name: unsafe extern "C" fn($($argument),*) -> c_int,)*
        }

        impl Functions {
            /// Looks all of them up.
            ///
            /// # Safety
            /// The library is the compiler's, and outlives what is returned.
            unsafe fn look_up(library: &Library) -> Result<Functions, libloading::Error> {
                Ok(Functions {
                    // SAFETY: the types are those of nvrtc.h.
                    $($name: *unsafe { library.get(concat!($symbol, "\0").as_bytes()) }?,)*
                })
            }
        }
    };
}

functions! {
    version = "nvrtcVersion"(*mut c_int, *mut c_int);
    architecture_count = "nvrtcGetNumSupportedArchs"(*mut c_int);
    architectures = "nvrtcGetSupportedArchs"(*mut c_int);
    create = "nvrtcCreateProgram"(
        *mut Program, *const c_char, *const c_char, c_int, *const *const c_char, *const *const c_char
    );
    destroy = "nvrtcDestroyProgram"(*mut Program);
    compile = "nvrtcCompileProgram"(Program, c_int, *const *const c_char);
    cubin_size = "nvrtcGetCUBINSize"(Program, *mut usize);
    cubin = "nvrtcGetCUBIN"(Program, *mut c_char);
    ptx_size = "nvrtcGetPTXSize"(Program, *mut usize);
    ptx = "nvrtcGetPTX"(Program, *mut c_char);
    log_size = "nvrtcGetProgramLogSize"(Program, *mut usize);
    log = "nvrtcGetProgramLog"(Program, *mut c_char);
}

/// The compiler. Several threads may compile at once.
pub(crate) struct Compiler {
    functions: Functions,
    /// What it can compile for.
    architectures: Vec<Architecture>,
    version: (c_int, c_int),
    /// Behind the functions, which are of it.
    _library: Library,
}

impl std::fmt::Debug for Compiler {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Compiler({})", self.version())
    }
}

/// What to compile for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    architecture: Architecture,
    /// Whether the driver has to finish: the compiler does not know the architecture.
    is_portable: bool,
}

impl Target {
    /// As the compiler's option names it.
    pub(crate) fn name(self) -> String {
        let kind = if self.is_portable { "compute" } else { "sm" };
        format!("{kind}_{}", self.architecture.number())
    }
}

impl Compiler {
    /// Loads the compiler.
    ///
    /// # Errors
    /// [`DeviceError::Unsupported`] if it is not there.
    pub(crate) fn load() -> Result<Compiler, DeviceError> {
        // SAFETY: what the library does when it is loaded is the vendor's.
        let library = candidates().iter().find_map(|name| unsafe { Library::new(name) }.ok());
        let library = library.ok_or_else(|| DeviceError::Unsupported {
            what: "compiling kernels at run time".into(),
            why: "the library NVRTC of CUDA 12 or 13 is not there; CUDA's toolkit has it, and kernels that are built into \
                  the program do not need it"
                .into(),
        })?;
        // SAFETY: it is the compiler's and is kept beside the functions.
        let functions = unsafe { Functions::look_up(&library) }
            .map_err(|error| failed("looking up", &error.to_string()))?;
        let mut version = (0, 0);
        // SAFETY: it takes pointers to two numbers.
        check("version", unsafe { (functions.version)(&mut version.0, &mut version.1) })?;
        let mut count = 0;
        // SAFETY: it takes a pointer to a number.
        check("architectures", unsafe { (functions.architecture_count)(&mut count) })?;
        let mut numbers = vec![0; usize::try_from(count).unwrap_or(0)];
        // SAFETY: it writes as many numbers as it has just said.
        check("architectures", unsafe { (functions.architectures)(numbers.as_mut_ptr()) })?;
        let architectures = numbers
            .into_iter()
            .filter_map(|number| u32::try_from(number).ok())
            .map(Architecture::of_number)
            .collect();
        Ok(Compiler { functions, architectures, version, _library: library })
    }

    pub(crate) fn version(&self) -> String {
        format!("NVRTC {}.{}", self.version.0, self.version.1)
    }

    /// What to compile for a card: its architecture, or the latest that is known before it.
    ///
    /// # Errors
    /// [`DeviceError::Unsupported`] if the compiler knows only later ones.
    pub(crate) fn target(&self, card: Architecture) -> Result<Target, DeviceError> {
        target(&self.architectures, card).ok_or_else(|| DeviceError::Unsupported {
            what: format!("compute capability {card}"),
            why: format!("{} does not compile for it", self.version()),
        })
    }

    /// The options of a compilation.
    pub(crate) fn options(target: Target) -> [String; 3] {
        [format!("--gpu-architecture={}", target.name()), "--std=c++17".into(), "--restrict".into()]
    }

    /// Compiles a module: an image, or the text that the driver makes one of.
    ///
    /// # Errors
    /// [`DeviceError::Compile`].
    pub(crate) fn compile(&self, module: Module, target: Target) -> Result<Vec<u8>, DeviceError> {
        let [source, name] = [module.source(), &format!("{}.cu", module.name())].map(CString::new);
        let headers: Result<Vec<CString>, _> =
            HEADERS.iter().map(|header| CString::new(header.text)).collect();
        let names: Result<Vec<CString>, _> = HEADERS.iter().map(|header| CString::new(header.name)).collect();
        let options: Result<Vec<CString>, _> = Self::options(target).into_iter().map(CString::new).collect();
        let (Ok(source), Ok(name), Ok(headers), Ok(names), Ok(options)) =
            (source, name, headers, names, options)
        else {
            return Err(failed(module.name(), "a zero in the sources"));
        };
        let [headers, names, options] = [&headers, &names, &options]
            .map(|texts| texts.iter().map(|text| text.as_ptr()).collect::<Vec<_>>());
        let mut program = Running { functions: &self.functions, raw: std::ptr::null_mut() };
        // SAFETY: it takes a pointer to a handle, texts that end with zeros, and as many headers as names; it copies them.
        let created = unsafe {
            (self.functions.create)(
                &mut program.raw,
                source.as_ptr(),
                name.as_ptr(),
                headers.len() as c_int,
                headers.as_ptr(),
                names.as_ptr(),
            )
        };
        check(module.name(), created)?;
        // SAFETY: the program is alive, and there are so many options.
        let outcome =
            unsafe { (self.functions.compile)(program.raw, options.len() as c_int, options.as_ptr()) };
        if outcome != 0 {
            // SAFETY: the functions are those that `bytes` wants.
            let log = unsafe { program.bytes(self.functions.log_size, self.functions.log) };
            let log = log.unwrap_or_else(|error| error.to_string().into_bytes());
            return Err(failed(module.name(), String::from_utf8_lossy(&log).trim_matches(['\0', '\n', ' '])));
        }
        let (size, image) = match target.is_portable {
            true => (self.functions.ptx_size, self.functions.ptx),
            false => (self.functions.cubin_size, self.functions.cubin),
        };
        // SAFETY: as above.
        unsafe { program.bytes(size, image) }
    }
}

/// Exactly this one, or the latest before it.
fn target(known: &[Architecture], card: Architecture) -> Option<Target> {
    let architecture = known.iter().copied().filter(|known| *known <= card).max()?;
    Some(Target { architecture, is_portable: architecture != card })
}

/// A program that is destroyed when it is dropped.
struct Running<'a> {
    functions: &'a Functions,
    raw: Program,
}

impl Running<'_> {
    /// What a pair of functions tells of the program.
    ///
    /// # Safety
    /// The first gives the size of what the second writes.
    unsafe fn bytes(
        &self,
        size: unsafe extern "C" fn(Program, *mut usize) -> c_int,
        get: unsafe extern "C" fn(Program, *mut c_char) -> c_int,
    ) -> Result<Vec<u8>, DeviceError> {
        let mut len = 0;
        // SAFETY: it takes a pointer to a size; the program is alive.
        check("size", unsafe { size(self.raw, &mut len) })?;
        let mut bytes = vec![0u8; len];
        // SAFETY: it writes so many bytes.
        check("image", unsafe { get(self.raw, bytes.as_mut_ptr().cast()) })?;
        Ok(bytes)
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        if !self.raw.is_null() {
            // SAFETY: it was created and is destroyed once.
            unsafe { (self.functions.destroy)(&mut self.raw) };
        }
    }
}

fn check(what: &str, outcome: c_int) -> Result<(), DeviceError> {
    match outcome {
        0 => Ok(()),
        code => Err(failed(what, &format!("NVRTC's error {code}"))),
    }
}

fn failed(kernel: &str, log: &str) -> DeviceError {
    DeviceError::Compile { kernel: kernel.to_owned(), log: log.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets() {
        let known: Vec<Architecture> = [75, 80, 86, 90, 100].map(Architecture::of_number).into();
        let name = |card| target(&known, Architecture::of_number(card)).map(Target::name);
        for (card, expected) in [
            (80, Some("sm_80")),
            (89, Some("compute_86")),
            (90, Some("sm_90")),
            (120, Some("compute_100")),
            (70, None),
        ] {
            assert_eq!(name(card).as_deref(), expected, "{card}");
        }
    }

    /// No card is needed. Where the compiler is not, as in CI, that is what is said. The modules of points take minutes.
    #[test]
    fn modules_compile_where_the_compiler_is() {
        let compiler = match Compiler::load() {
            Ok(compiler) => compiler,
            Err(DeviceError::Unsupported { why, .. }) => return assert!(why.contains("NVRTC"), "{why}"),
            Err(error) => panic!("{error}"),
        };
        let target = compiler.target(Architecture::of_number(90)).unwrap();
        assert!(compiler.compile(Module::Scalar, target).unwrap().starts_with(b"\x7fELF"));
        let portable = Target { architecture: Architecture::of_number(90), is_portable: true };
        let text = compiler.compile(Module::Scalar, portable).unwrap();
        assert!(text.ends_with(b"\0") && String::from_utf8_lossy(&text).contains(".target sm_90"));
    }
}
