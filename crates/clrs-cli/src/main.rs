//! The binary `clrs`.

use std::process::ExitCode;

#[cfg(feature = "networks")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    clrs_cli::run(std::env::current_exe().ok(), std::env::args_os()).into()
}
