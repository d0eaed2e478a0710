//! Programs compiled for one device: each when it is first needed, or all at once.

use std::num::NonZeroU64;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use bellwether_core::curve::Group;
use bellwether_core::device::DeviceError;
use bellwether_shaders::{Program, Tier};
use rayon::prelude::*;
use wgpu::{BindGroupLayoutEntry, BindingType, BufferBindingType, ShaderStages};

use crate::cache::CacheFile;
use crate::faults::Scopes;
use crate::fenced;
use crate::options::WgpuOptions;

/// Groups a program can be made for: none, G1, G2.
const VARIANTS: [Option<Group>; 3] = [None, Some(Group::G1), Some(Group::G2)];

/// All programs of one device.
#[derive(Debug)]
pub(crate) struct Pipelines {
    device: wgpu::Device,
    tier: Tier,
    checked: bool,
    slots: Vec<OnceLock<Result<Arc<Pipeline>, DeviceError>>>,
    cache: Option<Cache>,
    start_up: OnceLock<StartUp>,
}

/// What the driver has compiled, in memory and on disk.
#[derive(Debug)]
struct Cache {
    driver: wgpu::PipelineCache,
    file: CacheFile,
    /// What was loaded, empty after a cold start.
    loaded: Vec<u8>,
}

/// One compiled program.
#[derive(Debug)]
pub(crate) struct Pipeline {
    pub(crate) name: String,
    /// Its number among all programs.
    pub(crate) slot: usize,
    /// Bytes of the parameters' binding.
    pub(crate) params_bytes: u64,
    /// Whether it writes, for each buffer.
    pub(crate) writes: &'static [bool],
    pub(crate) layout: wgpu::BindGroupLayout,
    pub(crate) compute: wgpu::ComputePipeline,
}

/// How the programs came to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StartUp {
    /// How many there are.
    pub pipelines: usize,
    /// Whether the driver was given what it had compiled in an earlier run.
    pub cached: bool,
    /// The time it took, on all threads at once.
    pub duration: Duration,
}

impl std::fmt::Display for StartUp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let origin = if self.cached { "from cache" } else { "compiled" };
        write!(f, "{} {origin} in {:.1} s", self.pipelines, self.duration.as_secs_f64())
    }
}

impl Pipelines {
    /// Compiles nothing yet.
    ///
    /// # Errors
    /// The device's.
    pub(crate) fn new(
        device: wgpu::Device,
        info: &wgpu::AdapterInfo,
        tier: Tier,
        options: &WgpuOptions,
    ) -> Result<Pipelines, DeviceError> {
        let slots = (0..Self::slots()).map(|_| OnceLock::new()).collect();
        let file = match device.features().contains(wgpu::Features::PIPELINE_CACHE) {
            true => CacheFile::new(&options.cache, info, tier, options.checked),
            false => None,
        };
        let cache = match file {
            Some(file) => Some(Cache::open(&device, file)?),
            None => None,
        };
        Ok(Pipelines { device, tier, checked: options.checked, slots, cache, start_up: OnceLock::new() })
    }

    /// Numbers of programs are below this.
    pub(crate) fn slots() -> usize {
        Program::ALL.len() * VARIANTS.len()
    }

    /// The program for this group, compiled now if it is not yet.
    ///
    /// # Errors
    /// [`DeviceError::Compile`].
    pub(crate) fn get(&self, program: Program, group: Option<Group>) -> Result<&Arc<Pipeline>, DeviceError> {
        let variant = VARIANTS.iter().position(|variant| *variant == group).unwrap_or_default();
        let slot = program as usize * VARIANTS.len() + variant;
        let pipeline = self.slots[slot].get_or_init(|| self.compile(program, group, slot).map(Arc::new));
        pipeline.as_ref().map_err(Clone::clone)
    }

    /// Compiles all programs, on all threads, and stores what the driver made of them.
    ///
    /// # Errors
    /// The first [`DeviceError::Compile`].
    pub(crate) fn warm_up(&self) -> Result<StartUp, DeviceError> {
        if let Some(start_up) = self.start_up.get() {
            return Ok(*start_up);
        }
        let began = Instant::now();
        let all: Vec<_> = Program::ALL
            .iter()
            .flat_map(|program| VARIANTS.map(|group| (*program, group)))
            .filter(|(program, group)| program.source(*group, self.tier).is_some())
            // That one is for tests.
            .filter(|(program, _)| *program != Program::FieldChain)
            .collect();
        all.par_iter()
            .with_max_len(1)
            .try_for_each(|(program, group)| self.get(*program, *group).map(drop))?;
        let cached = self.cache.as_ref().is_some_and(|cache| !cache.loaded.is_empty());
        let start_up = StartUp { pipelines: all.len(), cached, duration: began.elapsed() };
        self.store();
        tracing::info!(
            pipelines = start_up.pipelines,
            tier = self.tier.name(),
            cached,
            milliseconds = start_up.duration.as_millis() as u64,
            "pipelines compiled"
        );
        Ok(*self.start_up.get_or_init(|| start_up))
    }

