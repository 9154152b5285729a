//! Building a static list: walks that count, and one that writes.

use std::marker::PhantomData;

use super::join::{Keys, Lists};
use super::plan::{self, fullest};
use super::{StaticYesNo, check_rate};
use crate::builder::needs_seed;
use crate::error::Error;
use crate::filters::adaptive::AdaptiveFilter;
use crate::filters::core::Core;
use crate::filters::core::fill::Fill;
use crate::geometry::Geometry;
use crate::hash::{Hashed, Key, Seed, Sip13, StreamHash};
use crate::table::{Marks, size};

/// Builds a [`StaticYesNo`] with choices of its own.
///
/// ```
/// use twiceshy::hash::Seed;
/// use twiceshy::lists::StaticYesNo;
///
/// let yes: Vec<u64> = (0..100).collect();
/// let list = StaticYesNo::builder()
///     .fpr(0.001)
///     .seed(Seed::from_u64(7))
///     .headroom(0.03) // for later versions of the same geometry
///     .build(&yes, &["no"])?;
/// assert!(list.expected_fpr() <= 0.001);
/// # Ok::<(), twiceshy::Error>(())
/// ```
#[must_use = "a builder does nothing until `build`"]
#[derive(Clone, Debug)]
pub struct Builder<H: StreamHash = Sip13> {
    fpr: f64,
    seed: Option<Seed>,
    headroom: f64,
    remainder_bits: Option<u32>,
    hash: PhantomData<H>,
}

impl Builder {
    pub(super) fn new() -> Self {
        Builder {
            fpr: 0.01,
            seed: None,
            headroom: 0.0,
            remainder_bits: None,
            hash: PhantomData,
        }
    }
}

impl<H: StreamHash> Builder<H> {
    /// The share of keys on neither list that may be answered YES, above 0; 1 promises
    /// nothing for them. Default: 0.01.
    pub fn fpr(mut self, fpr: f64) -> Self {
        self.fpr = fpr;
        self
    }

    /// The seed of the hash. Default: random.
    pub fn seed(mut self, seed: Seed) -> Self {
        self.seed = Some(seed);
        self
    }

    /// The share of slots to leave free for [later versions](StaticYesNo::build_like) of the
    /// same geometry. Default: none.
    pub fn headroom(mut self, share: f64) -> Self {
        self.headroom = share;
        self
    }

    /// The width of remainders. Default: the one that makes the list smallest.
    pub fn remainder_bits(mut self, bits: u32) -> Self {
        self.remainder_bits = Some(bits);
        self
    }

    /// Another hash function than the default [`Sip13`].
    pub fn hash<X: StreamHash>(self) -> Builder<X> {
        Builder {
            fpr: self.fpr,
            seed: self.seed,
            headroom: self.headroom,
            remainder_bits: self.remainder_bits,
            hash: PhantomData,
        }
    }

    /// Builds the list.
    ///
    /// # Errors
    /// As [`StaticYesNo::build`].
    pub fn build<Y: Key, N: Key>(&self, yes: &[Y], no: &[N]) -> Result<StaticYesNo<H>, Error> {
        let seed = self.seed.map_or_else(Seed::random, Ok)?;
        self.build_lists(seed, &Lists::new::<H, Y, N>(seed, yes, no)?)
    }

