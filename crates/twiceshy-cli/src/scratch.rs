//! Files and folders that are not to stay, for the owner alone.
//!
//! They go away when they are dropped, which is `tempfile`'s work; when a signal ends the process;
//! and, if that was killed, when the next one works in the same folder. For that, whoever has
//! one holds a lock, of the file itself or of a file in the folder: no lock, no owner.

use std::collections::BTreeSet;
use std::fs::{self, DirEntry, File};
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
        sweep(|entry| is_dir(entry) && has_name(entry, prefix, ""), parent);
        let mut builder = Builder::new();
        builder.prefix(prefix);
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
        let folder = builder.tempdir_in(parent)?;
        let doomed = Doomed::new(folder.path());
        let lock = File::create(folder.path().join(LOCK))?;
        hold(&lock)?;
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
    const SUFFIX: &str = ".part";

    /// A new one in a folder, where those that were left are removed.
    pub(crate) fn new(folder: &Path) -> io::Result<Self> {
        sweep(
            |entry| !is_dir(entry) && has_name(entry, Self::PREFIX, Self::SUFFIX),
            folder,
        );
        let mut builder = Builder::new();
        let file = builder.prefix(Self::PREFIX).suffix(Self::SUFFIX);
        let file = file.tempfile_in(folder)?;
        let doomed = Doomed::new(file.path());
        hold(file.as_file())?;
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

/// Locks what is ours. Where the file system has no locks, nobody takes it for abandoned either.
fn hold(file: &File) -> io::Result<()> {
    match file.lock() {
        Err(error) if error.kind() == io::ErrorKind::Unsupported => Ok(()),
        result => result,
    }
}

/// Removes what processes that were killed have left in a folder, of those entries that could be ours.
fn sweep(could_be_ours: impl Fn(&DirEntry) -> bool, folder: &Path) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries {
        if could_be_ours(&entry) && is_abandoned(&entry.path()) {
            remove(&entry.path());
        }
    }
}

fn is_dir(entry: &DirEntry) -> bool {
    entry.file_type().is_ok_and(|file_type| file_type.is_dir())
}

fn has_name(entry: &DirEntry, prefix: &str, suffix: &str) -> bool {
    let name = entry.file_name();
    let name = name.to_string_lossy();
    name.starts_with(prefix) && name.ends_with(suffix)
}

/// Is this a file that nobody has locked, or a folder with such a file in it, and old? A folder without one
/// is not ours.
fn is_abandoned(path: &Path) -> bool {
    // Links are nobody's that we know.
    let Ok(metadata) = fs::symlink_metadata(path) else {
        return false;
    };
    let lock = match metadata.is_dir() {
        true => path.join(LOCK),
        false => path.to_owned(),
    };
    // A pipe would have us wait.
    let is_file = fs::symlink_metadata(&lock).is_ok_and(|lock| lock.is_file());
    let age = metadata
        .modified()
        .ok()
        .and_then(|time| time.elapsed().ok());
    age.is_some_and(|age| age > YOUNG)
        && is_file
        && File::open(lock).is_ok_and(|lock| lock.try_lock().is_ok())
}
