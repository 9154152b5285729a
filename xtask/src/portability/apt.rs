//! Debian packages, fetched and unpacked below the target directory.
//!
//! apt gets a configuration, package lists and a cache of its own, so it needs no root,
//! knows other architectures without telling dpkg, and installs nothing: `dpkg -x` only
//! unpacks. Where packages come from, and through which proxy, the machine's own settings
//! say.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{Result, command};

/// Libraries that any machine with a C compiler has. Older ones must not get in the way of
/// its other programs.
const OF_THE_MACHINE: [&str; 3] = ["libc6", "libgcc-s1", "libstdc++6"];

/// apt with its state in a folder of its own.
pub(super) struct Apt {
    folder: PathBuf,
}

impl Apt {
    /// Prepares the folder, which must be an absolute path. Of the packages whose names
    /// begin with one of `pinned`, only `version` counts, newer ones or not.
    pub(super) fn new(
        folder: PathBuf,
        architectures: &[&str],
        pinned: &[&str],
        version: &str,
    ) -> Result<Self> {
        for tool in ["apt-get", "apt-cache", "dpkg"] {
            if !command::succeeds(Command::new(tool).arg("--version")) {
                return Err(format!(
                    "`{tool}` was not found: the compiler and emulators for other machines \
                     are Debian's packages, so this needs Debian 12 or a close relative"
                )
                .into());
            }
        }
        // Packages that an earlier run did not get to unpack may be of other versions.
        if folder.join("packages").exists() {
            fs::remove_dir_all(folder.join("packages"))?;
        }
        for part in ["lists/partial", "archives/partial", "packages"] {
            fs::create_dir_all(folder.join(part))?;
        }
        fs::write(folder.join("status"), "")?;
        fs::write(folder.join("preferences"), preferences(pinned, version))?;
        fs::write(
            folder.join("apt.conf"),
            configuration(&folder, architectures),
        )?;
        Ok(Self { folder })
    }

    /// Asks the package sources for what they have.
    pub(super) fn update(&self) -> Result {
        let mut update = self.tool("apt-get");
        update.args(["--quiet", "update"]);
        command::run(&mut update)
    }

    /// The packages and all that they depend on, for this machine, without the libraries
    /// that it has anyway.
    pub(super) fn with_dependencies(&self, packages: &[String]) -> Result<Vec<String>> {
        let mut depends = self.tool("apt-cache");
        depends.args(["depends", "--recurse", "--important"]);
        depends.args(packages);
        command::announce(&depends);
        Ok(names(&command::stdout(&mut depends)?))
    }

    /// Downloads packages and unpacks them below `root`.
    pub(super) fn unpack(&self, packages: &[String], root: &Path) -> Result {
        let downloads = self.folder.join("packages");
        let mut download = self.tool("apt-get");
        download.current_dir(&downloads);
        command::run(download.args(["--quiet", "download"]).args(packages))?;

        println!(
            "unpacking {} packages into {}",
            packages.len(),
            root.display()
        );
        fs::create_dir_all(root)?;
        for entry in fs::read_dir(&downloads)? {
            let package = entry?.path();
            if package.extension() == Some(OsStr::new("deb")) {
                let mut dpkg = Command::new("dpkg");
                dpkg.arg("-x").arg(&package).arg(root);
                command::stdout(&mut dpkg)?;
                fs::remove_file(package)?;
            }
        }
        Ok(())
    }

    fn tool(&self, name: &str) -> Command {
        let mut tool = Command::new(name);
        tool.arg("-c").arg(self.folder.join("apt.conf"));
        tool
    }
}

/// Read after the machine's settings. It also takes out what those would run after an
/// update, which is meant for the machine's own lists. The user that root downloads as is
/// root itself: another one may not enter the folder.
pub(crate) fn configuration(folder: &Path, architectures: &[&str]) -> String {
    let folder = folder.display();
    let architectures: String = architectures
        .iter()
        .map(|name| format!("\"{name}\"; "))
        .collect();
    format!(
        "Dir::State::lists \"{folder}/lists\";\n\
         Dir::State::status \"{folder}/status\";\n\
         Dir::Cache \"{folder}\";\n\
         Dir::Etc::preferences \"{folder}/preferences\";\n\
         #clear APT::Architectures;\n\
         APT::Architectures {{ {architectures}}};\n\
         APT::Sandbox::User \"root\";\n\
         #clear APT::Update::Post-Invoke;\n\
         #clear APT::Update::Post-Invoke-Success;\n"
    )
}

/// Above 1000 means: even if it is older than another one.
fn preferences(pinned: &[&str], version: &str) -> String {
    let packages: Vec<String> = pinned.iter().map(|name| format!("{name}*:any")).collect();
    format!(
        "Package: {}\nPin: version {version}.*\nPin-Priority: 1001\n",
        packages.join(" ")
    )
}

/// The names in the output of `apt-cache depends --recurse`: those at the beginning of a
/// line. `<…>` is a virtual package, and a colon marks another architecture.
fn names(depends: &str) -> Vec<String> {
    let is_name = |line: &&str| line.starts_with(|c: char| c.is_ascii_alphanumeric());
    depends
        .lines()
        .filter(is_name)
        .filter(|name| !name.contains(':') && !OF_THE_MACHINE.contains(name))
        .map(String::from)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_the_lines_that_are_not_indented() {
        let depends = "gcc-s390x-linux-gnu\n  Depends: binutils\n |Depends: <a>\n    b\n\
                       <c-compiler>\n  gcc\nlibc6\nbinutils\nbinutils:arm64\nlibstdc++6\n";
        assert_eq!(names(depends), ["gcc-s390x-linux-gnu", "binutils"]);
    }

    #[test]
    fn the_version_is_pinned_on_every_architecture() {
        assert_eq!(
            preferences(&["rustc-web", "libstd-rust-web-"], "1.85"),
            "Package: rustc-web*:any libstd-rust-web-*:any\n\
             Pin: version 1.85.*\nPin-Priority: 1001\n"
        );
    }

    #[test]
    fn apt_stays_in_its_folder() {
        let text = configuration(Path::new("/w/apt"), &["amd64", "s390x"]);
        assert!(text.contains("Dir::State::lists \"/w/apt/lists\";\n"));
        assert!(text.contains("APT::Architectures { \"amd64\"; \"s390x\"; };\n"));
    }
}
