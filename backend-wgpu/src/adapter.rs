//! What an adapter offers, and whether that is enough.

use bellwether_core::device::{Backend, Detail, DeviceError, DeviceInfo};
use bellwether_shaders::Tier;

use crate::memory;
use crate::options::WgpuOptions;

/// The APIs that are used; GL has no 64-bit integers and too few bindings.
const BACKENDS: wgpu::Backends =
    wgpu::Backends::VULKAN.union(wgpu::Backends::METAL).union(wgpu::Backends::DX12);

/// What every adapter has that this crate uses: the limits of WebGPU.
const MINIMUM: Limits = Limits {
    binding: 128 << 20,
    buffer: 256 << 20,
    workgroup_memory: 16 << 10,
    invocations: 256,
    groups: 65_535,
};
/// The smallest [`WgpuOptions::max_binding`]: the smallest table of a fixed base in G2, as sums, takes 195,840 bytes, and
/// tables of domains up to 2^19 elements fit.
const SMALLEST_BINDING: u64 = 256 << 10;
/// Storage buffers of one program.
const STORAGE_BUFFERS: u32 = 8;

/// What layouts depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limits {
    /// Bytes of one binding, a multiple of 256.
    pub(crate) binding: u64,
    /// Bytes of one buffer, a multiple of 256.
    pub(crate) buffer: u64,
    /// Bytes of workgroup memory.
    pub(crate) workgroup_memory: u32,
    /// Invocations of one workgroup.
    pub(crate) invocations: u32,
    /// Workgroups of one dispatch; [`Gpu::run`](crate::gpu::Gpu::run) cuts longer ones.
    pub(crate) groups: u32,
}

/// An instance of wgpu without validation layers.
pub(crate) fn instance() -> wgpu::Instance {
    wgpu::Instance::new(wgpu::InstanceDescriptor {
        backends: BACKENDS,
        flags: wgpu::InstanceFlags::empty(),
        ..wgpu::InstanceDescriptor::new_without_display_handle()
    })
}

/// The adapters there are, each once: hardware first, discrete before integrated, software last. The order is the same
/// every time, so that positions in it can be used as names.
pub(crate) fn enumerate(instance: &wgpu::Instance) -> Vec<wgpu::Adapter> {
    let adapters = pollster::block_on(instance.enumerate_adapters(BACKENDS));
    let infos: Vec<wgpu::AdapterInfo> = adapters.iter().map(wgpu::Adapter::get_info).collect();
    order(&infos).into_iter().map(|i| adapters[i].clone()).collect()
}

/// Positions of the adapters to be used, best first.
fn order(infos: &[wgpu::AdapterInfo]) -> Vec<usize> {
    let mut chosen: Vec<usize> = (0..infos.len()).collect();
    // Stable: what is equal stays in the order of the driver.
    chosen.sort_by_key(|&i| (kind_rank(infos[i].device_type), backend_rank(infos[i].backend)));
    let mut unique: Vec<usize> = Vec::new();
    for i in chosen {
        // The k-th card of a model is the same in every API.
        let nth = |i: usize| {
            infos[..i]
                .iter()
                .filter(|info| same_model(info, &infos[i]) && info.backend == infos[i].backend)
                .count()
        };
        let seen = unique.iter().any(|&j| same_card(&infos[j], &infos[i], nth(j) == nth(i)));
        if !seen {
            unique.push(i);
        }
    }
    unique
}

fn same_model(a: &wgpu::AdapterInfo, b: &wgpu::AdapterInfo) -> bool {
    (a.vendor, a.device) == (b.vendor, b.device)
}

/// Whether two adapters are one card, seen through two drivers or APIs.
fn same_card(a: &wgpu::AdapterInfo, b: &wgpu::AdapterInfo, same_number: bool) -> bool {
    let located = !a.device_pci_bus_id.is_empty() && !b.device_pci_bus_id.is_empty();
    match (located, a.backend == b.backend) {
        (true, _) => a.device_pci_bus_id == b.device_pci_bus_id && same_model(a, b),
        (false, false) => same_model(a, b) && same_number,
        (false, true) => false,
    }
}

fn kind_rank(kind: wgpu::DeviceType) -> u8 {
    match kind {
        wgpu::DeviceType::DiscreteGpu => 0,
        wgpu::DeviceType::VirtualGpu => 1,
        wgpu::DeviceType::IntegratedGpu => 2,
        wgpu::DeviceType::Other => 3,
        wgpu::DeviceType::Cpu => 4,
    }
}

