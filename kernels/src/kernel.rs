//! What a kernel is to who launches it.

use std::ffi::c_void;
use std::marker::PhantomData;

use bellwether_core::curve::Group;

/// An address in a device's memory. In the host build it is one in the process's own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Address(pub u64);

impl Address {
    /// The address so many 32-bit words further on.
    #[must_use]
    pub fn words(self, words: usize) -> Address {
        Address(self.0 + 4 * words as u64)
    }
}

/// A translation unit of the kernels: a file of `cuda/`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Module {
    /// Chains of field operations, for tests and for a device's rates.
    Field,
    /// Witness, sparse product, selection, quotient, prefix sums.
    Scalar,
    /// Transforms.
    Ntt,
    /// Entries of multi-scalar products: digits, order, pairs.
    Entries,
    /// Points of one group: bases, sums, multiples.
    Points(Group),
}

impl Module {
    /// All modules.
    pub const ALL: [Module; 6] = [
        Module::Field,
        Module::Scalar,
        Module::Ntt,
        Module::Entries,
        Module::Points(Group::G1),
        Module::Points(Group::G2),
    ];

    /// The name of its file, without extension.
    pub const fn name(self) -> &'static str {
        match self {
            Module::Field => "field",
            Module::Scalar => "scalar",
            Module::Ntt => "ntt",
            Module::Entries => "entries",
            Module::Points(Group::G1) => "points_g1",
            Module::Points(Group::G2) => "points_g2",
        }
    }
}

/// The parameters of a kernel, in its order.
///
/// # Safety of launches
/// A launch copies as many bytes as the kernel declares from where each pointer points. That the fields are those of
/// the kernel is tested for every kernel against the host build, which knows both.
pub trait Parameters: Copy {
    /// The size of each in bytes.
    const SIZES: &'static [usize];

    /// Pointers to each, valid as long as `self` is borrowed.
    fn pointers(&self) -> Vec<*const c_void>;
}

/// An entry point that takes `P`.
#[derive(Debug)]
pub struct Kernel<P> {
    name: &'static str,
    module: Module,
    threads: u32,
    parameters: PhantomData<fn(P)>,
}

impl<P> Clone for Kernel<P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<P> Copy for Kernel<P> {}

impl<P: Parameters> Kernel<P> {
    /// An entry point of a module, or of the module of each group.
    pub(crate) const fn new(name: &'static str, module: Module, threads: u32) -> Self {
        Kernel { name, module, threads, parameters: PhantomData }
    }

    /// Its name in the sources, as which it is looked up.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Where it stands.
    pub const fn module(&self) -> Module {
        self.module
    }

    /// Threads of a block.
    pub const fn threads(&self) -> u32 {
        self.threads
    }

    /// Without the type of its parameters.
    pub(crate) const fn entry(&self) -> Entry {
        Entry { name: self.name, module: self.module, threads: self.threads, sizes: P::SIZES }
    }
}

/// A row of the table of kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its name in the sources.
    pub name: &'static str,
    /// Where it stands.
    pub module: Module,
    /// Threads of a block.
    pub threads: u32,
    /// Sizes of its parameters in bytes.
    pub sizes: &'static [usize],
}

/// Declares the parameters of kernels and the kernels that take them. One declaration:
///
/// ```text
/// /// What it does.
/// struct Quotient { a: Address, b: Address, count: u64 }
/// kernels { QUOTIENT = "quotient" in Module::Scalar, 256 threads; }
/// ```
///
/// With `groups` in place of `kernels`, and without a module, a constant is a pair: the kernel in G1 and that in G2,
/// whose names end in `_g1` and `_g2`. The whole is followed by `entries`, a function with a row for each.
macro_rules! declare_kernels {
    ($(
        $(#[$doc:meta])*
        struct $Parameters:ident { $($field:ident: $type:ty),* $(,)? }
        $kind:ident { $($kernels:tt)* }
    )*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, Debug)]
            #[allow(missing_docs, reason = "the kernel's own comment describes its parameters")]
            pub struct $Parameters { $(pub $field: $type),* }

            impl $crate::kernel::Parameters for $Parameters {
                const SIZES: &'static [usize] = &[$(size_of::<$type>()),*];

                fn pointers(&self) -> Vec<*const std::ffi::c_void> {
                    vec![$((&raw const self.$field).cast()),*]
                }
            }

            declare_kernels!(@$kind $Parameters $($kernels)*);
        )*

        /// A row for each kernel declared here.
        pub(crate) fn entries() -> Vec<$crate::kernel::Entry> {
            [$(declare_kernels!(@entries $kind $($kernels)*)),*].concat()
        }
    };
    (@kernels $Parameters:ident $($NAME:ident = $name:literal in $module:expr, $threads:literal threads;)*) => {
        $(
            #[doc = concat!("`", $name, "`")]
            pub const $NAME: $crate::kernel::Kernel<$Parameters> =
                $crate::kernel::Kernel::new($name, $module, $threads);
        )*
    };
    (@groups $Parameters:ident $($NAME:ident = $name:literal, $threads:literal threads;)*) => {
        $(
            #[doc = concat!("`", $name, "` in G1 and in G2")]
            pub const $NAME: [$crate::kernel::Kernel<$Parameters>; 2] = [
                $crate::kernel::Kernel::new(
                    concat!($name, "_g1"),
                    $crate::kernel::Module::Points(bellwether_core::curve::Group::G1),
                    $threads,
                ),
                $crate::kernel::Kernel::new(
                    concat!($name, "_g2"),
                    $crate::kernel::Module::Points(bellwether_core::curve::Group::G2),
                    $threads,
                ),
            ];
        )*
    };
    (@entries kernels $($NAME:ident = $name:literal in $module:expr, $threads:literal threads;)*) => {
        vec![$($NAME.entry()),*]
    };
    (@entries groups $($NAME:ident = $name:literal, $threads:literal threads;)*) => {
        vec![$($NAME[0].entry(), $NAME[1].entry()),*]
    };
}
pub(crate) use declare_kernels;

/// Of a pair, the kernel of a group.
pub fn of_group<P: Parameters>(kernels: &[Kernel<P>; 2], group: Group) -> &Kernel<P> {
    match group {
        Group::G1 => &kernels[0],
        Group::G2 => &kernels[1],
    }
}
