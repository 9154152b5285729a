//! Output files that are there whole or not at all.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use anyhow::Context;

use crate::exit::{OrHint, Outcome};

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
    let target = fs::canonicalize(path);
    let path = target.as_deref().unwrap_or(path);
    let written = match fs::metadata(path) {
        Ok(metadata) if !metadata.is_file() && !metadata.is_dir() => write_into(path, write),
        _ => write_beside(path, write),
    };
    written
        .with_context(|| format!("can't write {name}"))
        .or_hint(|| "make room or choose another path; nothing was replaced".into())
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
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let mut builder = tempfile::Builder::new();
    builder.prefix(".twiceshy-").suffix(".part");
    // As any other new file, not for the owner alone, as temporary files are.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let file = builder.tempfile_in(folder)?;
    let mut writer = BufWriter::with_capacity(1 << 18, &file);
    write(&mut writer)?;
    writer.flush()?;
    drop(writer);
    file.as_file().sync_all()?;
    file.persist(path)?;
    Ok(())
}
