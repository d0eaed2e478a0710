//! The driver's functions, looked up in its library.
//!
//! cudarc has them as well, and handles, structs and attributes are its own. But its functions panic where library or
//! symbol is missing, keep the library in a global, and return an enum, which must not have a value that a later driver
//! brings. Here all of them are looked up at once, and results are numbers.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};

use bellwether_core::device::DeviceError;
use cudarc::driver::sys::{
    CUcontext, CUdevice, CUdevice_attribute, CUdeviceptr, CUevent, CUfunction, CUfunction_attribute,
    CUjit_option, CUmemPool_attribute, CUmemPoolProps, CUmemoryPool, CUmodule, CUresult, CUstream, CUuuid,
};
use libloading::Library;

/// The oldest driver that will do: what CUDA 12.0 came with.
const OLDEST: c_int = 12_000;

/// Names of the driver's library.
#[cfg(windows)]
const LIBRARIES: &[&str] = &["nvcuda.dll"];
#[cfg(not(windows))]
const LIBRARIES: &[&str] = &["libcuda.so.1", "libcuda.so"];

macro_rules! functions {
    ($($name:ident = $symbol:literal ($($argument:ty),*);)*) => {
        /// The functions, each with the name that it has in the library.
        pub(crate) struct Api {
            $(pub(crate) $name: unsafe extern "system" fn($($argument),*) -> c_int,)*
        }

        impl Api {
            /// Looks all of them up.
            ///
            /// # Safety
            /// The library is the driver's, and stays loaded.
            unsafe fn look_up(library: &Library) -> Result<Api, libloading::Error> {
                Ok(Api {
                    // SAFETY: the types are those of the driver's header, of which the symbols name the version.
                    $($name: *unsafe { library.get(concat!($symbol, "\0").as_bytes()) }?,)*
                })
            }
        }
    };
}

functions! {
    init = "cuInit"(c_uint);
    driver_version = "cuDriverGetVersion"(*mut c_int);
    error_name = "cuGetErrorName"(c_int, *mut *const c_char);
    error_string = "cuGetErrorString"(c_int, *mut *const c_char);
    device_count = "cuDeviceGetCount"(*mut c_int);
    device_get = "cuDeviceGet"(*mut CUdevice, c_int);
    device_name = "cuDeviceGetName"(*mut c_char, c_int, CUdevice);
    device_uuid = "cuDeviceGetUuid_v2"(*mut CUuuid, CUdevice);
    device_memory = "cuDeviceTotalMem_v2"(*mut usize, CUdevice);
    device_attribute = "cuDeviceGetAttribute"(*mut c_int, CUdevice_attribute, CUdevice);
    context_retain = "cuDevicePrimaryCtxRetain"(*mut CUcontext, CUdevice);
    context_release = "cuDevicePrimaryCtxRelease_v2"(CUdevice);
    context_push = "cuCtxPushCurrent_v2"(CUcontext);
    context_pop = "cuCtxPopCurrent_v2"(*mut CUcontext);
    stream_create = "cuStreamCreate"(*mut CUstream, c_uint);
    stream_destroy = "cuStreamDestroy_v2"(CUstream);
    stream_synchronize = "cuStreamSynchronize"(CUstream);
    memory_info = "cuMemGetInfo_v2"(*mut usize, *mut usize);
    memory_allocate = "cuMemAlloc_v2"(*mut CUdeviceptr, usize);
    memory_free = "cuMemFree_v2"(CUdeviceptr);
    pool_create = "cuMemPoolCreate"(*mut CUmemoryPool, *const CUmemPoolProps);
    pool_destroy = "cuMemPoolDestroy"(CUmemoryPool);
    pool_trim = "cuMemPoolTrimTo"(CUmemoryPool, usize);
    pool_set = "cuMemPoolSetAttribute"(CUmemoryPool, CUmemPool_attribute, *mut c_void);
    pool_get = "cuMemPoolGetAttribute"(CUmemoryPool, CUmemPool_attribute, *mut c_void);
    pool_allocate = "cuMemAllocFromPoolAsync"(*mut CUdeviceptr, usize, CUmemoryPool, CUstream);
    pool_free = "cuMemFreeAsync"(CUdeviceptr, CUstream);
    pinned_allocate = "cuMemHostAlloc"(*mut *mut c_void, usize, c_uint);
    pinned_free = "cuMemFreeHost"(*mut c_void);
    copy_in = "cuMemcpyHtoDAsync_v2"(CUdeviceptr, *const c_void, usize, CUstream);
    copy_out = "cuMemcpyDtoHAsync_v2"(*mut c_void, CUdeviceptr, usize, CUstream);
    fill = "cuMemsetD32Async"(CUdeviceptr, c_uint, usize, CUstream);
    event_create = "cuEventCreate"(*mut CUevent, c_uint);
    event_destroy = "cuEventDestroy_v2"(CUevent);
    event_record = "cuEventRecord"(CUevent, CUstream);
    event_query = "cuEventQuery"(CUevent);
    event_synchronize = "cuEventSynchronize"(CUevent);
    event_elapsed = "cuEventElapsedTime"(*mut f32, CUevent, CUevent);
    module_load = "cuModuleLoadDataEx"(*mut CUmodule, *const c_void, c_uint, *mut CUjit_option, *mut *mut c_void);
    module_unload = "cuModuleUnload"(CUmodule);
    module_function = "cuModuleGetFunction"(*mut CUfunction, CUmodule, *const c_char);
    function_set = "cuFuncSetAttribute"(CUfunction, CUfunction_attribute, c_int);
    launch = "cuLaunchKernel"(
        CUfunction, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, CUstream, *mut *mut c_void, *mut *mut c_void
    );
}

