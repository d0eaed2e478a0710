//! Commands in the order in which they take effect, and how they are cut into submits.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use bellwether_core::device::DeviceError;

use crate::buffer::{Place, Secrecy};
use crate::marks::Moment;
use crate::pacing::{EARLY, Pace, Prediction, TARGET};
use crate::pending::Signal;
use crate::pipelines::Pipeline;
use crate::staging::{Chunk, Landing, Uploads};
use crate::tower::{IN_FLIGHT, STAMPS};

/// Dispatches of one submit, which bounds the buffer of their parameters.
pub(crate) const DISPATCHES: usize = 1024;

/// One thing to do.
#[derive(Debug)]
pub(crate) enum Command {
    Dispatch(Dispatch),
    Clear(Place),
    Upload { chunk: Arc<Chunk>, offset: u64, to: Place },
    Read { from: Place, landing: Arc<Landing>, mapped: Arc<Signal> },
    Mark(Arc<Moment>),
}

/// Workgroups `first..first + groups` of a program.
#[derive(Clone, Debug)]
pub(crate) struct Dispatch {
    pub(crate) pipeline: Arc<Pipeline>,
    /// Parameters, with a place for `first_group` in front.
    pub(crate) params: Arc<[u32]>,
    pub(crate) buffers: Arc<[Place]>,
    pub(crate) first: u32,
    pub(crate) groups: u32,
    /// Field multiplications of one group.
    pub(crate) cost: u64,
}

/// What is recorded and not yet submitted.
#[derive(Debug, Default)]
pub(crate) struct Recorder {
    queue: VecDeque<Command>,
    /// So many commands at the front have to be submitted even if no more follow.
    forced: usize,
    /// Seconds of all of the queue, as predicted when they were recorded.
    backlog: f64,
    /// The chunk that uploads are being put in.
    open: Option<Arc<Chunk>>,
    bind_groups: BindGroups,
}

/// Bind groups of dispatches, by program and buffers. Making one takes 5.6 µs, ten times what wgpu takes to encode a
/// dispatch (wgpu 30, llvmpipe, 2 cores), and proofs after the first take the same buffers from the pool. With it, 500
/// dispatches are recorded in 0.2 ms and submitted in 0.9 ms more: 2.3 µs each, best of 24 rounds on a busy machine.
#[derive(Debug, Default)]
struct BindGroups(HashMap<(usize, Arc<[Place]>), wgpu::BindGroup>);

impl BindGroups {
    /// A Sapling proof has some 500 dispatches.
    const MOST: usize = 8192;

    fn get(&mut self, dispatch: &Dispatch, make: impl FnOnce() -> wgpu::BindGroup) -> wgpu::BindGroup {
        if self.0.len() >= Self::MOST {
            self.0.clear();
        }
        let key = (dispatch.pipeline.slot, Arc::clone(&dispatch.buffers));
        self.0.entry(key).or_insert_with(make).clone()
    }
}

/// Commands of one submit.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    pub(crate) commands: Vec<Command>,
    pub(crate) prediction: Prediction,
}

/// What bounds a submit besides its time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// Workgroups of one dispatch.
    pub(crate) groups: u32,
    /// Whether a mark has to be the end of its submit.
    pub(crate) marks_end: bool,
}

impl Recorder {
    pub(crate) fn push(&mut self, command: Command, pace: &Pace) {
        self.backlog += command.seconds(pace);
        self.queue.push_back(command);
    }

