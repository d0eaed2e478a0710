//! Kernels on a card: images of modules, and the functions in them.

use std::collections::HashMap;
use std::ffi::{CString, c_char, c_void};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use bellwether_core::curve::Group;
use bellwether_core::device::DeviceError;
use bellwether_kernels::{HEADERS, Image, Module, embedded};
use cudarc::driver::sys::{CUfunction, CUfunction_attribute, CUjit_option, CUmodule};
use rayon::prelude::*;

use super::cards::{Architecture, Card};
use super::context::Context;
use super::nvrtc::Compiler;
use crate::gpu::lock;
use crate::options::KernelCachePlace;
use crate::runtime::Launch;
use crate::runtime::cache::{CacheFile, digest};

/// Dynamic shared memory of a block that needs no word beforehand.
const SHARED_WITHOUT_A_WORD: usize = 48 << 10;

/// What proofs use; the chains of field operations are for tests.
const WARM: [Module; 5] =
    [Module::Scalar, Module::Ntt, Module::Entries, Module::Points(Group::G1), Module::Points(Group::G2)];

/// Where to take images from.
#[derive(Clone, Debug)]
pub(crate) enum Images {
    /// Those that are built into the program; else from the runtime compiler, by way of a cache.
    Real(KernelCachePlace),
    /// The double of the driver looks at none.
    #[cfg(any(test, feature = "host"))]
    Double,
}

/// Where the kernels of a module are from; later ones take longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Origin {
    /// Built into the program.
    Embedded,
    /// Built into the program as text, which the driver compiles.
    Text,
    /// Compiled at run time, by an earlier run.
    Cached,
    /// Compiled at run time, now.
    Compiled,
}

/// The kernels of one card.
#[derive(Debug)]
pub(crate) struct Programs {
    context: Arc<Context>,
    architecture: Architecture,
    shared_bytes: usize,
    images: Images,
    compiler: OnceLock<Result<Compiler, DeviceError>>,
    modules: Mutex<HashMap<Module, Loaded>>,
    functions: Mutex<HashMap<(Module, &'static str), Arc<Function>>>,
    /// What to tell of where kernels are from.
    origin: OnceLock<String>,
}

/// A module in the context, until it is dropped.
#[derive(Debug)]
struct Loaded {
    context: Arc<Context>,
    raw: CUmodule,
}

// SAFETY: as for `Context`.
unsafe impl Send for Loaded {}
// SAFETY: as for `Context`.
unsafe impl Sync for Loaded {}

/// An entry point, as long as its module is loaded.
#[derive(Debug)]
pub(crate) struct Function {
    pub(crate) raw: CUfunction,
    /// Bytes of dynamic shared memory that a launch may ask for.
    shared_bytes: AtomicUsize,
}

// SAFETY: as for `Context`.
unsafe impl Send for Function {}
// SAFETY: as for `Context`.
unsafe impl Sync for Function {}

impl Programs {
    pub(crate) fn new(context: &Arc<Context>, card: &Card, images: Images) -> Programs {
        Programs {
            context: Arc::clone(context),
            architecture: card.architecture,
            shared_bytes: card.shared_bytes,
            images,
            compiler: OnceLock::new(),
            modules: Mutex::default(),
            functions: Mutex::default(),
            origin: OnceLock::new(),
        }
    }

    /// Loads all modules that proofs use, and compiles them, where that has to be, in parallel.
    ///
    /// # Errors
    /// [`DeviceError::Compile`], [`DeviceError::Unsupported`] where kernels have to be compiled and there is no compiler.
    pub(crate) fn warm_up(&self) -> Result<(), DeviceError> {
        let origins: Vec<Origin> =
            WARM.par_iter().map(|module| self.provide(*module)).collect::<Result<_, _>>()?;
        let compiler = || self.compiler().map_or_else(|error| error.to_string(), Compiler::version);
        let origin = match origins.into_iter().max() {
            None | Some(Origin::Embedded) => "built in".to_owned(),
            Some(Origin::Text) => "built in, compiled by the driver".to_owned(),
            Some(Origin::Cached) => format!("compiled by {} in an earlier run", compiler()),
            Some(Origin::Compiled) => format!("compiled by {}", compiler()),
        };
        self.origin.get_or_init(|| origin);
        Ok(())
    }

