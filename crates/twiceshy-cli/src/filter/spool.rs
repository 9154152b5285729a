//! Hashes that wait until it is known how many there are.

use std::io::{Read, Seek, Write};

use anyhow::Context;
use tempfile::SpooledTempFile;

use crate::exit::{OrHint, Outcome};
use crate::shell::{Shell, Unit};

/// So many bytes are kept in memory. More go to a temporary file.
const IN_MEMORY: usize = 16 << 20;

/// Hashes that are read back at once.
const PIECE: usize = 1 << 12;

/// Hashes in the order in which they came, eight bytes each.
#[derive(Debug)]
pub(super) struct Spool {
    file: SpooledTempFile,
    hashes: u64,
}

impl Spool {
    pub(super) fn new() -> Self {
        Spool {
            file: SpooledTempFile::new(IN_MEMORY),
            hashes: 0,
        }
    }

    /// How many there are.
    pub(super) fn len(&self) -> u64 {
        self.hashes
    }

    /// Adds some.
    pub(super) fn write(&mut self, hashes: &[u64]) -> Outcome<()> {
        let bytes: Vec<u8> = hashes.iter().flat_map(|hash| hash.to_le_bytes()).collect();
        self.hashes += hashes.len() as u64;
        self.file
            .write_all(&bytes)
            .context("can't write a temporary file")
            .or_hint(|| {
                "make room in the directory for temporary files, or give `--capacity`".into()
            })
    }

    /// Gives all back, some at a time.
    pub(super) fn read(
        mut self,
        shell: &Shell,
        mut take: impl FnMut(&[u64]) -> Outcome<()>,
    ) -> Outcome<()> {
        let reading = "can't read a temporary file";
        let bar = shell.progress("building", Unit::Things, Some(self.hashes));
        self.file.rewind().context(reading)?;
        let mut bytes = vec![0; 8 * PIECE];
        let mut hashes = Vec::with_capacity(PIECE);
        let mut left = self.hashes;
        while left > 0 {
            let count = left.min(PIECE as u64);
            let bytes = &mut bytes[..8 * count as usize];
            self.file.read_exact(bytes).context(reading)?;
            let words = bytes.as_chunks().0.iter();
            hashes.clear();
            hashes.extend(words.map(|&word| u64::from_le_bytes(word)));
            take(&hashes)?;
            left -= count;
            bar.add(count);
        }
        Ok(())
    }
}
