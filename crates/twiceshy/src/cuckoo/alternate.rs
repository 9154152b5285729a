//! The other bucket of a fingerprint, from one bucket and the fingerprint alone.
//!
//! A filter has no keys, so a fingerprint that is kicked out must find its other bucket by
//! itself: *partial-key* cuckoo hashing. What it takes is an involution for each
//! fingerprint, `other(other(b)) = b`. With a hash `g` of the fingerprint:
//!
//! | | other bucket, about | buckets |
//! | --- | --- | --- |
//! | [`Anywhere`] (cuckoo filter) | `(g - b) mod m` | any number `m` |
//! | [`Near`] (vacuum filter) | the same within a chunk of the table; `b xor g` where a chunk has `2^k` buckets | any number |
//!
//! The published cuckoo filter takes `b xor g`, which needs a power of two.

use std::fmt::Debug;

use crate::bits::Below;
use crate::file::FilterKind;
use crate::hash::GOLDEN;

/// Where the other bucket of a fingerprint is.
pub trait Alternate: sealed::Alternate {}

pub(crate) mod sealed {
    use super::{Below, Debug, FilterKind};

    /// The rule, with what it needs to know of the table.
    pub trait Alternate: Copy + Debug + PartialEq + Send + Sync + 'static {
        const KIND: FilterKind;
        const NAME: &'static str;

        /// The rule for so many buckets.
        fn new(buckets: u64) -> Self;

        /// The other one of `buckets`, which are as many as the rule was made for; the same
        /// bucket for few.
        fn other(&self, buckets: &Below, bucket: u64, fingerprint: u64) -> u64;

        /// What a file has to say about the rule.
        fn to_bytes(&self) -> [u8; 4];

        /// The rule for so many buckets that a file tells of, if it is one.
        fn from_bytes(buckets: u64, bytes: [u8; 4]) -> Option<Self>;
    }
}

/// A hash of a fingerprint, good in its high bits. Fixed: whoever does not know the seed of the
/// filter knows no fingerprints.
///
/// One multiplication is enough. It is linear, so of the ways of four moves from a bucket a few
/// more come back to it than would by chance: one in `2^w`.
#[inline(always)]
fn scramble(fingerprint: u64) -> u64 {
    fingerprint.wrapping_mul(GOLDEN)
}

/// The other bucket is anywhere in the table: the cuckoo filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Anywhere(());

impl Alternate for Anywhere {}

impl sealed::Alternate for Anywhere {
    const KIND: FilterKind = FilterKind::Cuckoo;
    const NAME: &'static str = "CuckooFilter";

    fn new(_: u64) -> Self {
        Anywhere(())
    }

    #[inline(always)]
    fn other(&self, buckets: &Below, bucket: u64, fingerprint: u64) -> u64 {
        buckets.mirror(scramble(fingerprint), bucket)
    }

    fn to_bytes(&self) -> [u8; 4] {
        [0; 4]
    }

    fn from_bytes(_: u64, bytes: [u8; 4]) -> Option<Self> {
        (bytes == [0; 4]).then_some(Anywhere(()))
    }
}

/// The other bucket is near: the vacuum filter.
///
/// Each fingerprint belongs to one of four groups, and each group divides the table into chunks
/// of a length of its own: `2^k` buckets, and the last chunk up to twice as many. Both buckets
/// of a fingerprint are in one chunk, mostly a few cache lines apart. Short chunks alone would
/// fill unevenly, so that the fullest overflows early; the group with the longest chunks
/// evens that out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Near {
    /// How the table is divided for each group.
    groups: [Chunks; 4],
}

/// How the table is divided for one group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Chunks {
    /// The buckets of a chunk.
    length: Below,
    /// Where the last chunk starts.
    last: u64,
    /// Its buckets.
    rest: Below,
}

impl Chunks {
    /// Chunks of `2^log2` buckets. `None` if there are not as many buckets.
    fn new(buckets: u64, log2: u8) -> Option<Self> {
        let whole = buckets
            .checked_shr(log2.into())
            .filter(|&whole| whole > 0)?;
        let last = (whole - 1) << log2;
        Some(Chunks {
            length: Below::new(1 << log2)?,
            last,
            rest: Below::new(buckets - last)?,
        })
    }
}

/// The shortest chunks, as a base-2 logarithm: less than a kilobyte of the usual fingerprints.
const SHORTEST: u8 = 7;

/// Smaller tables are one chunk: they are near as they are, and short chunks fill too unevenly
/// for the rule of [`Near::length`], which is one for large numbers.
const NEAR_FROM: u64 = 1 << 16;