    /// Where kernels are from, for people.
    pub(crate) fn origin(&self) -> &str {
        self.origin.get().map_or("not loaded", String::as_str)
    }

    fn compiler(&self) -> Result<&Compiler, DeviceError> {
        self.compiler.get_or_init(Compiler::load).as_ref().map_err(DeviceError::clone)
    }

    /// Loads a module from the first place that has an image which the driver takes: one older than the program may not
    /// take what is built in.
    fn provide(&self, module: Module) -> Result<Origin, DeviceError> {
        let cache = match &self.images {
            Images::Real(cache) => cache,
            #[cfg(any(test, feature = "host"))]
            Images::Double => return self.load(module, &[]).map(|()| Origin::Embedded),
        };
        for image in choose(embedded(module), self.architecture) {
            // Text ends with a zero for the driver.
            let text = image.is_ptx.then(|| [image.bytes, &[0]].concat());
            match self.load(module, text.as_deref().unwrap_or(image.bytes)) {
                Ok(()) => return Ok(if image.is_ptx { Origin::Text } else { Origin::Embedded }),
                Err(DeviceError::Compile { log, .. }) => {
                    tracing::debug!(
                        module = module.name(),
                        log,
                        "the driver does not take kernels that are built in"
                    );
                }
                Err(error) => return Err(error),
            }
        }
        let (image, origin) = self.compile(module, cache)?;
        self.load(module, &image).map(|()| origin)
    }

    /// An image of a module from the cache, or compiled and put there.
    fn compile(&self, module: Module, cache: &KernelCachePlace) -> Result<(Vec<u8>, Origin), DeviceError> {
        let compiler = self.compiler()?;
        let target = compiler.target(self.architecture)?;
        let options = Compiler::options(target).join(" ");
        let version = compiler.version();
        let mut parts = vec![module.source().as_bytes(), options.as_bytes(), version.as_bytes()];
        parts.extend(HEADERS.iter().flat_map(|header| [header.name.as_bytes(), header.text.as_bytes()]));
        let name = format!("{}_{}", module.name(), target.name());
        let file = CacheFile::new(cache, &name, &digest(&parts));
        if let Some(image) = file.as_ref().and_then(CacheFile::load) {
            return Ok((image, Origin::Cached));
        }
        let image = compiler.compile(module, target)?;
        if let Some(file) = file {
            file.store(&image);
        }
        Ok((image, Origin::Compiled))
    }

    /// Makes a module known to the context.
    fn load(&self, module: Module, image: &[u8]) -> Result<(), DeviceError> {
        let mut log = vec![0u8; 8 << 10];
        let mut options =
            [CUjit_option::CU_JIT_ERROR_LOG_BUFFER, CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES];
        // An option's value stands where others have a pointer.
        let mut values: [*mut c_void; 2] =
            [log.as_mut_ptr().cast(), std::ptr::without_provenance_mut(log.len())];
        let mut raw = std::ptr::null_mut();
        let loaded = self.context.call(module.name(), |api| {
            // SAFETY: it takes a pointer to a handle, and an image: one that begins like an object file says itself how long
            // it is, a text ends with a zero, as the compiler leaves it. There are two options with a value each.
            unsafe {
                (api.module_load)(
                    &mut raw,
                    image.as_ptr().cast(),
                    2,
                    options.as_mut_ptr(),
                    values.as_mut_ptr(),
                )
            }
        });
        match loaded {
            Ok(()) => {
                // Another thread may have been first: functions of its module are in use.
                let loaded = Loaded { context: Arc::clone(&self.context), raw };
                lock(&self.modules).entry(module).or_insert(loaded);
                Ok(())
            }
            Err(DeviceError::Launch { reason, .. }) => {
                let log = String::from_utf8_lossy(&log);
                let log = format!("{reason}\n{}", log.trim_matches(['\0', '\n', ' ']));
                Err(DeviceError::Compile { kernel: module.name().into(), log })
            }
            Err(error) => Err(error),
        }
    }