/// Vulkan first: it tells free memory and keeps compiled pipelines.
fn backend_rank(backend: wgpu::Backend) -> u8 {
    match backend {
        wgpu::Backend::Vulkan => 0,
        wgpu::Backend::Metal => 1,
        wgpu::Backend::Dx12 => 2,
        _ => 3,
    }
}

/// What is known of an adapter.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AdapterDescription {
    /// The vendor's name for it.
    pub name: String,
    /// The API it is driven through: Vulkan, Metal or DX12.
    pub api: &'static str,
    /// Name and version of the driver, if it tells.
    pub driver: Option<String>,
    /// Whether it is a processor's.
    pub software: bool,
    /// The representation of field elements that is used: 64-bit integers or 32-bit ones.
    pub tier: Tier,
    /// Bytes of one binding; longer vectors are split.
    pub max_binding: u64,
    /// Bytes of workgroup memory.
    pub workgroup_memory: u32,
    /// The sizes a subgroup can have.
    pub subgroup_sizes: std::ops::RangeInclusive<u32>,
    /// Whether times are taken by the device's clock.
    pub timestamps: bool,
    /// Whether compiled pipelines can be kept between runs.
    pub pipeline_cache: bool,
}

/// Describes an adapter.
///
/// # Errors
/// [`DeviceError::Unsupported`] if it cannot be used, or not with these options.
pub(crate) fn describe(
    adapter: &wgpu::Adapter,
    options: &WgpuOptions,
) -> Result<AdapterDescription, DeviceError> {
    if let Some(bound) = options.max_binding {
        check_bound(bound)?;
    }
    let info = adapter.get_info();
    let limits = limits(adapter, options)?;
    let features = adapter.features();
    Ok(AdapterDescription {
        driver: driver(&info),
        api: api(info.backend),
        software: is_software(&info),
        tier: tier(adapter, options)?,
        max_binding: limits.binding,
        workgroup_memory: limits.workgroup_memory,
        subgroup_sizes: info.subgroup_min_size..=info.subgroup_max_size,
        timestamps: features.contains(wgpu::Features::TIMESTAMP_QUERY_INSIDE_ENCODERS),
        pipeline_cache: features.contains(wgpu::Features::PIPELINE_CACHE),
        name: info.name,
    })
}

/// Refuses bounds of a binding below [`SMALLEST_BINDING`].
fn check_bound(bound: u64) -> Result<(), DeviceError> {
    if bound >= SMALLEST_BINDING {
        return Ok(());
    }
    Err(DeviceError::Unsupported {
        what: format!("a max_binding of {bound} bytes"),
        why: format!("tables need bindings of {SMALLEST_BINDING} bytes"),
    })
}

/// What the trait's users are told of an adapter, usable or not.
pub(crate) fn device_info(adapter: &wgpu::Adapter, ordinal: usize, options: &WgpuOptions) -> DeviceInfo {
    let info = adapter.get_info();
    let software = is_software(&info);
    let memory = memory::of(adapter);
    let bounded = |bytes: u64| options.memory_limit.map_or(bytes, |limit| bytes.min(limit));
    DeviceInfo {
        backend: Backend::Wgpu,
        ordinal,
        api: Some(api(info.backend).to_owned()),
        driver: driver(&info),
        software,
        memory_total: memory.map(|memory| memory.total),
        memory_free: memory
            .map(|memory| bounded(memory.free.unwrap_or(memory.total)))
            .or(options.memory_limit),
        shares_host_memory: false,
        units: units(software),
        details: describe(adapter, options).map_or_else(|_| Vec::new(), |adapter| details(&adapter)),
        name: info.name,
    }
}

/// What decides how an adapter computes.
fn details(adapter: &AdapterDescription) -> Vec<(&'static str, Detail)> {
    vec![
        ("tier", Detail::Text(adapter.tier.name().to_owned())),
        ("binding", Detail::Bytes(adapter.max_binding)),
        ("workgroup memory", Detail::Bytes(adapter.workgroup_memory.into())),
    ]
}

