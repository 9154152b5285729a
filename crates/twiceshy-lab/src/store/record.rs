//! Parts of the measurement, sample by sample, for the experiments of the papers.

use std::path::Path;

use anyhow::{Result, bail};
use indicatif::ProgressBar;

use super::book::Book;
use super::data::Data;
use super::engines::{Kind, OnFjall, OnLmdb, OnRedb};
use super::{Lab, adversary, inserts, misses};

/// A part of the measurement. Whatever is chosen, the stores are filled first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Misses,
    Threads,
    Adversary,
}

impl Part {
    /// By its name in a declaration.
    pub(crate) fn by_name(name: &str) -> Result<Self> {
        Ok(match name {
            "misses" => Part::Misses,
            "threads" => Part::Threads,
            "adversary" => Part::Adversary,
            _ => bail!("there is no part {name:?} of the store's measurement"),
        })
    }
}

/// Fills the stores of an engine in a folder, measures that and the parts.
pub(crate) fn record(
    engine: &str,
    data: Data,
    rounds: u32,
    parts: &[Part],
    root: &Path,
) -> Result<Book> {
    match engine {
        "redb" => record_on::<OnRedb>(data, rounds, parts, root),
        "lmdb" => record_on::<OnLmdb>(data, rounds, parts, root),
        "fjall" => record_on::<OnFjall>(data, rounds, parts, root),
        _ => bail!("there is no engine {engine:?}"),
    }
}

fn record_on<K: Kind>(data: Data, rounds: u32, parts: &[Part], root: &Path) -> Result<Book> {
    let lab = Lab {
        data,
        rounds,
        root,
        progress: &ProgressBar::hidden(),
    };
    let mut book = Book::default();
    inserts::run::<K>(&lab, &mut book)?;
    for part in parts {
        match part {
            Part::Misses => misses::run::<K>(&lab, &mut book)?,
            Part::Threads => misses::run_threads::<K>(&lab, &mut book)?,
            Part::Adversary => adversary::run::<K>(&lab, &mut book)?,
        }
    }
    Ok(book)
}
