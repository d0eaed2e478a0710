//! The kernels compiled ahead of time.

use std::fmt;

use crate::kernel::Module;

/// A module compiled for an architecture.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Image {
    /// Compute capability, such as 90 for 9.0. Code runs on cards of the same first digit and no lower second one; text
    /// can be compiled for this and all higher ones.
    pub arch: u32,
    /// Whether it is text that the driver compiles (PTX), not code (a cubin).
    pub is_ptx: bool,
    /// As the driver takes it. Text is not ended by a zero.
    pub bytes: &'static [u8],
}

impl fmt::Debug for Image {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Image { arch, is_ptx, bytes } = self;
        write!(f, "Image {{ arch: {arch}, is_ptx: {is_ptx}, bytes: {} of them }}", bytes.len())
    }
}

include!(concat!(env!("OUT_DIR"), "/images.rs"));

/// The images of a module. Empty if none were embedded when this was built: then [`Module::source`] has to be compiled
/// at run time.
pub fn embedded(module: Module) -> &'static [Image] {
    IMAGES.iter().find(|(name, _)| *name == module.name()).map_or(&[], |(_, images)| images)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_module_has_the_same_images() {
        let of = |module| embedded(module).iter().map(|image| (image.arch, image.is_ptx)).collect::<Vec<_>>();
        for module in Module::ALL {
            assert_eq!(of(module), of(Module::Field));
            for image in embedded(module) {
                let start: &[u8] = if image.is_ptx { b"//" } else { b"\x7fELF" };
                assert!(image.bytes.starts_with(start) && image.bytes.as_ptr().addr() % 16 == 0);
            }
        }
        assert!(cfg!(feature = "embed") || embedded(Module::Field).is_empty());
    }
}
