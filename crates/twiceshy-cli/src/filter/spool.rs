//! An input that can be read twice: once to count, once to build.

use std::fs::File;
use std::io::{Seek, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;

use crate::exit::{OrHint, Outcome};
use crate::keys::Input;
use crate::shell::Shell;

/// Copies of fewer bytes are made without a word.
const WORTH_A_WORD: u64 = 16 << 20;

/// A file, or a temporary copy of a stream.
#[derive(Debug)]
pub(super) enum Spool {
    /// A file that stays.
    Path(PathBuf),
    /// What came in a stream.
    Copy(File, String),
}

impl Spool {
    /// Makes an input readable as often as it takes: a file is, a stream is copied to disk.
    pub(super) fn of(path: &Path, shell: &Shell) -> Outcome<Self> {
        let input = Input::open(path, shell)?;
        if input.is_file() {
            return Ok(Spool::Path(path.to_owned()));
        }
        let spooling = || "make room in the directory for temporary files, or give `--capacity`";
        let mut copy = tempfile::tempfile()
            .context("can't make a temporary file")
            .or_hint(|| spooling().into())?;
        let bar = input.progress("copying", shell);
        let name = input.name().to_owned();
        let mut reader = input.into_reader();
        let mut buffer = vec![0; 1 << 17];
        let mut bytes = 0;
        loop {
            let read = reader
                .read(&mut buffer)
                .with_context(|| format!("can't read {name}"))?;
            if read == 0 {
                break;
            }
            copy.write_all(&buffer[..read])
                .context("can't write a temporary file")
                .or_hint(|| spooling().into())?;
            if bytes < WORTH_A_WORD && bytes + read as u64 >= WORTH_A_WORD {
                shell.note(
                    "the keys must be counted first, and this input can be read only once: \
                     copying it to a temporary file (`--capacity` spares that)",
                );
            }
            bytes += read as u64;
            bar.set(bytes);
        }
        Ok(Spool::Copy(copy, name))
    }

    /// The input from its start.
    pub(super) fn open(&mut self, shell: &Shell) -> Outcome<Input> {
        match self {
            Spool::Path(path) => Input::open(path, shell),
            Spool::Copy(file, name) => {
                file.rewind().context("can't read a temporary file")?;
                let again = file.try_clone().context("can't read a temporary file")?;
                Input::of_file(again, name.clone())
            }
        }
    }
}
