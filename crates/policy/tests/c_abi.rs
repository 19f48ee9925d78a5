//! The header and the library agree: a C program that knows only the header loads the library as MPI does.

#![allow(clippy::unwrap_used)]

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The C compiler to call, if there is one.
fn compiler() -> Option<String> {
    let name = env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    let works = Command::new(&name).arg("--version").output().is_ok_and(|run| run.status.success());
    if !works {
        eprintln!("skipped: no C compiler ({name}), set CC");
    }
    works.then_some(name)
}

fn own(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// The library, which is built into the folder of this test.
fn library() -> PathBuf {
    let folder = env::current_exe().unwrap().parent().unwrap().to_owned();
    let name = format!("{}runflat_policy{}", env::consts::DLL_PREFIX, env::consts::DLL_SUFFIX);
    folder.join(name)
}

fn succeeds(command: &mut Command) {
    let run = command.output().unwrap();
    let said = [run.stdout, run.stderr].concat();
    assert!(run.status.success(), "{command:?}\n{}", String::from_utf8_lossy(&said));
}

const STRICT: [&str; 4] = ["-std=c11", "-Wall", "-Wextra", "-Werror"];

#[test]
fn a_c_program_gets_what_the_header_says() {
    let Some(compiler) = compiler() else { return };
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("c_abi");
    let mut compile = Command::new(&compiler);
    compile.args(STRICT).arg("-I").arg(own("include")).arg(own("tests/c_abi.c"));
    succeeds(compile.arg("-o").arg(&program).arg("-ldl"));
    succeeds(Command::new(&program).arg(library()));
}

#[test]
fn the_header_stands_alone() {
    let Some(compiler) = compiler() else { return };
    let mut check = Command::new(&compiler);
    check.args(STRICT).args(["-pedantic", "-fsyntax-only", "-x", "c"]);
    succeeds(check.arg(own("include/runflat_policy.h")));
}
