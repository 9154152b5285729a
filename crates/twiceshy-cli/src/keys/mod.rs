//! Keys from the outside: as arguments, in files and on standard input.
//!
//! Text comes in lines; of each one `\n`, and a `\r` before it, are dropped, and the rest is
//! the key, in one of the [formats](Format). Lines are read one at a time into one buffer, so
//! inputs of any size take constant memory.

mod format;
mod hash;
mod lines;
mod memory;
mod questions;

use std::ffi::OsStr;
use std::path::Path;

use anyhow::bail;
use clap::Args;

pub(crate) use self::format::Format;
pub(crate) use self::hash::HashArg;
pub(crate) use self::lines::{Input, Lines, is_stdin};
pub(crate) use self::memory::Keys;
pub(crate) use self::questions::{Line, Questions, Reply};

use crate::exit::Outcome;

/// How keys are written.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct FormatArgs {
    /// How keys are written, on the way in and on the way out
    #[arg(long, value_enum, default_value = "line", value_name = "FORMAT")]
    pub(crate) format: Format,
}

/// Standard input can be read once: refuses to take it for two inputs.
pub(crate) fn one_stdin<'p>(inputs: impl IntoIterator<Item = &'p Path>) -> Outcome<()> {
    let mut stdin = inputs.into_iter().filter(|path| is_stdin(path));
    if stdin.next().is_some() && stdin.next().is_some() {
        bail!("standard input can't be two inputs; give a file for one of them");
    }
    Ok(())
}

/// The key that an argument stands for.
pub(crate) fn argument(text: &OsStr, format: Format) -> Outcome<Vec<u8>> {
    let mut key = Vec::new();
    format.decode(&bytes_of(text), &mut key)?;
    Ok(key)
}

/// The bytes of an argument, whatever they are.
#[cfg(unix)]
fn bytes_of(argument: &OsStr) -> Vec<u8> {
    use std::os::unix::ffi::OsStrExt;
    argument.as_bytes().to_vec()
}

/// The bytes of an argument.
#[cfg(not(unix))]
fn bytes_of(argument: &OsStr) -> Vec<u8> {
    argument.to_string_lossy().into_owned().into_bytes()
}

/// A share above 0 and at most 1, for clap.
pub(crate) fn rate(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(rate) if rate > 0.0 && rate <= 1.0 => Ok(rate),
        _ => Err("a share is above 0 and at most 1, as in 0.01, one in a hundred".into()),
    }
}
