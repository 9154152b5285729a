//! Finds out whether the compiler has the 512-bit vectors of x86-64, stable since Rust 1.89: the
//! library compiles with older ones, and does without.

use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(twiceshy_has_avx512)");
    if minor_version().is_some_and(|minor| minor >= 89) {
        println!("cargo::rustc-cfg=twiceshy_has_avx512");
    }
}

/// `rustc 1.89.0 (29483883e 2025-08-04)` has minor version 89.
fn minor_version() -> Option<u32> {
    let compiler = std::env::var_os("RUSTC")?;
    let output = Command::new(compiler).arg("--version").output().ok()?;
    let version = String::from_utf8(output.stdout).ok()?;
    let mut numbers = version.strip_prefix("rustc 1.")?.split('.');
    numbers.next()?.parse().ok()
}