impl Near {
    /// The length of the chunks by which a part `share` of all keys chooses, as its base-2
    /// logarithm: the shortest that leaves the fullest chunk room.
    ///
    /// From the paper on vacuum filters, section 4.3: of `c` chunks that get `mean` keys each on
    /// average, the fullest gets about `mean + 1.5 sqrt(2 mean ln c)`, and that shall be at most
    /// 97% of its slots.
    fn length(buckets: u64, share: f64) -> u8 {
        if buckets < NEAR_FROM {
            return buckets.ilog2() as u8;
        }
        let fits = |log2: u32| {
            let (slots, chunks) = (4.0 * 2_f64.powi(log2 as i32), (buckets >> log2) as f64);
            let mean = slots * super::shape::PLANNED_LOAD * share;
            mean + 1.5 * (2.0 * mean * chunks.ln()).sqrt() <= 0.97 * slots
        };
        let most = buckets.ilog2();
        (0..most).find(|&log2| fits(log2)).unwrap_or(most) as u8
    }
}

impl Alternate for Near {}

impl sealed::Alternate for Near {
    const KIND: FilterKind = FilterKind::Vacuum;
    const NAME: &'static str = "VacuumFilter";

    fn new(buckets: u64) -> Self {
        let most = buckets.ilog2() as u8;
        // Somewhat longer than the rule says: it has a table that is filled by kicks without
        // end in mind. With [14, 8, 7, 7] at 2^20 buckets, one is full at 96%, with the [13, 7,
        // 5, 4] of the rule at 95%.
        let groups = [1.0, 0.75, 0.5, 0.25].map(|share| {
            let length = Near::length(buckets, share) + 1;
            length.max(SHORTEST).min(most)
        });
        let groups = groups.map(|log2| Chunks::new(buckets, log2).expect("no longer than all"));
        Near { groups }
    }

    #[inline(always)]
    fn other(&self, _: &Below, bucket: u64, fingerprint: u64) -> u64 {
        let hash = scramble(fingerprint);
        let Chunks { length, last, rest } = self.groups[(fingerprint & 3) as usize];
        if bucket < last {
            // Odd, so that no bucket is its own other one; but for chunks of one.
            return bucket ^ length.draw(hash);
        }
        last + rest.mirror(hash, bucket - last)
    }

    fn to_bytes(&self) -> [u8; 4] {
        self.groups.map(|chunks| chunks.length.end().ilog2() as u8)
    }

    fn from_bytes(buckets: u64, bytes: [u8; 4]) -> Option<Self> {
        let mut groups = [Chunks::new(buckets, 0)?; 4];
        for (group, log2) in groups.iter_mut().zip(bytes) {
            *group = Chunks::new(buckets, log2)?;
        }
        Some(Near { groups })
    }
}

#[cfg(test)]
mod tests {
    use super::sealed::Alternate as _;
    use super::*;

    fn is_involution(rule: impl super::sealed::Alternate, buckets: u64) {
        let numbers = Below::new(buckets).unwrap();
        for fingerprint in 1..200 {
            for bucket in 0..buckets {
                let other = rule.other(&numbers, bucket, fingerprint);
                assert!(other < buckets, "{rule:?} {bucket} {fingerprint}");
                assert_eq!(rule.other(&numbers, other, fingerprint), bucket, "{rule:?}");
            }
        }
    }

    #[test]
    fn the_other_of_the_other_is_the_first() {
        for buckets in (1..70).chain([100, 127, 128, 129, 1000]) {
            is_involution(Anywhere::new(buckets), buckets);
            is_involution(Near::new(buckets), buckets);
            let most = buckets.ilog2() as u8;
            for log2 in 0..=most {
                let bytes = [log2, most, 0, most - log2];
                is_involution(Near::from_bytes(buckets, bytes).unwrap(), buckets);
            }
        }
    }

    #[test]
    fn rules_are_read_as_they_are_written() {
        for buckets in [1, 2, 77, 1 << 20, (1 << 24) + 3] {
            let near = Near::new(buckets);
            assert_eq!(Near::from_bytes(buckets, near.to_bytes()), Some(near));
            let most = buckets.ilog2() as u8;
            for wrong in [most + 1, 63, 64, 255] {
                assert_eq!(Near::from_bytes(buckets, [0, 0, wrong, 0]), None);
            }
        }
        assert_eq!(Anywhere::from_bytes(9, [0, 1, 0, 0]), None);
    }

    #[test]
    fn near_is_near() {
        let near = Near::new(1 << 20);
        println!("{near:?}");
        let buckets = Below::new(1 << 20).unwrap();
        let mut far = 0;
        for fingerprint in 1..4096 {
            let other = near.other(&buckets, 12_345, fingerprint);
            far += u32::from(other.abs_diff(12_345) > 1024);
        }
        // Only the group with the longest chunks goes far.
        assert!(far <= 1024, "{far}");
        // Every group takes the whole of its chunk.
        for (group, chunks) in (0..).zip(near.groups) {
            let length = chunks.length.end();
            let reached: std::collections::BTreeSet<u64> = (0..64 * length)
                .map(|i| near.other(&buckets, 0, 4 * i + 4 + group))
                .collect();
            assert!(reached.last() < Some(&length));
            assert!(reached.len() as u64 > length * 9 / 20);
        }
    }
}
