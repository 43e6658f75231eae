//! Which instructions a kernel runs on: chosen at run time, so that one build serves all machines.
//!
//! Every kernel is a [`Kernel`]: a value that holds its arguments and a function over any instruction set. [`Isa::run`] has
//! that function compiled once per instruction set, with its features turned on, and calls the right one. A call works on a
//! tile of rows or more, so that choosing costs nothing.

use std::fmt;
use std::sync::OnceLock;

#[cfg(target_arch = "x86_64")]
use crate::simd::{Avx2, Avx512};
use crate::simd::{Portable, Simd};

/// An instruction set that this machine has.
#[derive(Clone, Copy)]
pub struct Isa(Set);

#[derive(Clone, Copy)]
enum Set {
    #[cfg(target_arch = "x86_64")]
    Avx512(Avx512),
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2),
    Portable(Portable),
}

impl Isa {
    /// The fastest one, or the one that the environment variable `CLRS_ISA` names (`avx512`, `avx2`, `portable`), read once.
    /// A name that this machine does not have is ignored.
    pub fn best() -> Isa {
        static BEST: OnceLock<Isa> = OnceLock::new();
        *BEST.get_or_init(|| {
            let all = Isa::available();
            let wanted = std::env::var("CLRS_ISA").ok();
            all.iter().copied().find(|isa| wanted.as_deref() == Some(isa.name())).unwrap_or(all[0])
        })
    }

    /// All that this machine has, the fastest first. The last one is always the portable code.
    pub fn available() -> Vec<Isa> {
        let mut all = Vec::new();
        #[cfg(target_arch = "x86_64")]
        {
            all.extend(Avx512::detect().map(|set| Isa(Set::Avx512(set))));
            all.extend(Avx2::detect().map(|set| Isa(Set::Avx2(set))));
        }
        all.push(Isa(Set::Portable(Portable)));
        all
    }

    /// `avx512`, `avx2` or `portable`.
    pub fn name(self) -> &'static str {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Set::Avx512(_) => "avx512",
            #[cfg(target_arch = "x86_64")]
            Set::Avx2(_) => "avx2",
            Set::Portable(_) => "portable",
        }
    }

    /// Whether a product is rounded only after it was added. Instruction sets that agree in this give the same bits.
    pub fn has_fma(self) -> bool {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Set::Avx512(_) | Set::Avx2(_) => true,
            Set::Portable(_) => cfg!(any(target_arch = "aarch64", target_feature = "fma")),
        }
    }

    #[inline]
    pub(crate) fn run<K: Kernel>(self, kernel: K) -> K::Output {
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx512f")]
        fn avx512<K: Kernel>(set: Avx512, kernel: K) -> K::Output {
            kernel.run(set)
        }
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2,fma")]
        fn avx2<K: Kernel>(set: Avx2, kernel: K) -> K::Output {
            kernel.run(set)
        }
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `set` exists, so the processor was asked and has the instructions.
            Set::Avx512(set) => unsafe { avx512(set, kernel) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Set::Avx2(set) => unsafe { avx2(set, kernel) },
            Set::Portable(set) => kernel.run(set),
        }
    }
}

impl fmt::Display for Isa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Debug for Isa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Arguments, and what to do with them on any instruction set. `run` has to be `#[inline(always)]`.
pub(crate) trait Kernel {
    type Output;
    fn run<S: Simd>(self, s: S) -> Self::Output;
}
