//! Output files that are there whole or not at all.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use crate::exit::{OrHint, Outcome};
use crate::scratch::Part;

/// What is wrong with a file that the library could not open, and what to do.
pub(crate) fn explain(path: &Path, error: twiceshy::Error) -> anyhow::Error {
    use twiceshy::Error;
    let name = path.display();
    match error {
        Error::Format { reason } if reason.contains("YES/NO list (") => {
            anyhow::anyhow!("{name} is no filter: {reason}; use `twiceshy list`")
        }
        Error::Format { reason } if reason.contains("no YES/NO list") => {
            anyhow::anyhow!("{name} is no list: {reason}; use `twiceshy filter`")
        }
        Error::Format { reason } => anyhow::anyhow!(
            "{name} is no file that this program can open: {reason}; check the path, and that \
             this version is not older than the file"
        ),
        Error::Corrupt { reason } => anyhow::anyhow!(
            "{name} is damaged: {reason}; take another copy of it, or build it again from its keys"
        ),
        Error::Io { reason, .. } => anyhow::anyhow!("can't read {name}: {reason}; check the path"),
        other => anyhow::Error::from(other).context(format!("can't open {name}")),
    }
}

/// The length of a file, if it has one.
pub(crate) fn length(file: &File) -> Option<u64> {
    let metadata = file.metadata().ok()?;
    metadata.is_file().then_some(metadata.len())
}

/// Refuses a file that is longer or shorter than it says itself.
pub(crate) fn check_length(path: &Path, length: Option<u64>, expected: u64) -> Outcome<()> {
    match length {
        Some(length) if length != expected => Err(explain(
            path,
            twiceshy::Error::Corrupt {
                reason: format!("it has {length} bytes, and says itself that it has {expected}"),
            },
        )),
        _ => Ok(()),
    }
}

/// Writes a file: beside it first, then in its place, so that neither a crash nor a full disk
/// leaves half of it or takes the old one away. `-` is standard output; a device or a pipe is
/// written as it is.
pub(crate) fn replace(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Outcome<()> {
    if is_stdout(path) {
        let mut out = BufWriter::new(io::stdout().lock());
        let written = write(&mut out).and_then(|()| out.flush());
        return written.context("can't write to standard output");
    }
    let name = path.display();
    // What a link points at is replaced, not the link.
    let path = &behind_links(path);
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    match fs::metadata(path) {
        Ok(metadata) if !metadata.is_file() && !metadata.is_dir() => {
            write_into(path, write).with_context(|| format!("can't write {name}"))
        }
        _ => {
            write_beside(path, folder, write)
                .with_context(|| format!("can't write {name}"))
                .or_hint(|| "make room or choose another path; nothing was replaced".into())?;
            sync_names(folder).with_context(|| format!("{name} is written, but may not stay"))
        }
    }
}

/// Refuses to write a file in the place of one that is read.
pub(crate) fn refuse_to_replace<'p>(
    out: &Path,
    inputs: impl IntoIterator<Item = &'p Path>,
) -> Outcome<()> {
    // What is not there yet is no input.
    let Ok(place) = fs::canonicalize(out) else {
        return Ok(());
    };
    if is_stdout(out) {
        return Ok(());
    }
    for input in inputs.into_iter().filter(|input| !is_stdout(input)) {
        if fs::canonicalize(input).is_ok_and(|input| input == place) && place.is_file() {
            bail!(
                "{} is read, and would be overwritten; write to another path",
                input.display()
            );
        }
    }
    Ok(())
}

/// Does `-` stand for standard output here?
pub(crate) fn is_stdout(path: &Path) -> bool {
    path == Path::new("-")
}

fn write_into(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut file = BufWriter::new(fs::OpenOptions::new().write(true).open(path)?);
    write(&mut file)?;
    file.flush()
}

fn write_beside(
    path: &Path,
    folder: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let part = Part::new(folder)?;
    let mut writer = BufWriter::with_capacity(1 << 18, part.file());
    write(&mut writer)?;
    writer.flush()?;
    drop(writer);
    allow_as_before(part.file(), path, folder)?;
    part.file().sync_all()?;
    part.persist(path)
}

/// Makes the name of a file safe from a loss of power.
fn sync_names(folder: &Path) -> io::Result<()> {
    // Windows has no such call, and needs none: its file systems keep a journal of names.
    if cfg!(unix) {
        use io::ErrorKind::{InvalidInput, PermissionDenied, Unsupported};
        return match File::open(folder).and_then(|folder| folder.sync_all()) {
            // Folders that may not be read, and file systems that sync no folders.
            Err(error) if matches!(error.kind(), InvalidInput | PermissionDenied | Unsupported) => {
                Ok(())
            }
            result => result,
        };
    }
    Ok(())
}

/// The path behind all symbolic links, also where nothing is there yet.
fn behind_links(path: &Path) -> PathBuf {
    let mut path = path.to_owned();
    // As many as Linux follows.
    for _ in 0..40 {
        let Ok(target) = fs::read_link(&path) else {
            break;
        };
        path.pop();
        path.push(target);
    }
    path
}

/// Gives a file, which is its owner's alone so far, the mode and the owner of the one in whose place
/// it goes, or those of any other new file of the folder.
#[cfg(unix)]
fn allow_as_before(file: &File, path: &Path, folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};

    let Ok(old) = fs::metadata(path) else {
        // Only a new file shows what the process lets others do.
        let mut builder = tempfile::Builder::new();
        builder.permissions(PermissionsExt::from_mode(0o666));
        let new = builder.tempfile_in(folder)?;
        return file.set_permissions(new.as_file().metadata()?.permissions());
    };
    let mut mode = old.permissions().mode();
    if fchown(file, Some(old.uid()), Some(old.gid())).is_err()
        && fchown(file, None, Some(old.gid())).is_err()
    {
        // What its group might do is not for another one.
        mode &= !0o070;
    }
    file.set_permissions(PermissionsExt::from_mode(mode))
}

#[cfg(not(unix))]
fn allow_as_before(_: &File, _: &Path, _: &Path) -> io::Result<()> {
    Ok(())
}
