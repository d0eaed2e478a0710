//! Finds cards and opens them.

use std::sync::Arc;

use bellwether_core::device::{Backend, DeviceError, DeviceInfo};
use bellwether_core::driver::{Driver, OpenedDevice};

use crate::device::CudaDevice;
use crate::options::CudaOptions;
use crate::runtime::driver::{Card, cards};

/// Finds and opens NVIDIA cards.
///
/// Cards and their ordinals are what the driver shows, so that `CUDA_VISIBLE_DEVICES` and `CUDA_DEVICE_ORDER` have their
/// usual effect; a card's UUID is among its details. Finding them opens none of them.
#[derive(Clone, Debug, Default)]
pub struct CudaDriver {
    options: CudaOptions,
}

impl CudaDriver {
    /// A driver that opens devices with these options.
    pub fn with_options(options: CudaOptions) -> CudaDriver {
        CudaDriver { options }
    }

    /// The options that devices are opened with.
    pub fn options(&self) -> &CudaOptions {
        &self.options
    }

    /// Opens a card. Kernels that are not part of the program are compiled, or loaded from the cache.
    ///
    /// # Errors
    /// [`DeviceError::NoDriver`], [`DeviceError::Unsupported`] if there is no card with this ordinal or it lacks what is
    /// needed, [`DeviceError::Compile`], the driver's refusal.
    pub fn open_device(&self, ordinal: usize) -> Result<CudaDevice, DeviceError> {
        CudaDevice::open(ordinal, &self.options)
    }
}

impl Driver for CudaDriver {
    fn backend(&self) -> Backend {
        Backend::Cuda
    }

    fn probe(&self) -> Result<Vec<DeviceInfo>, DeviceError> {
        Ok(cards()?.iter().map(Card::info).collect())
    }

    fn open(&self, ordinal: usize) -> Result<Arc<dyn OpenedDevice>, DeviceError> {
        Ok(Arc::new(self.open_device(ordinal)?))
    }
}

/// The host build of the kernels as the only device of a backend, for tests.
#[cfg(feature = "host")]
#[derive(Clone, Debug, Default)]
pub struct CudaHostDriver {
    options: CudaOptions,
}

#[cfg(feature = "host")]
impl CudaHostDriver {
    /// A driver that opens devices with these options.
    pub fn with_options(options: CudaOptions) -> CudaHostDriver {
        CudaHostDriver { options }
    }
}

#[cfg(feature = "host")]
impl Driver for CudaHostDriver {
    fn backend(&self) -> Backend {
        Backend::Cuda
    }

    fn probe(&self) -> Result<Vec<DeviceInfo>, DeviceError> {
        let threads = self.options.host_threads.unwrap_or(0);
        Ok(vec![host_info(threads, None)])
    }

    fn open(&self, ordinal: usize) -> Result<Arc<dyn OpenedDevice>, DeviceError> {
        match ordinal {
            0 => Ok(Arc::new(CudaDevice::host(&self.options)?)),
            _ => Err(DeviceError::Unsupported {
                what: format!("cuda:{ordinal}"),
                why: "the host build is one device".into(),
            }),
        }
    }
}

/// What the host build says about itself.
#[cfg(any(test, feature = "host"))]
pub(crate) fn host_info(threads: usize, memory: Option<crate::memory::MemoryInfo>) -> DeviceInfo {
    use bellwether_core::device::Detail;
    DeviceInfo {
        backend: Backend::Cuda,
        ordinal: 0,
        name: "host build of the kernels".into(),
        api: None,
        driver: None,
        software: true,
        memory_total: memory.map(|memory| memory.total),
        memory_free: memory.map(|memory| memory.free),
        shares_host_memory: false,
        units: threads,
        details: vec![("kernels", Detail::Text("compiled for the processor".into()))],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where there is no driver, which says so; where there is, each card can be told apart.
    #[test]
    fn finding_cards_never_panics() {
        match CudaDriver::default().probe() {
            Ok(cards) => assert!(cards.iter().enumerate().all(|(i, card)| card.ordinal == i)),
            Err(error) => {
                assert!(matches!(error, DeviceError::NoDriver { .. }), "{error}");
                let opened = CudaDriver::default().open_device(0).err();
                assert!(matches!(opened, Some(DeviceError::NoDriver { .. })), "{opened:?}");
            }
        }
        let far = CudaDriver::default().open_device(4095).err();
        assert!(
            matches!(far, Some(DeviceError::NoDriver { .. } | DeviceError::Unsupported { .. })),
            "{far:?}"
        );
    }
}