    /// [`build`](Self::build) for keys that are hashed already, with the seed of the builder.
    ///
    /// # Errors
    /// As [`StaticYesNo::build`], and [`Error::Geometry`] if no seed is set.
    pub fn build_hashed(
        &self,
        yes: &[Hashed<'_>],
        no: &[Hashed<'_>],
    ) -> Result<StaticYesNo<H>, Error> {
        let seed = self.seed.ok_or_else(needs_seed)?;
        self.build_lists(seed, &Lists::of(Keys::hashed(yes), Keys::hashed(no))?)
    }

    pub(super) fn build_lists(
        &self,
        seed: Seed,
        lists: &Lists<'_>,
    ) -> Result<StaticYesNo<H>, Error> {
        check_rate(self.fpr)?;
        if !(0.0..=1.0).contains(&self.headroom) {
            return Err(Error::geometry(format!(
                "a headroom is a share of the slots, from 0 to 1, not {}",
                self.headroom
            )));
        }
        let (geometry, blocks) = self.measure(lists)?;
        fill(geometry, blocks, seed, lists)
    }

    /// The smallest table for these lists: its geometry and how many blocks it has.
    fn measure(&self, lists: &Lists<'_>) -> Result<(Geometry, u64), Error> {
        let plan = plan::smallest(lists.yes.len(), lists.no.len(), self.fpr)?;
        let bits = self.remainder_bits.unwrap_or(plan.remainder_bits);
        let mut quotients = (plan.quotients * (1.0 + self.headroom)).ceil().max(1.0);
        // Quotients decide which NO keys are met, and these how many slots are needed and how
        // many quotients the rate allows. A few rounds do: more quotients mean fewer
        // meetings, but ten times fewer than more.
        for round in 0..20 {
            let geometry = Geometry::new(quotients as u64, bits)?;
            let count = count(&geometry, lists)?;
            let least = count.least_quotients(bits, self.fpr);
            let next = f64::max(least, fullest(count.used as f64).ceil());
            let next = (next * (1.0 + self.headroom)).ceil();
            // Later rounds only make sure of the rate.
            let near = (next - quotients).abs() <= 2.0 + quotients / 4096.0;
            if (near || round >= 6) && least <= quotients {
                let most = most_blocks(&geometry);
                if self.headroom > 0.0 {
                    return Ok((geometry, most));
                }
                let blocks = count.blocks(&geometry);
                if blocks <= most {
                    return self.squeeze(lists, geometry, count);
                }
                // More spill than a table has spare slots: only the smallest ones, overfull.
                quotients += 1.0 + (count.end - geometry.slots()) as f64 / 4.0;
            } else {
                quotients = if near { least } else { next };
            }
        }
        Err(Error::geometry(
            "no number of slots was found for these lists; take another seed",
        ))
    }

    /// In a small table a block is a share of it that counts: a few less quotients, and so less
    /// room before the last run, may save one.
    fn squeeze(
        &self,
        lists: &Lists<'_>,
        geometry: Geometry,
        count: Count,
    ) -> Result<(Geometry, u64), Error> {
        let bits = geometry.remainder_bits();
        let (mut best, mut now) = ((geometry, count.blocks(&geometry)), (geometry, count));
        for _ in 0..4 {
            let (geometry, count) = &now;
            let full = count.used.div_ceil(64);
            if count.used > 1 << 16 || best.1 <= full {
                break;
            }
            let fewer = geometry.slots().saturating_sub(1 + count.used.isqrt() / 2);
            let Ok(geometry) = Geometry::new(fewer, bits) else {
                break;
            };
            let count = self::count(&geometry, lists)?;
            let blocks = count.blocks(&geometry);
            if count.least_quotients(bits, self.fpr) > fewer as f64 {
                break;
            }
            if blocks < best.1 && blocks <= most_blocks(&geometry) {
                best = (geometry, blocks);
            }
            now = (geometry, count);
        }
        Ok(best)
    }
}

/// The blocks of a table with all its spare slots.
fn most_blocks(geometry: &Geometry) -> u64 {
    let size = size::<Marks>(geometry.slots(), geometry.remainder_bits(), None);
    size.map_or(0, |(blocks, _)| blocks)
}

/// What a walk along the lists has counted.
pub(super) struct Count {
    /// Slots.
    used: u64,
    /// One past the last slot.
    pub(super) end: u64,
    /// YES keys without extension, and others by what they still match.
    pub(super) unextended: f64,
}

impl Count {
    /// As many quotients as the rate demands.
    fn least_quotients(&self, remainder_bits: u32, fpr: f64) -> f64 {
        (self.unextended / f64::from(remainder_bits).exp2() / fpr).ceil()
    }

    /// Blocks with all runs, and a slot for each quotient.
    fn blocks(&self, geometry: &Geometry) -> u64 {
        self.end.max(geometry.slots()).div_ceil(64)
    }
}

/// Walks along both lists.
pub(super) fn count(geometry: &Geometry, lists: &Lists<'_>) -> Result<Count, Error> {
    let width = geometry.remainder_bits();
    let mut count = Count {
        used: 0,
        end: 0,
        unextended: 0.0,
    };
    lists.miniruns(geometry, |id, yes, no| {
        let quotient = geometry.fingerprint_of(id).quotient;
        let mut slots = yes.len() as u64;
        if no.is_empty() {
            count.unextended += slots as f64;
        } else {
            for key in yes {
                let digits = lists.digits(key, no, width)?;
                slots += digits as u64;
                count.unextended += f64::exp2(-(digits as f64) * f64::from(width));
            }
        }
        count.used += slots;
        count.end = count.end.max(quotient) + slots;
        Ok(())
    })?;
    Ok(count)
}

/// Writes the table.
pub(super) fn fill<H: StreamHash>(
    geometry: Geometry,
    blocks: u64,
    seed: Seed,
    lists: &Lists<'_>,
) -> Result<StaticYesNo<H>, Error> {
    let width = geometry.remainder_bits();
    let mut fill = Fill::new(Core::of_blocks(geometry, blocks)?);
    let mut prints = Vec::new();
    lists.miniruns(&geometry, |id, yes, no| {
        if no.is_empty() {
            return yes.iter().try_for_each(|_| fill.home(id, 0));
        }
        prints.clear();
        for key in yes {
            prints.push(lists.print(key, lists.digits(key, no, width)?, width));
        }
        prints.sort_unstable();
        prints.iter().try_for_each(|print| fill.print(id, print))
    })?;
    let filter = AdaptiveFilter::from_core(fill.finish(), seed);
    Ok(StaticYesNo::of(filter, lists.no.len()))
}
