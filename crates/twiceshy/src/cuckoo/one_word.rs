//! Buckets of one word: four whole fingerprints in a `u64`, which is the common shape.
//!
//! Both buckets are read at once, whatever the first one holds: their cache lines are fetched side by side,
//! and hardly a branch depends on what they hold. An empty lane is zero, so fingerprints are added, removed
//! and exchanged by one exclusive or.
//!
//! The result is the same, bit by bit, as that of the code for any width in `filter.rs`: a filter of the
//! same keys in the same order is the same file.

use super::alternate::Alternate;
use super::filter::Core;
use super::lanes::SLOTS;
use super::shape::Home;
use crate::bits::{Bytes, Starts, first_marked, mask_below};
use crate::error::Error;
use crate::mem::Memory;
use crate::outcome::Removed;

impl<M: Bytes, A: Alternate> Core<M, A> {
    #[inline(always)]
    pub(super) fn contains_in_word<S: Starts>(&self, home: Home) -> bool {
        // Both buckets, whatever the first one holds: they are fetched side by side, without a branch.
        let buckets = [home.bucket, self.other(home.bucket, home.fingerprint)];
        let [here, there] = buckets.map(|bucket| self.equal::<S>(bucket, home.fingerprint));
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
    pub(super) fn insert_in_word<S: Starts>(&mut self, h0: u64) -> Result<(), Error> {
        let Home {
            bucket,
            fingerprint,
        } = self.table.home(h0);
        // While half of all slots are free, the first bucket nearly always has one: the branch is
        // predicted well, and the line of the other bucket is not fetched. Later the mask makes `here`
        // zero always, which is predicted as well. Numbers of slots are less than 2^63.
        let half_full = self.len.wrapping_sub(2 * self.table.buckets().end());
        let is_early = (half_full as i64 >> 63) as u64;
        let here = self.equal::<S>(bucket, 0) & is_early;
        if here != 0 {
            self.table
                .flip::<S>(bucket, self.narrow.at_first(here, fingerprint));
            self.len += 1;
            return Ok(());
        }
        let other = self.other(bucket, fingerprint);
        if self.flip_in_one::<S>([bucket, other], 0, fingerprint) {
            self.len += 1;
            return Ok(());
        }
        self.insert_by_kick::<S>(bucket, other, fingerprint)
    }

    /// Inserts into full buckets by one kick, as most can be done.
    #[inline(never)]
    fn insert_by_kick<S: Starts>(
        &mut self,
        bucket: u64,
        other: u64,
        fingerprint: u64,
    ) -> Result<(), Error> {
        // The number of a slot stands above that of a bucket, which is less than 2^61.
        const SLOT_AT: u32 = 62;
        let buckets = [bucket, other];
        let lanes = self.narrow;
        for bucket in buckets {
            let word = self.table.load_whole::<S>(bucket);
            // All occupants are looked at, without a branch that depends on which one can move.
            let (mut free, mut cell) = (0, 0);
            for slot in (0..SLOTS).rev() {
                let other = self.other(bucket, lanes.get(word, slot));
                let words = [self.equal::<S>(other, 0), free];
                let beside = [u64::from(slot) << SLOT_AT | other, cell];
                (free, cell) = first_marked(!0, words, beside);
            }
            if free != 0 {
                let (slot, other) = ((cell >> SLOT_AT) as u32, cell & mask_below(SLOT_AT));
                let occupant = lanes.get(word, slot);
                self.table.flip::<S>(other, lanes.at_first(free, occupant));
                let change = lanes.at(slot, occupant ^ fingerprint);
                self.table.flip::<S>(bucket, change);
                self.len += 1;
                return Ok(());
            }
        }
        self.insert_by_kicks(&lanes, buckets, fingerprint)
    }

    #[inline(always)]
    pub(super) fn remove_in_word<S: Starts>(&mut self, h0: u64) -> Removed {
        let home = self.table.home(h0);
        let buckets = [home.bucket, self.other(home.bucket, home.fingerprint)];
        if self.flip_in_one::<S>(buckets, home.fingerprint, home.fingerprint) {
            self.len -= 1;
            return Removed::One;
        }
        Removed::NotFound
    }

    /// Flips bits of the first lane of two buckets that holds `value`. Is there one?
    #[inline(always)]
    fn flip_in_one<S: Starts>(&mut self, buckets: [u64; 2], value: u64, bits: u64) -> bool {
        let lanes = self.narrow;
        self.table.flip_first_marked::<S>(
            buckets,
            lanes.highs(),
            |word| lanes.first_equal_unmasked(word, value),
            |marks| lanes.at_first(marks, bits),
        )
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
            &[Way::Narrow, Way::Bits, Way::Bytes]
        } else {
            &[Way::Narrow, Way::Bits]
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
    fn every_way_gives_the_same_table() {
        for bits in Shape::MIN_BITS..=16 {
            for buckets in [1, 2, 7, 40] {
                every_way_does_the_same::<Anywhere>(buckets, bits);
                every_way_does_the_same::<Near>(buckets, bits);
            }
        }
    }
}
