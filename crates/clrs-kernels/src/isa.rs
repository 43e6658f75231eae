//! Selection of the instruction set at run time, so that one build serves all machines.
//!
//! Every kernel is a [`Kernel`]: a struct of arguments with a method that is generic over the instruction set. [`Isa::run`]
//! instantiates that method once per instruction set, with the target features enabled, and calls the selected instance. A call
//! processes a tile of rows or more, so the cost of the dispatch is negligible.

use std::env::{self, VarError};
use std::error::Error;
use std::fmt;
use std::io::Write;
use std::str::FromStr;
use std::sync::OnceLock;

#[cfg(target_arch = "x86_64")]
use crate::simd::{Avx2, Avx512};
use crate::simd::{Portable, Simd};

/// Environment variable that selects an instruction set by name.
const VARIABLE: &str = "CLRS_ISA";

/// An instruction set that this machine supports.
///
/// # Examples
/// ```
/// use clrs_kernels::Isa;
///
/// let portable: Isa = "portable".parse()?;
/// assert_eq!(portable.name(), "portable");
/// assert!("avx1024".parse::<Isa>().is_err());
/// # Ok::<(), clrs_kernels::UnknownIsa>(())
/// ```
#[derive(Clone, Copy)]
pub struct Isa(Token);

/// Proof that the processor supports an instruction set.
#[derive(Clone, Copy)]
enum Token {
    #[cfg(target_arch = "x86_64")]
    Avx512(Avx512),
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2),
    Portable(Portable),
}

impl Isa {
    /// Returns the instruction set named by the environment variable `CLRS_ISA` (`avx512`, `avx2` or `portable`), or the fastest
    /// one if the variable is unset or empty.
    ///
    /// Programs should call this once at startup and report the error; [`Isa::best`] only warns.
    ///
    /// # Errors
    /// If the variable names an instruction set that does not exist or that this machine does not support.
    pub fn from_env() -> Result<Isa, UnknownIsa> {
        match env::var(VARIABLE) {
            Ok(name) if !name.is_empty() => name.parse(),
            Ok(_) | Err(VarError::NotPresent) => Ok(Isa::fastest()),
            Err(VarError::NotUnicode(name)) => name.to_string_lossy().parse(),
        }
    }

    /// Returns the result of [`Isa::from_env`], which is computed once per process.
    ///
    /// An invalid `CLRS_ISA` selects the fastest instruction set, and the first call writes a warning to standard error: kernels
    /// run deep inside a network, where an error could not be returned.
    pub fn best() -> Isa {
        static BEST: OnceLock<Isa> = OnceLock::new();
        *BEST.get_or_init(|| {
            Isa::from_env().unwrap_or_else(|error| {
                let fastest = Isa::fastest();
                // A closed standard error is no reason to fail.
                let _ = writeln!(std::io::stderr(), "warning: {VARIABLE}: {error}; using {fastest}");
                fastest
            })
        })
    }

    /// Returns all instruction sets that this machine supports, the fastest first. The last one is always `portable`.
    pub fn available() -> Vec<Isa> {
        let mut all = Vec::new();
        #[cfg(target_arch = "x86_64")]
        {
            all.extend(Avx512::detect().map(|token| Isa(Token::Avx512(token))));
            all.extend(Avx2::detect().map(|token| Isa(Token::Avx2(token))));
        }
        all.push(Isa(Token::Portable(Portable)));
        all
    }

    fn fastest() -> Isa {
        Isa::available()[0]
    }

    /// Returns `avx512`, `avx2` or `portable`.
    pub fn name(self) -> &'static str {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Token::Avx512(_) => "avx512",
            #[cfg(target_arch = "x86_64")]
            Token::Avx2(_) => "avx2",
            Token::Portable(_) => "portable",
        }
    }

    /// Returns whether multiply-add is fused, with one rounding. Instruction sets that agree in this give the same bits.
    pub fn has_fma(self) -> bool {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Token::Avx512(_) | Token::Avx2(_) => true,
            Token::Portable(_) => cfg!(any(target_arch = "aarch64", target_feature = "fma")),
        }
    }

    /// Runs a kernel on this instruction set.
    #[inline]
    pub(crate) fn run<K: Kernel>(self, kernel: K) -> K::Output {
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx512f")]
        fn avx512<K: Kernel>(token: Avx512, kernel: K) -> K::Output {
            kernel.run(token)
        }
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2,fma")]
        fn avx2<K: Kernel>(token: Avx2, kernel: K) -> K::Output {
            kernel.run(token)
        }
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: a token exists only if detection found the instructions.
            Token::Avx512(token) => unsafe { avx512(token, kernel) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Token::Avx2(token) => unsafe { avx2(token, kernel) },
            Token::Portable(token) => kernel.run(token),
        }
    }
}

impl FromStr for Isa {
    type Err = UnknownIsa;

    fn from_str(name: &str) -> Result<Isa, UnknownIsa> {
        Isa::available().into_iter().find(|isa| isa.name() == name).ok_or_else(|| UnknownIsa { name: name.into() })
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

/// The name of an instruction set that does not exist or that this machine does not support.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnknownIsa {
    /// The name.
    pub name: String,
}

impl fmt::Display for UnknownIsa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let available: Vec<&str> = Isa::available().into_iter().map(Isa::name).collect();
        write!(f, "unknown or unsupported instruction set `{}` (this machine supports {})", self.name, available.join(", "))
    }
}

impl Error for UnknownIsa {}

/// Arguments of a kernel, and the kernel itself, generic over the instruction set. `run` must be `#[inline(always)]`.
pub(crate) trait Kernel {
    type Output;
    fn run<S: Simd>(self, s: S) -> Self::Output;
}

#[cfg(test)]
mod tests {
    use super::Isa;

    #[test]
    fn every_available_isa_parses_from_its_name() {
        for isa in Isa::available() {
            assert_eq!(isa.name().parse::<Isa>().map(Isa::name), Ok(isa.name()));
        }
    }

    #[test]
    fn unknown_name_is_an_error_that_lists_what_is_available() {
        let error = "bogus".parse::<Isa>().expect_err("no such instruction set");
        assert_eq!(error.name, "bogus");
        let message = error.to_string();
        assert!(message.contains("`bogus`") && message.contains("portable"), "{message}");
    }
}
