//! Making a new database, whole or not at all.
//!
//! None of the databases promises that. Stopped while it makes its first files, each can leave
//! some that it will not open again: redb a file without its magic number, fjall a journal
//! without the marker beside it, LMDB roots that were never flushed. So a new one is made
//! aside, and gets its name when it is complete; what is left aside by a crash goes away.

use std::ffi::OsString;
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

use super::EngineError;
use crate::files::sync_names;

/// Makes the file or directory `path` with `make`, unless it is there. The caller holds a
/// [`Lock`] that keeps out others who do the same.
pub(super) fn create_whole(
    engine: &'static str,
    path: &Path,
    make: impl FnOnce(&Path) -> Result<(), EngineError>,
) -> Result<(), EngineError> {
    let failed = |error| EngineError::new(engine, "creating", error);
    if exists(path) {
        return Ok(());
    }
    let aside = beside(path, ".new");
    match fs::symlink_metadata(&aside) {
        Ok(leftover) if leftover.is_dir() => fs::remove_dir_all(&aside).map_err(failed)?,
        Ok(_) => fs::remove_file(&aside).map_err(failed)?,
        Err(_) => {}
    }
    make(&aside)?;
    if aside.is_dir() {
        sync_names(&aside).map_err(failed)?;
    }
    fs::rename(&aside, path).map_err(failed)?;
    match path.parent() {
        Some(parent) if parent.as_os_str().is_empty() => sync_names(Path::new(".")),
        Some(parent) => sync_names(parent),
        None => Ok(()),
    }
    .map_err(failed)
}

/// Is there a database? An empty file is none yet.
pub(super) fn exists(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| found.is_dir() || found.len() > 0)
}

/// A lock that ends with the process at the latest.
#[derive(Debug)]
pub(super) struct Lock(File);

impl Lock {
    /// The lock in this file.
    pub(super) fn take(engine: &'static str, path: &Path) -> Result<Self, EngineError> {
        let failed = |error| EngineError::new(engine, "opening", error);
        let file = File::create(path).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => Ok(Lock(file)),
            Err(TryLockError::WouldBlock) => Err(EngineError::new(
                engine,
                "opening",
                "the database is open already, here or in another process",
            )),
            Err(TryLockError::Error(error)) => Err(failed(error)),
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Closing the file would do, if it were the only copy: a process that another thread is
        // about to start has one until it runs its program.
        let _ = self.0.unlock();
    }
}

/// The same path with something at the end of its name.
pub(super) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    PathBuf::from(name)
}
