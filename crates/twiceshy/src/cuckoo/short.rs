//! The short way to change a table: four whole fingerprints of a bucket in a `u64`.
//!
//! That is the common shape. Both buckets are read at once, whatever the first one says, so
//! that their lines are fetched side by side and there is hardly a branch to guess wrong; and
//! since an empty lane is zero, fingerprints come, go and change places by one exclusive or.
//!
//! What is done is exactly what the long way does, bit by bit: a filter of the same keys in the
//! same order is the same file.

use super::alternate::Alternate;
use super::filter::Core;
use super::lanes::SLOTS;
use super::shape::Home;
use crate::bits::{Bytes, Starts, ones_if_zero};
use crate::error::Error;
use crate::mem::Memory;
use crate::traits::Removed;

/// The marks of the first of two buckets that has any; zero if none has. Which one it is cannot
/// be foreseen, so it is computed.
#[inline(always)]
fn first_of(here: u64, there: u64) -> u64 {
    here | there & ones_if_zero(here)
}

impl<M: Bytes, A: Alternate> Core<M, A> {
    #[inline(always)]
    pub(super) fn contains_short<S: Starts>(&self, home: Home) -> bool {
        let Home {
            bucket,
            fingerprint,
        } = home;
        // Both buckets, whatever the first one says: they are fetched side by side, and there is
        // no branch to guess wrong.
        let other = self.other(bucket, fingerprint);
        let [here, there] = [bucket, other].map(|bucket| self.equal::<S>(bucket, fingerprint));
        here | there != 0
    }

    /// Marks the first lane of a bucket that holds `value`, zero if none does.
    #[inline(always)]
    fn equal<S: Starts>(&self, bucket: u64, value: u64) -> u64 {
        self.narrow
            .first_equal(self.table.load_whole::<S>(bucket), value)
    }
}

impl<A: Alternate> Core<Memory, A> {
    #[inline(always)]
    pub(super) fn insert_short<S: Starts>(&mut self, h0: u64) -> Result<(), Error> {
        let Home {
            bucket,
            fingerprint,
        } = self.table.home(h0);
        let here = self.equal::<S>(bucket, 0);
        // While half of the buckets' slots are free, the first bucket nearly always has one: the
        // branch is guessed right, and the line of the other bucket is not fetched.
        if self.len < 2 * self.table.shape().buckets() && here != 0 {
            self.table
                .flip::<S>(bucket, self.narrow.at_first(here, fingerprint));
            self.len += 1;
            return Ok(());
        }
        let other = self.other(bucket, fingerprint);
        let there = self.equal::<S>(other, 0);
        let free = first_of(here, there);
        if free == 0 {
            return self.insert_by_kick::<S>([bucket, other], fingerprint);
        }
        let change = self.narrow.at_first(free, fingerprint);
        self.table.flip_one_of::<S>([bucket, other], here, change);
        self.len += 1;
        Ok(())
    }

    /// Inserts into full buckets by one kick, as most can be done.
    #[inline(never)]
    fn insert_by_kick<S: Starts>(
        &mut self,
        buckets: [u64; 2],
        fingerprint: u64,
    ) -> Result<(), Error> {
        let lanes = self.narrow;
        for bucket in buckets {
            let word = self.table.load_whole::<S>(bucket);
            let cells: [_; SLOTS as usize] = std::array::from_fn(|slot| {
                let tenant = lanes.get(word, slot as u32);
                let other = self.other(bucket, tenant);
                (tenant, other, self.equal::<S>(other, 0))
            });
            let found = (0..).zip(cells).find(|&(_, (_, _, free))| free != 0);
            if let Some((slot, (tenant, other, free))) = found {
                self.table.flip::<S>(other, lanes.at_first(free, tenant));
                let change = lanes.at(slot, tenant ^ fingerprint);
                self.table.flip::<S>(bucket, change);
                self.len += 1;
                return Ok(());
            }
        }
        self.insert_by_kicks(&lanes, buckets, fingerprint)
    }

    #[inline(always)]
    pub(super) fn remove_short<S: Starts>(&mut self, h0: u64) -> Removed {
        let Home {
            bucket,
            fingerprint,
        } = self.table.home(h0);
        let other = self.other(bucket, fingerprint);
        let [here, there] = [bucket, other].map(|bucket| self.equal::<S>(bucket, fingerprint));
        let equal = first_of(here, there);
        if equal == 0 {
            return Removed::NotFound;
        }
        let change = self.narrow.at_first(equal, fingerprint);
        self.table.flip_one_of::<S>([bucket, other], here, change);
        self.len -= 1;
        Removed::One
    }
}

#[cfg(test)]
mod tests {
    use super::super::alternate::{Anywhere, Near};
    use super::super::filter::Way;
    use super::super::shape::{Packing, Shape};
    use super::super::table::Table;
    use super::*;
    use crate::hash::{GOLDEN, mix};
    use crate::mem::HugePages;

    /// The same operations in every way that a table can be used: the same answers and the same
    /// bytes.
    fn every_way_does_the_same<A: Alternate>(buckets: u64, bits: u32) {
        let shape = Shape::new(buckets, bits, Packing::Whole).unwrap();
        let ways: &[Way] = if bits % 2 == 0 {
            &[Way::Long, Way::Bits, Way::Bytes]
        } else {
            &[Way::Long, Way::Bits]
        };
        let mut cores: Vec<Core<Memory, A>> = Vec::new();
        for &way in ways {
            let table = Table::new(shape, HugePages::Never).unwrap();
            let mut core = Core::new(table, A::new(buckets), 0);
            // The last is the one that it is used in.
            assert!(way != ways[ways.len() - 1] || core.way == way);
            core.way = way;
            cores.push(core);
        }
        let hash = |i: u64| mix(GOLDEN.wrapping_mul(i + 1));
        let slots = shape.slots();
        let (mut failed, mut removed) = (0, 0);
        for i in 0..4 * slots {
            let old = hash(i / 2);
            let answers = cores.iter_mut().map(|core| match i % 8 {
                // More come than go: soon it is full, so that kicks of every length are tried.
                0..5 => core.insert(hash(i)).is_ok(),
                5 => core.remove(old) == Removed::One,
                _ => core.contains(if i % 8 == 6 { old } else { hash(i) }),
            });
            let answers: Vec<bool> = answers.collect();
            assert!(answers.iter().all(|&answer| answer == answers[0]));
            failed += u32::from(i % 8 < 5 && !answers[0]);
            removed += u32::from(i % 8 == 5 && answers[0]);
        }
        assert!(failed > 0 && removed > 0);
        for core in &cores {
            core.check().unwrap();
            assert_eq!(core.table.bytes(), cores[0].table.bytes());
        }
    }

    #[test]
    fn short_ways_lead_where_the_long_one_does() {
        for bits in Shape::MIN_BITS..=16 {
            for buckets in [1, 2, 7, 40] {
                every_way_does_the_same::<Anywhere>(buckets, bits);
                every_way_does_the_same::<Near>(buckets, bits);
            }
        }
    }

    #[test]
    fn the_first_that_is_marked() {
        let marks = [0, 1, 1 << 11, 1 << 62, 1 << 63, u64::MAX];
        for here in marks {
            for there in marks {
                let expected = if here == 0 { there } else { here };
                assert_eq!(first_of(here, there), expected);
            }
        }
    }
}
