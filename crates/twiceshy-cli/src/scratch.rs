//! Files and folders that are not to stay, for the owner alone.
//!
//! They go away when they are dropped, which is `tempfile`'s work; when a signal ends the process;
//! and, if that was killed, when the next one works in the same folder. For that, whoever has
//! one holds a lock, of the file itself or of a file in the folder: no lock, no owner.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, Once, PoisonError};
use std::time::Duration;

use tempfile::{Builder, NamedTempFile, TempDir};

/// The file in a folder that is locked.
const LOCK: &str = "in-use";

/// Whatever changed more recently may belong to a process that has not locked it yet.
const YOUNG: Duration = Duration::from_secs(60);

/// What a signal takes along.
static ALL: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// A folder that goes away.
#[derive(Debug)]
pub(crate) struct Folder {
    folder: TempDir,
    _lock: File,
    _doomed: Doomed,
}

impl Folder {
    /// A new one below `parent`, where those that were left are removed.
    pub(crate) fn new(parent: &Path, prefix: &str) -> io::Result<Self> {
        sweep(parent, prefix);
        let mut builder = Builder::new();
        builder.prefix(prefix);
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
        let folder = builder.tempdir_in(parent)?;
        let doomed = Doomed::new(folder.path());
        let lock = File::create(folder.path().join(LOCK))?;
        lock.lock()?;
        Ok(Folder {
            folder,
            _lock: lock,
            _doomed: doomed,
        })
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// A file that goes away unless it takes another's place.
#[derive(Debug)]
pub(crate) struct Part {
    file: NamedTempFile,
    _doomed: Doomed,
}

impl Part {
    const PREFIX: &str = ".twiceshy-";

    /// A new one in a folder, where those that were left are removed.
    pub(crate) fn new(folder: &Path) -> io::Result<Self> {
        sweep(folder, Self::PREFIX);
        let mut builder = Builder::new();
        let file = builder.prefix(Self::PREFIX).suffix(".part");
        let file = file.tempfile_in(folder)?;
        let doomed = Doomed::new(file.path());
        file.as_file().lock()?;
        Ok(Part {
            file,
            _doomed: doomed,
        })
    }

    pub(crate) fn file(&self) -> &File {
        self.file.as_file()
    }

    /// Puts it into its place.
    pub(crate) fn persist(self, path: &Path) -> io::Result<()> {
        self.file.persist(path)?;
        Ok(())
    }
}

/// A path that a signal takes along.
#[derive(Debug)]
struct Doomed(PathBuf);

impl Doomed {
    fn new(path: &Path) -> Self {
        static WATCH: Once = Once::new();
        WATCH.call_once(watch);
        // The process may change its folder, or the path be that of the folder it is in.
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        all(|paths| paths.insert(path.clone()));
        Doomed(path)
    }
}

impl Drop for Doomed {
    fn drop(&mut self) {
        all(|paths| paths.remove(&self.0));
    }
}

fn all<T>(change: impl FnOnce(&mut BTreeSet<PathBuf>) -> T) -> T {
    change(&mut ALL.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Waits for a signal that ends the process.
#[cfg(unix)]
fn watch() {
    use signal_hook::consts::{SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;

    let Ok(mut signals) = Signals::new([SIGINT, SIGTERM]) else {
        return; // the next process removes what is left
    };
    std::thread::spawn(move || {
        if let Some(signal) = signals.forever().next() {
            all(|paths| paths.iter().for_each(|path| remove(path)));
            let _ = signal_hook::low_level::emulate_default_handler(signal);
        }
    });
}

#[cfg(not(unix))]
fn watch() {}

fn remove(path: &Path) {
    // Others of our threads may still be adding to a folder.
    for _ in 0..3 {
        if path.is_dir() {
            let _ = fs::remove_dir_all(path);
        } else {
            let _ = fs::remove_file(path);
        }
    }
}

/// Removes what processes that were killed have left in a folder.
fn sweep(folder: &Path, prefix: &str) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries {
        let is_ours = entry.file_name().to_string_lossy().starts_with(prefix);
        if is_ours && is_abandoned(&entry.path()) {
            remove(&entry.path());
        }
    }
}

fn is_abandoned(path: &Path) -> bool {
    // Links are nobody's that we know.
    let Ok(metadata) = fs::symlink_metadata(path) else {
        return false;
    };
    let lock = match metadata.is_dir() {
        true => path.join(LOCK),
        false if metadata.is_file() => path.to_owned(),
        false => return false,
    };
    let age = metadata
        .modified()
        .ok()
        .and_then(|time| time.elapsed().ok());
    let is_free = match File::open(lock) {
        Ok(lock) => lock.try_lock().is_ok(),
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    };
    age.is_some_and(|age| age > YOUNG) && is_free
}