    /// Everything recorded so far has to be submitted.
    pub(crate) fn force(&mut self) {
        self.forced = self.queue.len();
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// Puts commands that were cut off back to the front.
    pub(crate) fn put_back(&mut self, commands: Vec<Command>, pace: &Pace) {
        self.forced += commands.len();
        for command in commands.into_iter().rev() {
            self.backlog += command.seconds(pace);
            self.queue.push_front(command);
        }
    }

    /// Drops everything recorded.
    pub(crate) fn abandon(&mut self) {
        *self = Recorder::default();
    }

    /// The bind group of a dispatch, made if there is none yet.
    pub(crate) fn bind_group(
        &mut self,
        dispatch: &Dispatch,
        make: impl FnOnce() -> wgpu::BindGroup,
    ) -> wgpu::BindGroup {
        self.bind_groups.get(dispatch, make)
    }

    /// Lets go of buffers that are kept for dispatches to come.
    pub(crate) fn trim(&mut self) {
        self.bind_groups = BindGroups::default();
    }

    /// Whether there is reason to submit now.
    pub(crate) fn is_ready(&self, in_flight: usize) -> bool {
        in_flight < IN_FLIGHT
            && (self.forced > 0 || self.backlog >= TARGET || (in_flight == 0 && self.backlog >= EARLY))
    }

    /// Puts words into a chunk: the chunk, the offset there and how many there was room for. `None` if all chunks are
    /// on their way.
    pub(crate) fn stage(
        &mut self,
        uploads: &Arc<Uploads>,
        words: &[u32],
        secrecy: Secrecy,
        beyond: bool,
    ) -> Result<Option<(Arc<Chunk>, u64, usize)>, DeviceError> {
        let open = self.open.take().filter(|chunk| chunk.room() >= 4 * words.len().min(1024) as u64);
        let chunk = match open {
            Some(chunk) => chunk,
            None => match uploads.take(beyond)? {
                Some(chunk) => Arc::new(chunk),
                None => return Ok(None),
            },
        };
        let count = words.len().min((chunk.room() / 4) as usize);
        let offset = chunk.fill(&words[..count], secrecy)?;
        self.open = Some(Arc::clone(&chunk));
        Ok(Some((chunk, offset, count)))
    }

    /// Lets go of the open chunk if a submit has taken it: what was secret in it is overwritten when nobody holds it.
    pub(crate) fn let_go(&mut self) {
        self.open.take_if(|chunk| chunk.room() == 0);
    }

    /// Takes from the front what one submit should do; the last dispatch may be a part of one.
    pub(crate) fn cut(&mut self, pace: &Pace, bounds: Bounds) -> Batch {
        let mut batch = Batch::default();
        let (mut dispatches, mut marks) = (0, 0);
        while let Some(mut command) = self.queue.pop_front() {
            let room = TARGET - batch.prediction.total;
            let mut rest = None;
            match &mut command {
                Command::Dispatch(dispatch) => {
                    let fitting = dispatch.fitting(pace, room, batch.commands.is_empty()).min(bounds.groups);
                    if fitting == 0 || dispatches == DISPATCHES {
                        self.queue.push_front(command);
                        break;
                    }
                    dispatches += 1;
                    rest = dispatch.split(fitting);
                }
                Command::Mark(_) => {
                    if marks == STAMPS - 2 {
                        self.queue.push_front(command);
                        break;
                    }
                    marks += 1;
                }
                _ if room <= 0.0 => {
                    self.queue.push_front(command);
                    break;
                }
                _ => {}
            }
            let seconds = command.seconds(pace);
            batch.prediction.add(command.program(), seconds);
            self.backlog -= seconds;
            let ends = bounds.marks_end && matches!(command, Command::Mark(_));
            batch.commands.push(command);
            match rest {
                Some(rest) => self.queue.push_front(Command::Dispatch(rest)),
                None => self.forced = self.forced.saturating_sub(1),
            }
            if ends {
                break;
            }
        }
        if self.queue.is_empty() {
            self.backlog = 0.0;
        }
        batch
    }
}

impl Command {
    fn seconds(&self, pace: &Pace) -> f64 {
        match self {
            Command::Dispatch(dispatch) => {
                pace.dispatch(dispatch.pipeline.slot, dispatch.cost, dispatch.groups)
            }
            Command::Clear(place) => pace.clear(place.bytes),
            Command::Upload { to: place, .. } => pace.upload(place.bytes),
            Command::Read { from: place, .. } => pace.read(place.bytes),
            Command::Mark(_) => 0.0,
        }
    }

    /// Tells who waits for the command, now or for what it writes later, that it will not be done.
    pub(crate) fn fail(&self, error: &DeviceError) {
        match self {
            Command::Dispatch(dispatch) => dispatch.written().for_each(|place| place.refuse(error)),
            Command::Clear(place) | Command::Upload { to: place, .. } => place.refuse(error),
            Command::Read { mapped: signal, .. } => signal.set(Err(error.clone())),
            Command::Mark(moment) => moment.signal.set(Err(error.clone())),
        }
    }

    /// Tells the same, if the command is about to read what a refused one should have written.
    pub(crate) fn inherit(&self) {
        let places = match self {
            Command::Dispatch(dispatch) => &dispatch.buffers[..],
            Command::Read { from, .. } => std::slice::from_ref(from),
            Command::Clear(_) | Command::Upload { .. } | Command::Mark(_) => &[],
        };
        if let Some(error) = places.iter().find_map(|place| place.refusal.get()) {
            self.fail(error);
        }
    }

    fn program(&self) -> Option<usize> {
        match self {
            Command::Dispatch(dispatch) => Some(dispatch.pipeline.slot),
            _ => None,
        }
    }
}

impl Dispatch {
    /// The buffers it writes.
    fn written(&self) -> impl Iterator<Item = &Place> {
        let buffers = self.buffers.iter().zip(self.pipeline.writes);
        buffers.filter(|(_, writes)| **writes).map(|(place, _)| place)
    }

    /// How many groups fit into so many seconds: all, if that is so; otherwise a number that leaves no scraps on
    /// either side; none, if the submit has other work and there is hardly any room. At least one if it is `alone`.
    fn fitting(&self, pace: &Pace, room: f64, alone: bool) -> u32 {
        let group = pace.group(self.pipeline.slot, self.cost);
        let fitting = if group > 0.0 { (room.max(0.0) / group) as u32 } else { u32::MAX };
        if fitting >= self.groups {
            return if room > 0.0 || alone { self.groups } else { 0 };
        }
        let fitting = if fitting >= 64 { fitting / 32 * 32 } else { fitting };
        match alone {
            true => fitting.max(1),
            false if room < TARGET / 4.0 => 0,
            false => fitting,
        }
    }

    /// Keeps the first `groups` groups and gives the rest, if any.
    fn split(&mut self, groups: u32) -> Option<Dispatch> {
        let left = self.groups - groups;
        if left == 0 {
            return None;
        }
        self.groups = groups;
        Some(Dispatch { first: self.first + groups, groups: left, ..self.clone() })
    }
}