    /// Writes the driver's cache to disk if that is news.
    fn store(&self) {
        let Some(cache) = &self.cache else { return };
        if let Some(data) = cache.driver.get_data().filter(|data| *data != cache.loaded) {
            cache.file.store(&data);
        }
    }

    fn compile(&self, program: Program, group: Option<Group>, slot: usize) -> Result<Pipeline, DeviceError> {
        let name = match group {
            None => program.name().to_owned(),
            Some(group) => format!("{}_{group:?}", program.name()).to_lowercase(),
        };
        let error = |log| DeviceError::Compile { kernel: name.clone(), log };
        let source =
            program.source(group, self.tier).ok_or_else(|| error("there is no such variant".into()))?;
        let scopes = Scopes::open(&self.device);
        let descriptor = wgpu::ShaderModuleDescriptor {
            label: Some(&name),
            source: wgpu::ShaderSource::Wgsl(source.into()),
        };
        let module = match self.checked {
            true => self.device.create_shader_module(descriptor),
            false => fenced::unchecked_module(&self.device, descriptor),
        };
        let layout = self.bind_group_layout(program, &name);
        let pipeline_layout = self.device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: Some(&name),
            bind_group_layouts: &[Some(&layout)],
            immediate_size: 0,
        });
        let compute = self.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some(&name),
            layout: Some(&pipeline_layout),
            module: &module,
            entry_point: Some("main"),
            compilation_options: wgpu::PipelineCompilationOptions {
                constants: &[],
                // Shaders write workgroup memory before they read it.
                zero_initialize_workgroup_memory: false,
            },
            cache: self.cache.as_ref().map(|cache| &cache.driver),
        });
        match scopes.error() {
            None => Ok(Pipeline {
                slot,
                params_bytes: params_bytes(program),
                writes: program.reflection().writes,
                layout,
                compute,
                name,
            }),
            Some(failure) => Err(error(failure.to_string())),
        }
    }

    fn bind_group_layout(&self, program: Program, name: &str) -> wgpu::BindGroupLayout {
        let entry = |binding: usize, ty, dynamic, bytes| BindGroupLayoutEntry {
            binding: binding as u32,
            visibility: ShaderStages::COMPUTE,
            ty: BindingType::Buffer {
                ty,
                has_dynamic_offset: dynamic,
                min_binding_size: NonZeroU64::new(bytes),
            },
            count: None,
        };
        let params = entry(0, BufferBindingType::Uniform, true, params_bytes(program));
        let buffers = program
            .reflection()
            .writes
            .iter()
            .enumerate()
            .map(|(i, writes)| entry(i + 1, BufferBindingType::Storage { read_only: !writes }, false, 0));
        self.device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
            label: Some(name),
            entries: &std::iter::once(params).chain(buffers).collect::<Vec<_>>(),
        })
    }
}

impl Cache {
    fn open(device: &wgpu::Device, file: CacheFile) -> Result<Cache, DeviceError> {
        let loaded = file.load().unwrap_or_default();
        let scopes = Scopes::open(device);
        let driver = fenced::pipeline_cache(device, &loaded);
        scopes.close("opening the pipeline cache", 0)?;
        Ok(Cache { driver, file, loaded })
    }
}

/// Bytes of the struct `Params`: arrays in it make its size a multiple of 16.
fn params_bytes(program: Program) -> u64 {
    4 * u64::from(program.reflection().params_words.next_multiple_of(4))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_start_is_told_in_words() {
        let start_up = |cached, milliseconds| StartUp {
            pipelines: 32,
            cached,
            duration: Duration::from_millis(milliseconds),
        };
        assert_eq!(start_up(false, 3_790).to_string(), "32 compiled in 3.8 s");
        assert_eq!(start_up(true, 410).to_string(), "32 from cache in 0.4 s");
    }
}
