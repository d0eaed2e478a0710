//! From commands to a submit of wgpu.

use std::num::NonZeroU64;
use std::sync::Arc;

use bellwether_core::device::DeviceError;
use wgpu::{BindGroupEntry, BindingResource, BufferBinding};

use crate::buffer::{Place, Secrecy};
use crate::faults::Scopes;
use crate::gpu::Engine;
use crate::pacing::Prediction;
use crate::pending::Signal;
use crate::recorder::{Batch, Bounds, Command, Dispatch, Recorder};
use crate::staging::Landing;
use crate::tower::Cargo;

/// Distance of the parameters of two dispatches in words: the alignment of uniform buffers on every adapter.
pub(crate) const PARAMS_STRIDE: usize = 64;

/// A command encoder with at most one open compute pass: neighbouring dispatches share one.
struct Encoder {
    pass: Option<wgpu::ComputePass<'static>>,
    raw: wgpu::CommandEncoder,
}

impl Encoder {
    fn pass(&mut self) -> &mut wgpu::ComputePass<'static> {
        self.pass.get_or_insert_with(|| {
            self.raw.begin_compute_pass(&wgpu::ComputePassDescriptor::default()).forget_lifetime()
        })
    }

    /// The encoder, for what cannot be in a pass.
    fn outside(&mut self) -> &mut wgpu::CommandEncoder {
        self.pass = None;
        &mut self.raw
    }

    fn copy(&mut self, from: &wgpu::Buffer, offset: u64, to: &wgpu::Buffer, at: u64, bytes: u64) {
        self.outside().copy_buffer_to_buffer(from, offset, to, at, bytes);
    }
}

/// Results that a submit lands.
type Landings = Vec<(Arc<Landing>, u64, Arc<Signal>)>;

impl Engine {
    /// Submits as long as there is reason to.
    pub(crate) fn pump(&self, recorder: &mut Recorder) {
        self.pump_while(recorder, |recorder| recorder.is_ready(self.tower().in_flight()));
    }

    /// Submits everything at once, however much is in flight.
    pub(crate) fn pump_all(&self, recorder: &mut Recorder) {
        self.pump_while(recorder, |recorder| !recorder.is_empty());
    }

    fn pump_while(&self, recorder: &mut Recorder, is_ready: impl Fn(&Recorder) -> bool) {
        let bounds = Bounds { groups: self.limits().groups, marks_end: !self.has_timestamps() };
        while self.faults().lost().is_none() && is_ready(recorder) {
            let batch = self.tower().pace(|pace| recorder.cut(pace, bounds));
            if batch.commands.is_empty() {
                break;
            }
            let Batch { commands, prediction } = batch;
            commands.iter().for_each(Command::inherit);
            if let Err(error) = self.submit(recorder, &commands, prediction) {
                self.refuse(recorder, commands, error);
            }
            recorder.let_go();
        }
        if let Some(lost) = self.faults().lost() {
            recorder.abandon();
            self.tower().abandon(&lost);
        }
        if recorder.is_empty() {
            self.tower().all_submitted();
        }
    }

    /// After a submit that did not take place: tells those whose results depend on it. What was to be cleared still is,
    /// before it is used again; a buffer that not even a submit of its own could clear does not stay in the pool.
    fn refuse(&self, recorder: &mut Recorder, commands: Vec<Command>, error: DeviceError) {
        let error = self.faults().lost().unwrap_or(error);
        tracing::debug!(%error, "refused submit");
        commands.iter().for_each(|command| command.fail(&error));
        // Some may be what was refused.
        recorder.trim();
        let is_clear = |command: &Command| matches!(command, Command::Clear(_));
        if commands.iter().all(is_clear) {
            self.forget(&commands);
            return;
        }
        let clears: Vec<Command> = commands.into_iter().filter(is_clear).collect();
        self.tower().pace(|pace| recorder.put_back(clears, pace));
    }

