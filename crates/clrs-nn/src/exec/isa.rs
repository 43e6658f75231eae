//! The instruction set of the fused CPU operations, which the environment variable `CLRS_ISA` selects.

pub use clrs_kernels::{Isa, UnknownIsa};
