//! A folder with the oldest supported compiler, the standard libraries of the targets,
//! their linkers and emulators:
//!
//! ```text
//! target/portability/apt    apt's lists, and packages while they are unpacked
//!                    root   what is in the packages, as it would be in /
//!                    bin    scripts that call the programs in `root`
//!                    build  what cargo makes
//!                    ready  what was fetched, written when all of it was there
//! ```
//!
//! The packages were made for `/`, hence the scripts: they say where libraries are.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::apt::Apt;
use super::targets::{TARGETS, Target};
use crate::workspace::Workspace;
use crate::{Result, command};

/// The compiler, and the beginning of the names of all packages of its version.
const PINNED: [&str; 2] = ["rustc-web", "libstd-rust-web-"];

/// What was fetched, ready for use.
pub(crate) struct Sysroot {
    folder: PathBuf,
}

impl Sysroot {
    /// The one that an earlier run has left, if it has a compiler of this version.
    pub(crate) fn found(workspace: &Workspace, version: &str) -> Option<Self> {
        let folder = workspace.root().join(workspace.target("portability"));
        let sysroot = Self { folder };
        let ready = fs::read_to_string(sysroot.ready()).ok()?;
        (ready == sysroot.contents(version)).then_some(sysroot)
    }

    /// The one that is there, or a new one.
    pub(super) fn get(workspace: &Workspace, version: &str) -> Result<Self> {
        if let Some(sysroot) = Self::found(workspace, version) {
            println!(
                "using the compiler and emulators in {}",
                sysroot.folder.display()
            );
            return Ok(sysroot);
        }
        let folder = workspace.root().join(workspace.target("portability"));
        if folder.to_string_lossy().contains(char::is_whitespace) {
            // Cargo splits the command of a runner at spaces.
            return Err(format!(
                "the path {} has a space in it, which cargo can't take here; \
                 set CARGO_TARGET_DIR to one that has none",
                folder.display()
            )
            .into());
        }
        println!(
            "fetching rustc {version}, linkers and emulators: 0.3 GB from Debian's packages, \
             1.5 GB unpacked, all of it in {}",
            folder.display()
        );
        let sysroot = Self { folder };
        sysroot.fetch(version).map_err(|error| {
            format!(
                "{error}\nThe packages are those of Debian 12; see above which of them the \
                 package sources of this machine don't offer."
            )
        })?;
        sysroot.write_scripts()?;
        sysroot.check(version)?;
        fs::write(sysroot.ready(), sysroot.contents(version))?;
        Ok(sysroot)
    }

    /// The compiler, for this machine and for every target.
    pub(crate) fn rustc(&self) -> PathBuf {
        self.script("rustc")
    }

    pub(super) fn linker(&self, target: &Target) -> PathBuf {
        self.script(&format!("{}-linker", target.name))
    }

    pub(super) fn runner(&self, target: &Target) -> PathBuf {
        self.script(&format!("{}-runner", target.name))
    }

    fn script(&self, name: &str) -> PathBuf {
        self.folder.join("bin").join(name)
    }

    fn root(&self) -> PathBuf {
        self.folder.join("root")
    }

    /// Written last.
    fn ready(&self) -> PathBuf {
        self.folder.join("ready")
    }

    /// What is fetched and to which place, as the scripts have it: a change of either
    /// fetches again.
    fn contents(&self, version: &str) -> String {
        let targets = TARGETS.map(|target| target.triple).join(" ");
        format!(
            "rustc {version} for {targets} in {}\n",
            self.folder.display()
        )
    }

    fn fetch(&self, version: &str) -> Result {
        // What is left of an older one, or of a run that was cut short.
        if self.ready().exists() {
            fs::remove_file(self.ready())?;
        }
        if self.root().exists() {
            fs::remove_dir_all(self.root())?;
        }
        let architectures: Vec<&str> = std::iter::once("amd64")
            .chain(TARGETS.iter().map(|target| target.debian))
            .collect();
        let apt = Apt::new(self.folder.join("apt"), &architectures, &PINNED, version)?;
        apt.update()?;
        // Not with its dependencies: among them is a C compiler, which is here already.
        let mut packages = vec![PINNED[0].into(), "qemu-user-static".into()];
        let mut tools = vec!["libstd-rust-web-dev".into()];
        for target in &TARGETS {
            tools.extend(target.tools());
            packages.push(target.std());
        }
        packages.extend(apt.with_dependencies(&tools)?);
        apt.unpack(&packages, &self.root())
    }

    /// Rustc starts the linkers, so they find their libraries as it does.
    fn write_scripts(&self) -> Result {
        let root = self.root();
        fs::create_dir_all(self.folder.join("bin"))?;
        let rustc = root.join("usr/bin/rustc");
        write_script(&self.rustc(), &libraries(&root), &rustc, "")?;
        for target in &TARGETS {
            let sysroot = format!("--sysroot='{}'", root.display());
            write_script(&self.linker(target), "", &target.linker(&root), &sysroot)?;
            let of_target = format!("-L '{}'", target.libraries(&root).display());
            write_script(
                &self.runner(target),
                "",
                &target.emulator(&root),
                &of_target,
            )?;
        }
        Ok(())
    }

    /// Is it the compiler that was wanted, and does it start?
    fn check(&self, version: &str) -> Result {
        let mut rustc = Command::new(self.rustc());
        let is = command::stdout(rustc.arg("--version"))?;
        print!("{is}");
        if is.starts_with(&format!("rustc {version}.")) {
            return Ok(());
        }
        Err(format!(
            "the package sources of this machine have no rustc-web {version} (Debian 12 has 1.85)"
        )
        .into())
    }
}

/// Writes a script that starts a program with some options before those that it is given.
fn write_script(path: &Path, before: &str, program: &Path, options: &str) -> Result {
    let program = program.display();
    if !fs::exists(program.to_string())? {
        return Err(format!(
            "no `{program}` in the packages that were fetched; their layout is that of Debian 12"
        )
        .into());
    }
    fs::write(
        path,
        format!("#!/bin/sh\n{before}exec '{program}' {options} \"$@\"\n"),
    )?;
    make_executable(path)
}

#[cfg(unix)]
fn make_executable(path: &Path) -> Result {
    use std::os::unix::fs::PermissionsExt;
    Ok(fs::set_permissions(
        path,
        fs::Permissions::from_mode(0o755),
    )?)
}

/// Elsewhere nothing is fetched, but the other chores have to compile.
#[cfg(not(unix))]
fn make_executable(_: &Path) -> Result {
    Err("scripts can't be made executable here".into())
}

/// The lines of a script that let programs find the libraries that were fetched with them.
fn libraries(root: &Path) -> String {
    let root = root.display();
    format!(
        "LD_LIBRARY_PATH='{root}/usr/lib/x86_64-linux-gnu:{root}/lib/x86_64-linux-gnu'\
         ${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}}\n\
         export LD_LIBRARY_PATH\n"
    )
}
