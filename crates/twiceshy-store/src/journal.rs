//! What was learnt since the last image of the filter: the queries that it was wrong about.
//!
//! Each adaptation appends its query to a small file. After a crash they are asked again: where
//! the filter is wrong once more, it learns once more. That needs no trust in the file at all;
//! whatever it holds, asking does no harm.
//!
//! ```text
//!   | length u32 | check u32 | query … |  | length u32 | check u32 | query … |  …
//! ```
//!
//! The check is the lower half of the XXH3-64 of the query, seeded with its length. Reading
//! ends at the first entry that is cut off or wrong, and before another is added behind that
//! one, it is taken away.
//!
//! There are two such files and one is in use. While an image is being written, new entries go
//! to the other one; when it is safe, the first one is removed. So nothing is lost in between.

use std::io;

use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::files::Files;
use crate::sync::Mutex;

const NAMES: [&str; 2] = ["mistakes.0", "mistakes.1"];

/// Bytes after which an image is worth writing.
pub(crate) const LONG: u64 = 4 << 20;

/// Longer queries are not worth their bytes: after a crash, they may be mistaken once more.
const MAX_QUERY: u32 = 4 << 10;

#[derive(Debug, Default)]
pub(crate) struct Journal {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    active: usize,
    bytes: u64,
    /// What is learnt now is in the files already.
    muted: bool,
    /// Which files end with something that can't be read.
    is_torn: [bool; 2],
}

impl Journal {
    /// Adds a query. Says how long the file is now.
    pub(crate) fn append(&self, files: &dyn Files, query: &[u8]) -> io::Result<u64> {
        let length = match u32::try_from(query.len()) {
            Ok(length) if length <= MAX_QUERY => length,
            _ => return Ok(0),
        };
        let mut entry = Vec::with_capacity(8 + query.len());
        entry.extend_from_slice(&length.to_le_bytes());
        entry.extend_from_slice(&check(query).to_le_bytes());
        entry.extend_from_slice(query);
        let mut state = self.state.lock();
        if state.muted {
            return Ok(state.bytes);
        }
        let active = state.active;
        if state.is_torn[active] {
            mend(files, NAMES[active])?;
        }
        // Part of it may be there if it fails.
        state.is_torn[active] = true;
        files.append(NAMES[active], &entry)?;
        state.is_torn[active] = false;
        state.bytes += entry.len() as u64;
        Ok(state.bytes)
    }

    /// Runs `recall`, which learns again what the files say, without writing it down again.
    pub(crate) fn muted(&self, bytes: u64, recall: impl FnOnce()) {
        self.state.lock().muted = true;
        recall();
        let mut state = self.state.lock();
        state.muted = false;
        state.bytes = bytes;
    }

    /// From now on, entries go to the other file.
    pub(crate) fn turn_over(&self) {
        let mut state = self.state.lock();
        state.active = 1 - state.active;
        state.bytes = 0;
    }

    /// Removes the file that is not in use: an image has what it says.
    pub(crate) fn forget_old(&self, files: &dyn Files) -> io::Result<()> {
        let mut state = self.state.lock();
        let old = 1 - state.active;
        files.remove(NAMES[old])?;
        state.is_torn[old] = false;
        Ok(())
    }

    /// All queries in both files, the older ones of each first.
    pub(crate) fn read(&self, files: &dyn Files) -> io::Result<Vec<Vec<u8>>> {
        let mut queries = Vec::new();
        for (i, name) in NAMES.into_iter().enumerate() {
            let bytes = files.read(name)?.unwrap_or_default();
            let rest = read_whole(&bytes, |query| queries.push(query.to_vec()));
            self.state.lock().is_torn[i] = !rest.is_empty();
        }
        Ok(queries)
    }
}

/// Takes away what can't be read.
fn mend(files: &dyn Files, name: &str) -> io::Result<()> {
    let bytes = files.read(name)?.unwrap_or_default();
    let rest = read_whole(&bytes, |_| ());
    files.replace(name, &bytes[..bytes.len() - rest.len()])
}

/// Calls `each` with the whole entries at the front. Gives back what is behind them.
fn read_whole(bytes: &[u8], mut each: impl FnMut(&[u8])) -> &[u8] {
    let mut rest = bytes;
    while let Some((query, after)) = next(rest) {
        each(query);
        rest = after;
    }
    rest
}

fn check(query: &[u8]) -> u32 {
    xxh3_64_with_seed(query, query.len() as u64) as u32
}

fn next(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, bytes) = bytes.split_first_chunk()?;
    let (stored, bytes) = bytes.split_first_chunk()?;
    let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
    let (query, rest) = bytes.split_at_checked(length)?;
    (u32::from_le_bytes(*stored) == check(query)).then_some((query, rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::Directory;

    #[test]
    fn whole_entries_are_read_back_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let files = Directory::new(folder.path()).unwrap();
        let journal = Journal::default();
        for query in [&b"one"[..], b"", b"three"] {
            journal.append(&files, query).unwrap();
        }
        let all = journal.read(&files).unwrap();
        assert_eq!(all, [b"one".to_vec(), b"".to_vec(), b"three".to_vec()]);
        // Cut anywhere, the whole entries before the cut are left.
        let bytes = files.read(NAMES[0]).unwrap().unwrap();
        for end in 0..bytes.len() {
            files.replace(NAMES[0], &bytes[..end]).unwrap();
            let read = journal.read(&files).unwrap();
            assert_eq!(read, all[..read.len()]);
            assert_eq!(
                read.len(),
                [0, 1, 2][usize::from(end >= 11) + usize::from(end >= 19)]
            );
        }
        // Turned over, the old file goes and the new one stays.
        files.replace(NAMES[0], &bytes).unwrap();
        journal.turn_over();
        journal.append(&files, b"four").unwrap();
        assert_eq!(journal.read(&files).unwrap().len(), 4);
        journal.forget_old(&files).unwrap();
        assert_eq!(journal.read(&files).unwrap(), [b"four"]);
    }
}
