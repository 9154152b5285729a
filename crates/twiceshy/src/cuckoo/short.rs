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
use crate::error::Error;
use crate::mem::Memory;
use crate::traits::Removed;

/// The first of two buckets in which something is marked, with its marks; the second if none has
/// any. Which one it is cannot be foreseen, so it is computed: of a choice compilers
/// make a branch, which is guessed wrong every other time.
#[inline(always)]
fn first_of([(bucket, here), (other, there)]: [(u64, u64); 2]) -> (u64, u64) {
    // Its highest bit is set for zero only.
    let below = here.wrapping_sub(1) & !here;
    let is_zero = (below as i64 >> 63) as u64;
    (bucket ^ (bucket ^ other) & is_zero, here | there & is_zero)
}

impl<A: Alternate> Core<Memory, A> {
    #[inline(always)]
    pub(super) fn insert_short(&mut self, h0: u64) -> Result<(), Error> {
        let Home {
            bucket,
            fingerprint,
        } = self.table.shape().home(h0);
        let here = self.narrow.equal(self.table.load_whole(bucket), 0);
        // While half of the buckets' slots are free, the first bucket nearly always has one: the
        // branch is guessed right, and the line of the other bucket is not fetched.
        if self.len < 2 * self.table.shape().buckets() && here != 0 {
            self.table
                .flip(bucket, self.narrow.at_first(here, fingerprint));
            self.len += 1;
            return Ok(());
        }
        let other = self.alternate.other(bucket, fingerprint);
        let there = self.narrow.equal(self.table.load_whole(other), 0);
        let (place, free) = first_of([(bucket, here), (other, there)]);
        if free == 0 {
            return self.insert_by_kick([bucket, other], fingerprint);
        }
        self.table
            .flip(place, self.narrow.at_first(free, fingerprint));
        self.len += 1;
        Ok(())
    }

    /// Inserts into full buckets by one kick, as most can be done.
    #[inline(never)]
    fn insert_by_kick(&mut self, buckets: [u64; 2], fingerprint: u64) -> Result<(), Error> {
        let lanes = self.narrow;
        for bucket in buckets {
            let word = self.table.load_whole(bucket);
            let cells: [_; SLOTS as usize] = std::array::from_fn(|slot| {
                let tenant = lanes.get(word, slot as u32);
                let other = self.alternate.other(bucket, tenant);
                let free = lanes.equal(self.table.load_whole(other), 0);
                (tenant, other, free)
            });
            let found = (0..).zip(cells).find(|&(_, (_, _, free))| free != 0);
            if let Some((slot, (tenant, other, free))) = found {
                self.table.flip(other, lanes.at_first(free, tenant));
                let change = lanes.at(slot, tenant ^ fingerprint);
                self.table.flip(bucket, change);
                self.len += 1;
                return Ok(());
            }
        }
        self.insert_by_kicks(&lanes, buckets, fingerprint)
    }

    #[inline(always)]
    pub(super) fn remove_short(&mut self, h0: u64) -> Removed {
        let Home {
            bucket,
            fingerprint,
        } = self.table.shape().home(h0);
        let other = self.alternate.other(bucket, fingerprint);
        let here = self
            .narrow
            .equal(self.table.load_whole(bucket), fingerprint);
        let there = self.narrow.equal(self.table.load_whole(other), fingerprint);
        let (place, equal) = first_of([(bucket, here), (other, there)]);
        if equal == 0 {
            return Removed::NotFound;
        }
        self.table
            .flip(place, self.narrow.at_first(equal, fingerprint));
        self.len -= 1;
        Removed::One
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_that_is_marked() {
        let marks = [0, 1, 1 << 11, 1 << 62, 1 << 63, u64::MAX];
        for here in marks {
            for there in marks {
                let expected = if here == 0 { (9, there) } else { (4, here) };
                assert_eq!(first_of([(4, here), (9, there)]), expected);
            }
        }
    }
}
