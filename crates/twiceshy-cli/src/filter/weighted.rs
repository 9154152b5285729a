//! Weighted Bloom filters, which must know which keys are popular.

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use twiceshy::any::AnyFilter;
use twiceshy::bloom::{Class, WeightedBloomFilter, Weights, sizing};
use twiceshy::file::FilterKind;
use twiceshy::hash::{HashKind, Hashed, Seed, Sip13, StreamHash, Xxh3};

use super::intake::Intake;
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
    pub(super) fpr: f64,
    pub(super) seed: Seed,
}

impl Plan<'_> {
    /// Builds the filter; gives it and how many keys it was built from.
    pub(super) fn build<H: StreamHash>(&self, shell: &Shell) -> Outcome<(AnyFilter, u64)> {
        let Some(popular) = self.popular else {
            bail!(
                "a weighted Bloom filter must know which keys are asked for most; give them with \
                 `--popular FILE`, or take `--kind bloom`"
            );
        };
        let mut intake = Intake::<H>::new(&self.seed, self.format, false);
        let mut spools = [Spool::new(), Spool::new()];
        for (spool, input) in spools.iter_mut().zip([popular, self.input]) {
            intake.read(input, shell, |hashes| spool.write(hashes))?;
        }
        let (bits, weights) = self.measures(spools[0].len(), spools[1].len())?;
        let mut filter = WeightedBloomFilter::<H>::with_hash(bits, &weights, self.seed)?;
        for (spool, &count) in spools.into_iter().zip(weights.hashes()) {
            spool.read(shell, |hashes| {
                for &hash in hashes {
                    filter.insert_hashed_with(&Hashed::from_h0(hash), count);
                }
                Ok(())
            })?;
        }
        let filter = AnyFilter::read_from(&filter.to_bytes()[..])?;
        Ok((filter, intake.keys()))
    }

    /// The bits of a filter of so many keys that are popular and others that are not, and the
    /// hashes of each: as many bits as it takes to be wrong for no more than the share that was asked for
    /// of those keys, too, that have the fewest hashes.
    fn measures(&self, popular: u64, others: u64) -> Outcome<(u64, Weights)> {
        let all = (popular + others).max(1);
        let class = |members: u64, queries| Class {
            members: members as f64,
            queries,
        };
        let share = self.popular_share;
        let classes = match (popular, others) {
            // Of one class, all are alike.
            (0, _) | (_, 0) => [class(all, 1.0); 2],
            _ => [class(popular, share), class(others, 1.0 - share)],
        };
        let mut bits = sizing::bloom(all, self.fpr)?.bits;
        loop {
            let weights = Weights::new(bits as f64 / all as f64, &classes)?;
            let hashes = [0, 1].map(|class| weights.hashes()[class]);
            let set = popular as f64 * f64::from(hashes[0]) + others as f64 * f64::from(hashes[1]);
            let load = -(-set / bits as f64).exp_m1();
            let fewest = hashes[0].min(hashes[1]);
            if load.powi(fewest as i32) <= self.fpr {
                return Ok((bits, weights));
            }
            bits += bits.div_ceil(50);
        }
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
