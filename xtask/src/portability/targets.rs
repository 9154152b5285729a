//! The machines that the tests are carried to.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::sysroot::Sysroot;

/// A kind of machine, under the three names that it goes by.
pub(super) struct Target {
    /// What `--only` calls it, and qemu.
    pub(super) name: &'static str,
    /// Rust's name.
    pub(super) triple: &'static str,
    /// Debian's name, in packages.
    pub(super) debian: &'static str,
    /// GNU's name, in tools and folders.
    pub(super) gnu: &'static str,
    /// Why it is here.
    pub(super) about: &'static str,
}

/// Every machine, in the order in which they are visited.
pub(super) const TARGETS: [Target; 2] = [
    Target {
        name: "aarch64",
        triple: "aarch64-unknown-linux-gnu",
        debian: "arm64",
        gnu: "aarch64-linux-gnu",
        about: "little-endian, without the x86 instructions",
    },
    Target {
        name: "s390x",
        triple: "s390x-unknown-linux-gnu",
        debian: "s390x",
        gnu: "s390x-linux-gnu",
        about: "big-endian",
    },
];

impl Target {
    /// The packages, built for this machine, with what programs for the other one need.
    pub(super) fn tools(&self) -> [String; 2] {
        [
            format!("gcc-{}", self.gnu),
            format!("libc6-dev-{}-cross", self.debian),
        ]
    }

    /// The standard library, a package built for the other machine.
    pub(super) fn std(&self) -> String {
        format!("libstd-rust-web-dev:{}", self.debian)
    }

    /// Links programs for the other machine.
    pub(super) fn linker(&self, root: &Path) -> PathBuf {
        root.join(format!("usr/bin/{}-gcc", self.gnu))
    }

    /// Runs programs of the other machine.
    pub(super) fn emulator(&self, root: &Path) -> PathBuf {
        root.join(format!("usr/bin/qemu-{}-static", self.name))
    }

    /// The root of what the other machine's programs are linked with.
    pub(super) fn libraries(&self, root: &Path) -> PathBuf {
        root.join(format!("usr/{}", self.gnu))
    }

    /// Lets cargo compile for this target and run what it has compiled.
    pub(super) fn configure(&self, cargo: &mut Command, sysroot: &Sysroot) {
        cargo.args(["--target", self.triple]);
        cargo.env("RUSTC", sysroot.rustc());
        cargo.env(self.variable("LINKER"), sysroot.linker(self));
        cargo.env(self.variable("RUNNER"), sysroot.runner(self));
    }

    /// The environment variable that cargo reads one of the target's settings from.
    fn variable(&self, setting: &str) -> String {
        let triple = self.triple.to_uppercase().replace('-', "_");
        format!("CARGO_TARGET_{triple}_{setting}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cargo_reads_settings_under_upper_case_names() {
        let variable = TARGETS[1].variable("RUNNER");
        assert_eq!(variable, "CARGO_TARGET_S390X_UNKNOWN_LINUX_GNU_RUNNER");
    }

    #[test]
    fn packages_carry_debians_names() {
        let [gcc, libc] = TARGETS[0].tools();
        assert_eq!(gcc, "gcc-aarch64-linux-gnu");
        assert_eq!(libc, "libc6-dev-arm64-cross");
        assert_eq!(TARGETS[0].std(), "libstd-rust-web-dev:arm64");
    }
}