/// Threads of the host that a software adapter runs on. No API tells the number of a GPU's multiprocessors: 0.
fn units(software: bool) -> usize {
    match software {
        true => std::thread::available_parallelism().map_or(1, usize::from),
        false => 0,
    }
}

fn is_software(info: &wgpu::AdapterInfo) -> bool {
    info.device_type == wgpu::DeviceType::Cpu
}

fn driver(info: &wgpu::AdapterInfo) -> Option<String> {
    let words = [info.driver.trim(), info.driver_info.trim()];
    let driver = words.iter().filter(|word| !word.is_empty()).copied().collect::<Vec<_>>().join(" ");
    (!driver.is_empty()).then_some(driver)
}

fn api(backend: wgpu::Backend) -> &'static str {
    match backend {
        wgpu::Backend::Vulkan => "Vulkan",
        wgpu::Backend::Metal => "Metal",
        wgpu::Backend::Dx12 => "DX12",
        other => other.to_str(),
    }
}

/// The limits of an adapter, with any bound of its bindings: units are tested with smaller ones than [`describe`] lets
/// pass.
///
/// # Errors
/// [`DeviceError::Unsupported`] if one is below the portable minimum.
pub(crate) fn limits(adapter: &wgpu::Adapter, options: &WgpuOptions) -> Result<Limits, DeviceError> {
    let offered = adapter.limits();
    let name = adapter.get_info().name;
    let multiple = |bytes: u64| bytes.min(i64::MAX as u64) / 256 * 256;
    let limits = Limits {
        binding: multiple(offered.max_storage_buffer_binding_size),
        buffer: multiple(offered.max_buffer_size),
        workgroup_memory: offered.max_compute_workgroup_storage_size,
        invocations: offered.max_compute_invocations_per_workgroup.min(offered.max_compute_workgroup_size_x),
        groups: offered.max_compute_workgroups_per_dimension,
    };
    require(
        &name,
        "storage buffers per stage",
        offered.max_storage_buffers_per_shader_stage,
        STORAGE_BUFFERS,
    )?;
    require(&name, "bytes of a binding", limits.binding, MINIMUM.binding)?;
    require(&name, "bytes of a buffer", limits.buffer, MINIMUM.buffer)?;
    require(&name, "bytes of workgroup memory", limits.workgroup_memory, MINIMUM.workgroup_memory)?;
    require(&name, "invocations of a workgroup", limits.invocations, MINIMUM.invocations)?;
    require(&name, "workgroups of a dispatch", limits.groups, MINIMUM.groups)?;
    let binding = options.max_binding.map_or(limits.binding, |bound| limits.binding.min(multiple(bound)));
    Ok(Limits { binding, ..limits })
}

fn require<T: Into<u64>>(adapter: &str, what: &str, offered: T, needed: T) -> Result<(), DeviceError> {
    let (offered, needed) = (offered.into(), needed.into());
    if offered >= needed {
        return Ok(());
    }
    Err(DeviceError::Unsupported {
        what: adapter.to_owned(),
        why: format!("{offered} {what}, {needed} needed"),
    })
}

/// The tier that was chosen, or the faster one that the adapter has.
///
/// # Errors
/// [`DeviceError::Unsupported`] if it has no 64-bit integers and they were chosen.
pub(crate) fn tier(adapter: &wgpu::Adapter, options: &WgpuOptions) -> Result<Tier, DeviceError> {
    let has_u64 = adapter.features().contains(wgpu::Features::SHADER_INT64);
    match options.tier {
        Some(Tier::U64) if !has_u64 => Err(DeviceError::Unsupported {
            what: "tier u64".into(),
            why: format!("{} has no 64-bit integers in shaders", adapter.get_info().name),
        }),
        Some(tier) => Ok(tier),
        None if has_u64 => Ok(Tier::U64),
        None => Ok(Tier::U32),
    }
}

