//! All keys of an input, in memory.

use std::path::Path;

use super::{Format, Input};
use crate::exit::Outcome;
use crate::shell::Shell;

/// Keys one behind the other in one piece of memory.
#[derive(Debug, Default)]
pub(crate) struct Keys {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Keys {
    /// All keys of an input.
    pub(crate) fn read(path: &Path, format: Format, shell: &Shell) -> Outcome<Self> {
        let mut lines = Input::open(path, shell)?.lines_with_bar("reading keys", shell);
        let mut keys = Keys::default();
        while let Some(line) = lines.next_key(format)? {
            keys.push(line.key);
        }
        Ok(keys)
    }

    pub(crate) fn push(&mut self, key: &[u8]) {
        self.bytes.extend_from_slice(key);
        self.ends.push(self.bytes.len());
    }

    /// How many there are.
    pub(crate) fn len(&self) -> u64 {
        self.ends.len() as u64
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let mut start = 0;
        self.ends.iter().map(move |&end| {
            let key = &self.bytes[start..end];
            start = end;
            key
        })
    }

    pub(crate) fn slices(&self) -> Vec<&[u8]> {
        self.iter().collect()
    }
}
