//! `cargo xtask asan`: the library's tests under AddressSanitizer.
//!
//! The code of the library and of its tests is instrumented, so a read or write outside
//! of an allocation ends the run with a report, in unsafe code as well. The sanitizer is
//! a nightly feature, and naming the target keeps build scripts out of it.

use std::process::Command;

use crate::workspace::Workspace;
use crate::{Result, command, suite};

/// Where the compiler has the sanitizer, and people have the machine.
const TARGET: &str = "x86_64-unknown-linux-gnu";

/// How much to run.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Divide the work of the longest tests by this.
    #[arg(long, default_value_t = suite::DEFAULT_SHARE, value_parser = clap::value_parser!(u32).range(1..))]
    share: u32,
}

pub(crate) fn run(args: &Args) -> Result {
    // A check must not install a compiler behind anyone's back.
    let mut probe = Command::new("rustc");
    probe.args(["+nightly", "--version"]);
    if !command::succeeds(probe.env("RUSTUP_AUTO_INSTALL", "0")) {
        return Err("the sanitizer needs a nightly compiler, and there is none \
                    (`rustup toolchain list`): rustup toolchain install nightly"
            .into());
    }
    let workspace = Workspace::load()?;
    let mut cargo = suite::cargo(&workspace, "asan", args.share);
    cargo.args(["--target", TARGET]);
    // What `cargo +nightly` would set.
    cargo.env("RUSTUP_TOOLCHAIN", "nightly");
    let flags = std::env::var("RUSTFLAGS").unwrap_or_default();
    let flags = format!("{flags} -Zsanitizer=address");
    cargo.env("RUSTFLAGS", flags.trim());
    let tally = suite::run(&mut cargo)?;
    println!("\nAddressSanitizer, {TARGET}: {tally}");
    Ok(())
}
