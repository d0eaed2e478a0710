//! Memory of the device that somebody owns.

use std::ops::Range;
use std::sync::Arc;

use bellwether_kernels::Address;

use crate::gpu::Gpu;
use crate::runtime::Memory;

/// Whether contents have to be cleared when a buffer is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Secrecy {
    /// Keys, matrices, indices of variables.
    Public,
    /// Witness values and what is computed from them.
    Secret,
}

/// Words in the device's memory. Dropped, it is freed in the order of commands: those enqueued before are not affected.
#[derive(Debug)]
pub(crate) struct Buffer {
    gpu: Arc<Gpu>,
    /// `None` only while it is dropped.
    memory: Option<Memory>,
    words: usize,
    secrecy: Secrecy,
}

impl Buffer {
    /// A buffer of so many words, for which the memory has room.
    pub(crate) fn new(gpu: Arc<Gpu>, memory: Memory, words: usize, secrecy: Secrecy) -> Buffer {
        Buffer { gpu, memory: Some(memory), words, secrecy }
    }

    /// Length in words.
    pub(crate) fn words(&self) -> usize {
        self.words
    }

    /// The address of this word, which may be the one behind the last.
    pub(crate) fn at(&self, word: usize) -> Address {
        assert!(word <= self.words, "word {word} of {}", self.words);
        self.memory().address().words(word)
    }

    pub(crate) fn secrecy(&self) -> Secrecy {
        self.secrecy
    }

    /// The memory, after a check that the range is in the buffer.
    pub(crate) fn checked(&self, words: &Range<usize>) -> &Memory {
        assert!(words.start <= words.end && words.end <= self.words, "{words:?} of {} words", self.words);
        self.memory()
    }

    #[expect(clippy::expect_used, reason = "a buffer that can be named is not being dropped")]
    fn memory(&self) -> &Memory {
        self.memory.as_ref().expect("it has memory until it is dropped")
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if let Some(memory) = self.memory.take() {
            self.gpu.give_back(memory, self.words, self.secrecy);
        }
    }
}
