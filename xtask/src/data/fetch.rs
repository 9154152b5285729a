//! Packages by name: downloaded and unpacked, nothing installed.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::portability::apt;
use crate::{Result, command};

/// Where a set comes from.
pub(super) enum Package {
    /// npm's registry.
    Npm(&'static str),
    /// The sources of this Debian or of a relative.
    Debian(&'static str),
    /// The Python package index.
    Pip(&'static str),
    /// Debian's list of all files of its packages for amd64, the same on every machine.
    Contents,
}

impl fmt::Display for Package {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Package::Npm(name) => write!(f, "npm package {name}"),
            Package::Debian(name) => write!(f, "Debian package {name}"),
            Package::Pip(name) => write!(f, "Python package {name}"),
            Package::Contents => write!(f, "Debian's Contents"),
        }
    }
}

impl Package {
    /// Downloads the package and unpacks it into a folder that is there and empty.
    pub(super) fn fetch(&self, folder: &Path) -> Result {
        let (tool, args, name) = match *self {
            Package::Npm(name) => ("npm", &["pack", "--silent"][..], name),
            Package::Debian(name) => ("apt-get", &["--quiet", "download"][..], name),
            Package::Pip(name) => ("pip", &["download", "--quiet", "--no-deps"][..], name),
            Package::Contents => return contents(folder),
        };
        if !command::succeeds(Command::new(tool).arg("--version")) {
            return Err(format!("`{tool}` was not found, and {self} is fetched with it").into());
        }
        let here = |program: &str| {
            let mut command = Command::new(program);
            command.current_dir(folder);
            command
        };
        command::run(here(tool).args(args).arg(name))?;
        for archive in files(folder)? {
            let extension = archive.extension().and_then(|extension| extension.to_str());
            let mut unpack = match extension {
                Some("deb") => here("dpkg-deb"),
                Some("whl" | "zip") => here("unzip"),
                _ => here("tar"),
            };
            match extension {
                Some("deb") => unpack.arg("-x").arg(&archive).arg("."),
                Some("whl" | "zip") => unpack.arg("-q").arg(&archive),
                _ => unpack.arg("-xzf").arg(&archive),
            };
            command::run(&mut unpack)?;
            fs::remove_file(&archive)?;
        }
        Ok(())
    }
}

/// Asks the machine's own Debian sources for their contents, and for nothing else.
///
/// apt has its state in a folder of its own, checks the signatures, and leaves files that
/// `apt-helper` can read.
fn contents(folder: &Path) -> Result {
    const TARGET: &str = "#clear Acquire::IndexTargets;\n\
         Acquire::IndexTargets::deb::Contents-deb {\n\
         MetaKey \"$(COMPONENT)/Contents-amd64\";\n\
         ShortDescription \"Contents\";\n\
         Description \"$(RELEASE)/$(COMPONENT) Contents\";\n\
         KeepCompressed \"true\";\n\
         };\n";
    if !command::succeeds(Command::new("apt-get").arg("--version")) {
        return Err("`apt-get` was not found, and Debian's Contents are fetched with it".into());
    }
    let folder = fs::canonicalize(folder)?;
    fs::create_dir_all(folder.join("lists/partial"))?;
    fs::write(folder.join("status"), "")?;
    let settings = apt::configuration(&folder, &["amd64"]) + TARGET;
    fs::write(folder.join("apt.conf"), settings)?;
    let mut update = Command::new("apt-get");
    update.arg("-c").arg(folder.join("apt.conf"));
    command::run(update.args(["--quiet", "update"]))
}

/// The files of a folder, not those of its folders.
fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_file() {
            files.push(path);
        }
    }
    Ok(files)
}

/// All files below a folder, in order.
pub(super) fn files_below(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = files(folder)?;
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            files.extend(files_below(&path)?);
        }
    }
    files.sort();
    Ok(files)
}