    fn submit(
        &self,
        recorder: &mut Recorder,
        commands: &[Command],
        prediction: Prediction,
    ) -> Result<(), DeviceError> {
        let scopes = Scopes::open(self.device());
        let raw = self.device().create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        let mut encoder = Encoder { pass: None, raw };
        let mut cargo = Cargo { prediction, ..Cargo::default() };
        if self.has_timestamps() {
            let stamps = self.tower().stamps(self.device());
            encoder.raw.write_timestamp(&stamps.set, 0);
            cargo.stamps = Some(stamps);
        }
        self.stage_params(recorder, commands, &mut encoder, &mut cargo)?;
        let mut landings = Landings::new();
        let mut offset = 0;
        for command in commands {
            match command {
                Command::Dispatch(dispatch) => {
                    let bind_group = recorder.bind_group(dispatch, || self.make_bind_group(dispatch));
                    let pass = encoder.pass();
                    pass.set_pipeline(&dispatch.pipeline.compute);
                    pass.set_bind_group(0, &bind_group, &[4 * offset as u32]);
                    pass.dispatch_workgroups(dispatch.groups, 1, 1);
                    offset += dispatch.params.len().next_multiple_of(PARAMS_STRIDE);
                }
                Command::Clear(place) => {
                    encoder.outside().clear_buffer(&place.buffer, place.offset, Some(place.bytes));
                }
                Command::Upload { chunk, offset, to } => {
                    encoder.copy(chunk.raw(), *offset, &to.buffer, to.offset, to.bytes);
                    cargo.chunks.push(Arc::clone(chunk));
                }
                Command::Read { from, landing, mapped } => {
                    encoder.copy(&from.buffer, from.offset, &landing.raw, 0, from.bytes);
                    landings.push((Arc::clone(landing), from.bytes, Arc::clone(mapped)));
                }
                Command::Mark(moment) => {
                    cargo.marks.push(Arc::clone(moment));
                    if let Some(stamps) = &cargo.stamps {
                        encoder.outside().write_timestamp(&stamps.set, cargo.marks.len() as u32);
                    }
                }
            }
        }
        self.finish(encoder, cargo, landings, scopes)
    }

    fn finish(
        &self,
        mut encoder: Encoder,
        cargo: Cargo,
        landings: Landings,
        scopes: Scopes,
    ) -> Result<(), DeviceError> {
        cargo.chunks.iter().for_each(|chunk| chunk.unmap());
        let stamps = cargo.stamps.clone();
        let stamps = stamps.map(|stamps| (8 * (cargo.marks.len() as u64 + 2), stamps));
        if let Some((bytes, stamps)) = &stamps {
            let count = (bytes / 8) as u32;
            let raw = encoder.outside();
            raw.write_timestamp(&stamps.set, count - 1);
            raw.resolve_query_set(&stamps.set, 0..count, &stamps.resolved, 0);
            raw.copy_buffer_to_buffer(&stamps.resolved, 0, &stamps.landing, 0, *bytes);
        }
        encoder.pass = None;
        let commands = encoder.raw.finish();
        let number = self.tower().depart(cargo);
        self.queue().submit([commands]);
        let outcome = scopes.close("a submit", 0);
        if outcome.is_ok() {
            if let Some((bytes, stamps)) = stamps {
                // Read when the submit is done, which wgpu reports after this.
                stamps.landing.slice(..bytes).map_async(wgpu::MapMode::Read, |_| {});
            }
            for (landing, bytes, mapped) in landings {
                landing.map(bytes, move |result| mapped.set(result.map_err(unmappable)));
            }
        } else {
            self.tower().refuse(number);
        }
        let tower = Arc::clone(self.tower());
        self.queue().on_submitted_work_done(move || tower.arrive(number));
        outcome
    }

    /// Puts the parameters of all dispatches into the one uniform buffer. The next submit's come after this one's
    /// work, as all copies do.
    fn stage_params(
        &self,
        recorder: &mut Recorder,
        commands: &[Command],
        encoder: &mut Encoder,
        cargo: &mut Cargo,
    ) -> Result<(), DeviceError> {
        let mut words: Vec<u32> = Vec::new();
        for command in commands {
            if let Command::Dispatch(dispatch) = command {
                words.push(dispatch.first);
                words.extend_from_slice(&dispatch.params[1..]);
                words.resize(words.len().next_multiple_of(PARAMS_STRIDE), 0);
            }
        }
        let mut done = 0;
        while done < words.len() {
            let staged = recorder.stage(self.uploads(), &words[done..], Secrecy::Public, true)?;
            let Some((chunk, offset, count)) = staged else { break };
            encoder.copy(chunk.raw(), offset, self.params(), 4 * done as u64, 4 * count as u64);
            cargo.chunks.push(chunk);
            done += count;
        }
        Ok(())
    }

    fn make_bind_group(&self, dispatch: &Dispatch) -> wgpu::BindGroup {
        let binding = |binding: usize, buffer, offset, bytes| BindGroupEntry {
            binding: binding as u32,
            resource: BindingResource::Buffer(BufferBinding { buffer, offset, size: NonZeroU64::new(bytes) }),
        };
        let params = binding(0, self.params(), 0, dispatch.pipeline.params_bytes);
        let buffers = dispatch.buffers.iter().enumerate();
        let buffers =
            buffers.map(|(i, Place { buffer, offset, bytes, .. })| binding(i + 1, buffer, *offset, *bytes));
        self.device().create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &dispatch.pipeline.layout,
            entries: &std::iter::once(params).chain(buffers).collect::<Vec<_>>(),
        })
    }
}

fn unmappable(error: wgpu::BufferAsyncError) -> DeviceError {
    DeviceError::Launch { operation: "mapping a result".into(), reason: error.to_string() }
}