/// A device with what the adapter offers, as far as it is used.
///
/// # Errors
/// [`DeviceError::Unsupported`] with the driver's words.
pub(crate) fn request(adapter: &wgpu::Adapter) -> Result<(wgpu::Device, wgpu::Queue), DeviceError> {
    use wgpu::Features;
    let used = Features::SHADER_INT64
        | Features::TIMESTAMP_QUERY
        | Features::TIMESTAMP_QUERY_INSIDE_ENCODERS
        | Features::PIPELINE_CACHE;
    let offered = adapter.limits();
    let request = adapter.request_device(&wgpu::DeviceDescriptor {
        label: Some("bellwether"),
        required_features: adapter.features() & used,
        required_limits: wgpu::Limits {
            max_storage_buffer_binding_size: offered.max_storage_buffer_binding_size,
            max_buffer_size: offered.max_buffer_size,
            max_compute_workgroup_storage_size: offered.max_compute_workgroup_storage_size,
            max_compute_invocations_per_workgroup: offered.max_compute_invocations_per_workgroup,
            max_compute_workgroup_size_x: offered.max_compute_workgroup_size_x,
            max_compute_workgroups_per_dimension: offered.max_compute_workgroups_per_dimension,
            ..wgpu::Limits::default()
        },
        // Resident data is in large buffers, which get memory of their own; blocks for small ones need not be large.
        memory_hints: wgpu::MemoryHints::MemoryUsage,
        ..wgpu::DeviceDescriptor::default()
    });
    pollster::block_on(request)
        .map_err(|error| DeviceError::Unsupported { what: adapter.get_info().name, why: error.to_string() })
}

#[cfg(test)]
mod tests {
    use wgpu::{AdapterInfo, Backend, DeviceType};

    use super::*;

    fn card(kind: DeviceType, backend: Backend, model: u32, bus: &str) -> AdapterInfo {
        AdapterInfo { device: model, device_pci_bus_id: bus.into(), ..AdapterInfo::new(kind, backend) }
    }

    #[test]
    fn hardware_comes_first_and_software_last() {
        let infos = [
            card(DeviceType::Cpu, Backend::Vulkan, 1, ""),
            card(DeviceType::IntegratedGpu, Backend::Vulkan, 2, "0:0"),
            card(DeviceType::Other, Backend::Vulkan, 3, "0:1"),
            card(DeviceType::DiscreteGpu, Backend::Vulkan, 4, "0:2"),
            card(DeviceType::VirtualGpu, Backend::Vulkan, 5, "0:3"),
            card(DeviceType::DiscreteGpu, Backend::Vulkan, 6, "0:4"),
        ];
        assert_eq!(order(&infos), [3, 5, 4, 1, 2, 0]);
    }

    #[test]
    fn a_card_is_listed_once() {
        let discrete = |backend, bus| card(DeviceType::DiscreteGpu, backend, 7, bus);
        let both = [discrete(Backend::Dx12, "0:1"), discrete(Backend::Vulkan, "0:1")];
        assert_eq!(order(&both), [1], "two APIs");
        let drivers = [discrete(Backend::Vulkan, "0:1"), discrete(Backend::Vulkan, "0:1")];
        assert_eq!(order(&drivers), [0], "two drivers");
        let twins = [discrete(Backend::Vulkan, "0:1"), discrete(Backend::Vulkan, "0:2")];
        assert_eq!(order(&twins), [0, 1], "two cards");
        let unplaced = [Backend::Vulkan, Backend::Vulkan, Backend::Dx12, Backend::Dx12];
        assert_eq!(order(&unplaced.map(|backend| discrete(backend, ""))), [0, 1], "two cards, two APIs");
    }

    #[test]
    fn what_is_missing_is_named() {
        let error = require("Toy", "bytes of a binding", 100u32, 200).unwrap_err();
        assert_eq!(error.to_string(), "Toy is not supported: 100 bytes of a binding, 200 needed");
        assert!(require("Toy", "invocations", 256u32, 256).is_ok());
    }

    #[test]
    fn bindings_that_tables_exceed_are_refused() {
        for bound in [0, 1000, SMALLEST_BINDING - 1] {
            let error = check_bound(bound).unwrap_err().to_string();
            assert!(
                error.contains(&format!("of {bound} bytes")) && error.contains("262144 bytes"),
                "{error}"
            );
        }
        assert!([SMALLEST_BINDING, u64::MAX].into_iter().all(|bound| check_bound(bound).is_ok()));
    }

    #[test]
    fn drivers_are_named_with_their_version() {
        let mut info = card(DeviceType::DiscreteGpu, Backend::Vulkan, 1, "");
        assert_eq!(driver(&info), None);
        info.driver = "llvmpipe".into();
        info.driver_info = "Mesa 22.3.6".into();
        assert_eq!(driver(&info).as_deref(), Some("llvmpipe Mesa 22.3.6"));
    }
}