impl std::fmt::Debug for Api {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Api")
    }
}

/// What the driver answers that decides how to go on.
pub(crate) mod code {
    use std::ffi::c_int;

    pub(crate) const SUCCESS: c_int = 0;
    pub(crate) const OUT_OF_MEMORY: c_int = 2;
    pub(crate) const NOT_READY: c_int = 600;
}

/// Whether a context in which this has happened is of no use any more. Each is of the driver's header; those that cudarc
/// has no name for are of later ones.
fn is_loss(code: c_int) -> bool {
    use CUresult::*;
    const LOSSES: &[CUresult] = &[
        CUDA_ERROR_DEINITIALIZED,
        CUDA_ERROR_DEVICE_UNAVAILABLE,
        CUDA_ERROR_ECC_UNCORRECTABLE,
        CUDA_ERROR_NVLINK_UNCORRECTABLE,
        CUDA_ERROR_ILLEGAL_ADDRESS,
        CUDA_ERROR_LAUNCH_TIMEOUT,
        CUDA_ERROR_CONTEXT_IS_DESTROYED,
        CUDA_ERROR_ASSERT,
        CUDA_ERROR_HARDWARE_STACK_ERROR,
        CUDA_ERROR_ILLEGAL_INSTRUCTION,
        CUDA_ERROR_MISALIGNED_ADDRESS,
        CUDA_ERROR_INVALID_ADDRESS_SPACE,
        CUDA_ERROR_INVALID_PC,
        CUDA_ERROR_LAUNCH_FAILED,
        CUDA_ERROR_EXTERNAL_DEVICE,
        CUDA_ERROR_UNKNOWN,
    ];
    const CONTAINED: c_int = 226;
    const TENSOR_MEMORY_LEAK: c_int = 721;
    const KEY_ROTATION: c_int = 916;
    LOSSES.iter().any(|loss| *loss as c_int == code)
        || [CONTAINED, TENSOR_MEMORY_LEAK, KEY_ROTATION].contains(&code)
}

impl Api {
    /// Loads the driver and initialises it.
    ///
    /// # Errors
    /// [`DeviceError::NoDriver`] if there is none, or one too old, or it finds no card.
    pub(crate) fn load() -> Result<Api, DeviceError> {
        let needed = format!("a driver for CUDA {}.{} or later", OLDEST / 1000, OLDEST % 1000 / 10);
        let none = |found: Option<String>| DeviceError::NoDriver { found, needed: needed.clone() };
        // SAFETY: what the library does when it is loaded is the vendor's; it is the one that every program of the card
        // loads.
        let library = LIBRARIES.iter().find_map(|name| unsafe { Library::new(*name) }.ok());
        // It stays loaded, as its own threads run in it.
        let library = std::mem::ManuallyDrop::new(library.ok_or_else(|| none(None))?);
        // SAFETY: it is the driver's, and is never unloaded.
        let api = unsafe { Api::look_up(&library) }.map_err(|error| none(Some(error.to_string())))?;
        let mut version = 0;
        // SAFETY: it takes a pointer to a number, and may be called before `init`.
        let asked = unsafe { (api.driver_version)(&mut version) };
        if asked != code::SUCCESS || version < OLDEST {
            return Err(none(Some(format!("one for CUDA {}", version_text(version)))));
        }
        // SAFETY: it may be called any number of times.
        let outcome = unsafe { (api.init)(0) };
        match outcome {
            code::SUCCESS => Ok(api),
            failure => Err(none(Some(format!("CUDA {}: {}", version_text(version), api.describe(failure))))),
        }
    }

    /// The version of CUDA that the driver is for.
    pub(crate) fn version(&self) -> String {
        let mut version = 0;
        // SAFETY: it takes a pointer to a number.
        unsafe { (self.driver_version)(&mut version) };
        version_text(version)
    }

    /// The driver's name and words for a result.
    fn describe(&self, code: c_int) -> String {
        let text = |function: unsafe extern "system" fn(c_int, *mut *const c_char) -> c_int| {
            let mut text = std::ptr::null();
            // SAFETY: it takes any number and a pointer to a pointer, which it sets to a text of its own or to null.
            let found = unsafe { function(code, &mut text) } == code::SUCCESS && !text.is_null();
            // SAFETY: the driver's text ends with a zero and is never freed.
            found.then(|| unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
        };
        match (text(self.error_name), text(self.error_string)) {
            (Some(name), Some(words)) => format!("{name}: {words}"),
            _ => format!("error {code}"),
        }
    }

    /// The outcome of a call as the trait's.
    pub(crate) fn check(&self, operation: &str, outcome: c_int) -> Result<(), DeviceError> {
        match outcome {
            code::SUCCESS => Ok(()),
            code::OUT_OF_MEMORY => Err(DeviceError::OutOfMemory { asked: 0, free: None }),
            loss if is_loss(loss) => {
                Err(DeviceError::DeviceLost { reason: format!("{} in {operation}", self.describe(loss)) })
            }
            failure => {
                Err(DeviceError::Launch { operation: operation.to_owned(), reason: self.describe(failure) })
            }
        }
    }
}

/// 12040 is 12.4.
fn version_text(version: c_int) -> String {
    format!("{}.{}", version / 1000, version % 1000 / 10)
}
