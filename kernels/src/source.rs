//! The text of the kernels, for compilation at run time.

use crate::kernel::Module;

/// A file that modules include.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// As which it is included.
    pub name: &'static str,
    /// Its text.
    pub text: &'static str,
}

include!(concat!(env!("OUT_DIR"), "/sources.rs"));

impl Module {
    /// The text of its file. The headers that it includes are among [`HEADERS`].
    pub fn source(self) -> &'static str {
        SOURCES.iter().find(|header| header.name == self.name()).map_or("", |header| header.text)
    }
}