    /// The function of a launch, ready for the shared memory that it asks for.
    pub(crate) fn function(&self, launch: &Launch) -> Result<Arc<Function>, DeviceError> {
        let known = lock(&self.functions).get(&(launch.module, launch.symbol)).cloned();
        let function = match known {
            Some(function) => function,
            None => self.look_up(launch)?,
        };
        if launch.shared_bytes > function.shared_bytes.load(Ordering::Relaxed) {
            self.allow_shared(launch, &function)?;
        }
        Ok(function)
    }

    fn look_up(&self, launch: &Launch) -> Result<Arc<Function>, DeviceError> {
        if !lock(&self.modules).contains_key(&launch.module) {
            self.provide(launch.module)?;
        }
        let modules = lock(&self.modules);
        let missing = |reason: String| DeviceError::Launch { operation: launch.symbol.into(), reason };
        let module = modules.get(&launch.module).ok_or_else(|| missing("its module is not loaded".into()))?;
        let name = CString::new(launch.symbol).map_err(|error| missing(error.to_string()))?;
        let mut raw = std::ptr::null_mut();
        self.context.call(launch.symbol, |api| {
            // SAFETY: it takes a pointer to a handle; the module is loaded, and the name ends with a zero.
            unsafe { (api.module_function)(&mut raw, module.raw, name.as_ptr().cast::<c_char>()) }
        })?;
        let function = Arc::new(Function { raw, shared_bytes: SHARED_WITHOUT_A_WORD.into() });
        lock(&self.functions).insert((launch.module, launch.symbol), Arc::clone(&function));
        Ok(function)
    }

    /// Raises the bound of a function's dynamic shared memory.
    fn allow_shared(&self, launch: &Launch, function: &Function) -> Result<(), DeviceError> {
        if launch.shared_bytes > self.shared_bytes {
            return Err(DeviceError::Unsupported {
                what: format!(
                    "{} with {} bytes of shared memory a block",
                    launch.symbol, launch.shared_bytes
                ),
                why: format!("the card has {}", self.shared_bytes),
            });
        }
        let attribute = CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        self.context.call(launch.symbol, |api| {
            // SAFETY: the function is of a module that is loaded.
            unsafe { (api.function_set)(function.raw, attribute, launch.shared_bytes as i32) }
        })?;
        function.shared_bytes.fetch_max(launch.shared_bytes, Ordering::Relaxed);
        Ok(())
    }
}

impl Drop for Loaded {
    fn drop(&mut self) {
        // SAFETY: it was loaded once, and its kernels have ended: `DriverRuntime` waits for them first.
        let _ = self.context.call("unloading kernels", |api| unsafe { (api.module_unload)(self.raw) });
    }
}

/// Images that a card can run, the best first: code for the latest of its family's architectures up to its own, then the
/// latest text.
fn choose(images: &'static [Image], card: Architecture) -> impl Iterator<Item = &'static Image> {
    let best = move |is_ptx: bool| {
        let fits = move |image: &&Image| {
            let architecture = Architecture::of_number(image.arch);
            let is_family = is_ptx || architecture.major == card.major;
            image.is_ptx == is_ptx && is_family && architecture <= card
        };
        images.iter().filter(fits).max_by_key(|image| image.arch)
    };
    [best(false), best(true)].into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_are_chosen_by_family() {
        const IMAGES: &[Image] = &[
            Image { arch: 80, is_ptx: false, bytes: b"" },
            Image { arch: 86, is_ptx: false, bytes: b"" },
            Image { arch: 90, is_ptx: false, bytes: b"" },
            Image { arch: 120, is_ptx: false, bytes: b"" },
            Image { arch: 75, is_ptx: true, bytes: b"" },
            Image { arch: 80, is_ptx: true, bytes: b"" },
        ];
        let chosen = |card| {
            let images = choose(IMAGES, Architecture::of_number(card));
            images.map(|image| (image.arch, image.is_ptx)).collect::<Vec<_>>()
        };
        assert_eq!(chosen(80), [(80, false), (80, true)]);
        assert_eq!(chosen(87), [(86, false), (80, true)]);
        assert_eq!(chosen(89), [(86, false), (80, true)]);
        assert_eq!(chosen(90), [(90, false), (80, true)]);
        assert_eq!(chosen(100), [(80, true)]);
        assert_eq!(chosen(121), [(120, false), (80, true)]);
        assert_eq!(chosen(75), [(75, true)]);
        assert_eq!(chosen(70), []);
    }
}
