//! Weighted Bloom filters, which must know which keys are popular.

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use twiceshy::any::AnyFilter;
use twiceshy::bloom::{Class, WeightedBloomFilter, Weights, sizing};
use twiceshy::file::FilterKind;
use twiceshy::hash::{HashKind, Seed, Sip13, StreamHash, Xxh3};

use super::recent::Recent;
use super::spool::Spool;
use crate::exit::Outcome;
use crate::files;
use crate::keys::Format;
use crate::shell::Shell;

/// What a weighted filter is made of.
#[derive(Clone, Debug)]
pub(super) struct Plan<'a> {
    pub(super) input: &'a Path,
    pub(super) popular: Option<&'a PathBuf>,
    pub(super) popular_share: f64,
    pub(super) format: Format,
    pub(super) hash: HashKind,
    pub(super) fpr: f64,
    pub(super) seed: Option<u64>,
}

impl Plan<'_> {
    /// Builds the filter; gives it and how many keys it was built from.
    pub(super) fn build(&self, shell: &Shell) -> Outcome<(AnyFilter, u64)> {
        let Some(popular) = self.popular else {
            bail!(
                "a weighted Bloom filter must know which keys are asked for most; give them with \
                 `--popular FILE`, or take `--kind bloom`"
            );
        };
        match self.hash {
            HashKind::Xxh3 => self.build_hash::<Xxh3>(popular, shell),
            _ => self.build_hash::<Sip13>(popular, shell),
        }
    }

    fn build_hash<H: StreamHash>(
        &self,
        popular: &Path,
        shell: &Shell,
    ) -> Outcome<(AnyFilter, u64)> {
        let mut recent = Recent::new()?;
        let mut inputs = [Spool::of(popular, shell)?, Spool::of(self.input, shell)?];
        let mut counts = [0, 0];
        for (input, count) in inputs.iter_mut().zip(&mut counts) {
            let lines = input.open(shell)?;
            *count = super::build::count_keys(lines, self.format, &mut recent, shell)?;
        }
        recent.forget();
        let all = counts[0] + counts[1];
        let size = sizing::bloom(all.max(1), self.fpr)?;
        let per_key = size.bits as f64 / all.max(1) as f64;
        let class = |members: u64, queries| Class {
            members: members as f64,
            queries,
        };
        let share = self.popular_share;
        let weights = match counts {
            // Of one class, all are alike.
            [0, _] | [_, 0] => Weights::new(per_key, &[class(1, 1.0); 2]),
            [popular, others] => {
                let classes = [class(popular, share), class(others, 1.0 - share)];
                Weights::new(per_key, &classes)
            }
        }?;
        let seed = self
            .seed
            .map_or_else(Seed::random, |seed| Ok(Seed::from_u64(seed)))?;
        let mut filter = WeightedBloomFilter::<H>::with_hash(size.bits, &weights, seed)?;
        let mut keys = 0;
        let mut key = Vec::new();
        for (input, &hashes) in inputs.iter_mut().zip(weights.hashes()) {
            let input = input.open(shell)?;
            let bar = input.progress("building", shell);
            let mut lines = input.lines();
            while lines.next_key(self.format, &mut key)?.is_some() {
                keys += 1;
                if recent.is_news(&key) {
                    filter.insert_with(&key[..], hashes);
                }
                if lines.is_drained() {
                    bar.set(lines.bytes());
                }
            }
        }
        let filter = AnyFilter::read_from(&filter.to_bytes()[..])?;
        Ok((filter, keys))
    }
}

/// Answers for popular keys.
pub(super) type Ask = Box<dyn Fn(&[u8]) -> bool>;

/// A weighted filter to be asked for popular keys, with all the hashes that they have.
pub(super) fn open_popular(path: &Path) -> Outcome<Ask> {
    let filter = super::open(path)?;
    let info = filter.info();
    if info.kind != FilterKind::WeightedBloom {
        bail!(
            "{} is a {} filter, to which all keys are alike; leave out `--popular`",
            path.display(),
            info.kind
        );
    }
    match info.hash {
        HashKind::Xxh3 => typed::<Xxh3>(path),
        _ => typed::<Sip13>(path),
    }
}

fn typed<H: StreamHash>(path: &Path) -> Outcome<Ask> {
    let file = File::open(path).with_context(|| format!("can't open {}", path.display()))?;
    let filter = WeightedBloomFilter::<H>::read_from(BufReader::new(file));
    let filter = filter.map_err(|error| files::explain(path, error))?;
    let most = filter.most_hashes();
    Ok(Box::new(move |key| filter.contains_with(key, most)))
}
