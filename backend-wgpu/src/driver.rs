//! Finds adapters and opens them.

use std::sync::Arc;

use bellwether_core::device::{Backend, DeviceError, DeviceInfo};
use bellwether_core::driver::{Driver, OpenedDevice};

use crate::adapter::{self, AdapterDescription};
use crate::device::WgpuDevice;
use crate::options::WgpuOptions;

/// Finds and opens the adapters of Vulkan, Metal and DX12.
///
/// Their order, and so their ordinals, are the same every time: discrete cards, virtual ones, integrated ones, and
/// last what computes in software. An adapter that several APIs offer is listed once.
#[derive(Clone, Debug, Default)]
pub struct WgpuDriver {
    options: WgpuOptions,
}

impl WgpuDriver {
    /// A driver that opens devices with these options.
    pub fn with_options(options: WgpuOptions) -> WgpuDriver {
        WgpuDriver { options }
    }

    /// The options that devices are opened with.
    pub fn options(&self) -> &WgpuOptions {
        &self.options
    }

    /// What is known of every adapter, by ordinal, or why it cannot be used.
    ///
    /// # Errors
    /// [`DeviceError::NoDriver`] if there is no adapter.
    pub fn adapters(&self) -> Result<Vec<Result<AdapterDescription, DeviceError>>, DeviceError> {
        let adapters = found(adapter::enumerate(&adapter::instance()))?;
        Ok(adapters.iter().map(|adapter| adapter::describe(adapter, &self.options)).collect())
    }

    /// Opens an adapter. On hardware this compiles all programs, or loads them from the cache.
    ///
    /// # Errors
    /// [`DeviceError::Unsupported`] if there is none with this ordinal or it lacks what is needed,
    /// [`DeviceError::Compile`], the driver's refusal.
    pub fn open_device(&self, ordinal: usize) -> Result<WgpuDevice, DeviceError> {
        // An instance for each device: the device's thread waits for everything in its instance.
        let instance = adapter::instance();
        let adapters = found(adapter::enumerate(&instance))?;
        let count = adapters.len();
        let adapter = adapters.into_iter().nth(ordinal).ok_or_else(|| DeviceError::Unsupported {
            what: format!("wgpu:{ordinal}"),
            why: format!("adapters found: {count}"),
        })?;
        WgpuDevice::open(instance, adapter, ordinal, &self.options)
    }
}

fn found(adapters: Vec<wgpu::Adapter>) -> Result<Vec<wgpu::Adapter>, DeviceError> {
    match adapters.is_empty() {
        true => {
            Err(DeviceError::NoDriver { found: None, needed: "an adapter of Vulkan, Metal or DX12".into() })
        }
        false => Ok(adapters),
    }
}

impl Driver for WgpuDriver {
    fn backend(&self) -> Backend {
        Backend::Wgpu
    }

    fn probe(&self) -> Result<Vec<DeviceInfo>, DeviceError> {
        let adapters = found(adapter::enumerate(&adapter::instance()))?;
        let infos = adapters.iter().enumerate();
        Ok(infos.map(|(ordinal, adapter)| adapter::device_info(adapter, ordinal, &self.options)).collect())
    }

    fn open(&self, ordinal: usize) -> Result<Arc<dyn OpenedDevice>, DeviceError> {
        Ok(Arc::new(self.open_device(ordinal)?))
    }
}
