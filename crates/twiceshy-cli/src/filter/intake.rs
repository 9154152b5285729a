//! Keys on their way into a filter: each is read once and hashed once.

use std::path::Path;

use twiceshy::hash::{Seed, StreamHash, first_word};

use super::recent::Recent;
use crate::exit::Outcome;
use crate::keys::{Format, Input};
use crate::shell::Shell;

/// Hashes that are handed on at once.
const PIECE: usize = 1 << 12;

/// Reads keys, hashes them and leaves out copies that come close together.
pub(super) struct Intake<H: StreamHash> {
    keyed: H::Keyed,
    format: Format,
    recent: Recent,
    /// Are copies handed on as well?
    with_copies: bool,
    keys: u64,
    news: u64,
}

impl<H: StreamHash> Intake<H> {
    pub(super) fn new(seed: &Seed, format: Format, with_copies: bool) -> Self {
        Intake {
            keyed: H::keyed(seed),
            format,
            recent: Recent::new(),
            with_copies,
            keys: 0,
            news: 0,
        }
    }

    /// Keys so far, copies included.
    pub(super) fn keys(&self) -> u64 {
        self.keys
    }

    /// Keys so far but for their copies.
    pub(super) fn news(&self) -> u64 {
        self.news
    }

    /// Hands on the first words of the hashes of all keys of an input, some at a time.
    pub(super) fn read(
        &mut self,
        path: &Path,
        shell: &Shell,
        mut take: impl FnMut(&[u64]) -> Outcome<()>,
    ) -> Outcome<()> {
        let mut lines = Input::open(path, shell)?.lines_with_bar("reading keys", shell);
        let mut hashes = Vec::with_capacity(PIECE);
        while let Some(line) = lines.next_key(self.format)? {
            let hash = first_word::<H, [u8]>(&self.keyed, line.key);
            let is_news = self.recent.is_news(hash);
            self.keys += 1;
            self.news += u64::from(is_news);
            if is_news || self.with_copies {
                hashes.push(hash);
            }
            if hashes.len() == PIECE {
                take(&hashes)?;
                hashes.clear();
            }
        }
        take(&hashes)
    }
}
