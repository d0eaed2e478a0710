//! Everything unsafe in this crate, one function a purpose.

#![allow(unsafe_code)]

use wgpu::{
    Device, PipelineCache, PipelineCacheDescriptor, ShaderModule, ShaderModuleDescriptor, ShaderRuntimeChecks,
};

/// Words as bytes, in the host's order.
pub(crate) fn bytes(words: &[u32]) -> &[u8] {
    // SAFETY: the memory of the words is initialized, every byte is a u8, whose alignment is 1, and the length is
    // that of the words in bytes; the borrow is that of `words`.
    unsafe { std::slice::from_raw_parts(words.as_ptr().cast(), size_of_val(words)) }
}

/// Words as bytes that can be written.
pub(crate) fn bytes_mut(words: &mut [u32]) -> &mut [u8] {
    // SAFETY: as in `bytes`; any four bytes are a u32, and the exclusive borrow is that of `words`.
    unsafe { std::slice::from_raw_parts_mut(words.as_mut_ptr().cast(), size_of_val(words)) }
}

/// A shader module without run-time checks: indices are not clamped, loops not counted.
pub(crate) fn unchecked_module(device: &Device, descriptor: ShaderModuleDescriptor<'_>) -> ShaderModule {
    // SAFETY: only texts of `bellwether_shaders` come here. Their loops end, their indices are bounded by the
    // parameters that this crate launches them with, and their divisors are constants other than zero; the tests run
    // every program with the checks on as well and get the same results.
    unsafe { device.create_shader_module_trusted(descriptor, ShaderRuntimeChecks::unchecked()) }
}

/// A pipeline cache that starts with what one of the same driver gave in an earlier run; with nothing, if `data` is
/// empty or the driver does not want it.
pub(crate) fn pipeline_cache(device: &Device, data: &[u8]) -> PipelineCache {
    let data = (!data.is_empty()).then_some(data);
    // SAFETY: `data` is what `PipelineCache::get_data` returned: it comes from `CacheFile::load`, which checks length
    // and digest of what `CacheFile::store` wrote, under a name with the adapter's key and its driver's version. wgpu
    // and the driver compare adapter and driver again, by the headers in the data.
    unsafe {
        device.create_pipeline_cache(&PipelineCacheDescriptor {
            label: Some("bellwether"),
            data,
            fallback: true,
        })
    }
}

/// Sizes of the device-local heaps of an adapter and, where `VK_EXT_memory_budget` tells, what this process may still
/// take of each. `None` if the adapter is not Vulkan's.
#[cfg(any(windows, target_os = "linux", target_os = "android", target_os = "freebsd"))]
pub(crate) fn vulkan_heaps(adapter: &wgpu::Adapter) -> Option<Vec<(u64, Option<u64>)>> {
    use ash::{ext, vk};
    // SAFETY: the adapter is only asked for its properties, nothing of it is destroyed.
    let hal = unsafe { adapter.as_hal::<wgpu::hal::api::Vulkan>() }?;
    let capabilities = hal.physical_device_capabilities();
    let instance = hal.shared_instance();
    let version = instance.instance_api_version().min(capabilities.properties().api_version);
    let budgeted =
        version >= vk::API_VERSION_1_1 && capabilities.supports_extension(ext::memory_budget::NAME);
    let mut budget = vk::PhysicalDeviceMemoryBudgetPropertiesEXT::default();
    let memory = if budgeted {
        let mut memory = vk::PhysicalDeviceMemoryProperties2::default().push_next(&mut budget);
        // SAFETY: the physical device is of this instance and both are alive while `hal` is; instance and device are of
        // Vulkan 1.1 or later, so that the function is loaded, and the device has the extension of the chained struct.
        unsafe {
            instance
                .raw_instance()
                .get_physical_device_memory_properties2(hal.raw_physical_device(), &mut memory);
        }
        memory.memory_properties
    } else {
        // SAFETY: the physical device is of this instance and both are alive while `hal` is.
        unsafe { instance.raw_instance().get_physical_device_memory_properties(hal.raw_physical_device()) }
    };
    let heaps = memory.memory_heaps_as_slice().iter().enumerate();
    let local = heaps.filter(|(_, heap)| heap.flags.contains(vk::MemoryHeapFlags::DEVICE_LOCAL));
    let free = |i: usize| budgeted.then(|| budget.heap_budget[i].saturating_sub(budget.heap_usage[i]));
    Some(local.map(|(i, heap)| (heap.size, free(i))).collect())
}

/// `None`: there is no Vulkan here.
#[cfg(not(any(windows, target_os = "linux", target_os = "android", target_os = "freebsd")))]
pub(crate) fn vulkan_heaps(_: &wgpu::Adapter) -> Option<Vec<(u64, Option<u64>)>> {
    None
}
