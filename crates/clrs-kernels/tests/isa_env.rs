//! The environment variable `CLRS_ISA`, in processes of their own: a process reads it once.

use std::process::{Command, Output};

use clrs_kernels::Isa;

/// Set in child processes to what they print.
const CHILD: &str = "CLRS_KERNELS_TEST_CHILD";

/// Runs this test binary again with `CLRS_ISA` set.
fn child(isa: &str) -> Output {
    let program = std::env::current_exe().expect("a test binary has a path");
    let arguments = ["--exact", "selection_follows_the_environment", "--nocapture"];
    Command::new(program).args(arguments).env(CHILD, "1").env("CLRS_ISA", isa).output().expect("the test binary starts")
}

#[test]
#[expect(clippy::print_stdout, reason = "a child process reports to its parent")]
fn selection_follows_the_environment() {
    if std::env::var_os(CHILD).is_some() {
        let from_env = Isa::from_env().map_or_else(|error| error.to_string(), |isa| isa.to_string());
        println!("fastest: {}", Isa::available()[0]);
        println!("[{from_env}] [{}] [{}]", Isa::best(), Isa::best());
        return;
    }
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");

    let valid = child("portable");
    assert!(text(valid.stdout).contains("[portable] [portable] [portable]"));
    assert!(!text(valid.stderr).contains("warning: CLRS_ISA"));

    let unset = child("");
    let out = text(unset.stdout);
    // Not that of this process: it may run under valgrind, which supports fewer instruction sets.
    let fastest = out.lines().find_map(|line| line.split("fastest: ").nth(1)).expect("the child reports it").to_string();
    assert!(out.contains(&format!("[{fastest}] [{fastest}] [{fastest}]")), "{out}");
    assert!(!text(unset.stderr).contains("warning: CLRS_ISA"));

    let bogus = child("bogus");
    assert!(bogus.status.success(), "an invalid value must not panic");
    let out = text(bogus.stdout);
    assert!(out.contains("`bogus`") && out.contains(&format!("] [{fastest}] [{fastest}]")), "{out}");
    let warnings = text(bogus.stderr);
    assert_eq!(warnings.matches("warning: CLRS_ISA: unknown or unsupported instruction set `bogus`").count(), 1, "{warnings}");
}
