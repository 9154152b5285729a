//! Where filter files live.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// A place for a few small-named files: a directory, or something that tests can break.
///
/// Nothing that a store keeps here is the truth; the engine is. A file that is missing or
/// damaged costs time when the store is opened, never a record.
pub trait Files: Send + Sync {
    /// The whole file, or `None` if there is none.
    ///
    /// # Errors
    /// The file system's.
    fn read(&self, name: &str) -> io::Result<Option<Vec<u8>>>;

    /// Writes a file anew. When it returns, the new contents survive a loss of power; until
    /// then, the old ones do. There is never a mixture.
    ///
    /// # Errors
    /// The file system's. The file is as it was, or as it should be.
    fn replace(&self, name: &str, contents: &[u8]) -> io::Result<()>;

    /// Adds bytes at the end of a file, or of an empty one. They survive a crash of the
    /// process, but not a loss of power; then, any part of them may be missing or wrong.
    ///
    /// # Errors
    /// The file system's. Part of the bytes may be there.
    fn append(&self, name: &str, bytes: &[u8]) -> io::Result<()>;

    /// Removes a file, if it is there. May be undone by a loss of power.
    ///
    /// # Errors
    /// The file system's.
    fn remove(&self, name: &str) -> io::Result<()>;
}

/// Files in a directory of their own.
#[derive(Clone, Debug)]
pub struct Directory {
    path: PathBuf,
    /// The file that was appended to last: opening it takes longer than writing to it.
    appending: Arc<Mutex<Option<(String, File)>>>,
}

impl Directory {
    /// In this directory, which is made if it is not there.
    ///
    /// # Errors
    /// The file system's.
    pub fn new(path: impl AsRef<Path>) -> io::Result<Self> {
        fs::create_dir_all(&path)?;
        Ok(Directory {
            path: path.as_ref().to_owned(),
            appending: Arc::default(),
        })
    }

    fn forget(&self, name: &str) {
        let mut appending = self
            .appending
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if appending.as_ref().is_some_and(|(open, _)| open == name) {
            *appending = None;
        }
    }
}

/// Makes what happened to the names in a directory safe from a loss of power.
pub(crate) fn sync_names(directory: &Path) -> io::Result<()> {
    // Windows has no such call, and needs none: its file systems keep a journal of names.
    if cfg!(unix) {
        File::open(directory)?.sync_all()?;
    }
    Ok(())
}

impl Files for Directory {
    fn read(&self, name: &str) -> io::Result<Option<Vec<u8>>> {
        let mut file = match File::open(self.path.join(name)) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let mut contents = Vec::new();
        file.read_to_end(&mut contents)?;
        Ok(Some(contents))
    }

    fn replace(&self, name: &str, contents: &[u8]) -> io::Result<()> {
        self.forget(name);
        let aside = self.path.join(format!("{name}.new"));
        let mut file = File::create(&aside)?;
        file.write_all(contents)?;
        file.sync_all()?;
        drop(file);
        fs::rename(&aside, self.path.join(name))?;
        sync_names(&self.path)
    }

    fn append(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let mut appending = self
            .appending
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        match &mut *appending {
            Some((open, file)) if open == name => file.write_all(bytes),
            _ => {
                let path = self.path.join(name);
                let mut file = OpenOptions::new().create(true).append(true).open(path)?;
                file.write_all(bytes)?;
                *appending = Some((name.to_owned(), file));
                Ok(())
            }
        }
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.forget(name);
        match fs::remove_file(self.path.join(name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}

/// No files: the filter is built from the engine's keys whenever a store is opened.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoFiles;

impl Files for NoFiles {
    fn read(&self, _name: &str) -> io::Result<Option<Vec<u8>>> {
        Ok(None)
    }

    fn replace(&self, _name: &str, _contents: &[u8]) -> io::Result<()> {
        Ok(())
    }

    fn append(&self, _name: &str, _bytes: &[u8]) -> io::Result<()> {
        Ok(())
    }

    fn remove(&self, _name: &str) -> io::Result<()> {
        Ok(())
    }
}
