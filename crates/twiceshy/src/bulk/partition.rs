//! Dividing ids among buckets by their top bits, in one pass and without counting first.
//!
//! # The idea
//!
//! Sorting sixty million ids at once misses the cache with each of them, in each pass. So
//! they are divided first: bucket `b` gets the ids whose top bits are `b`, small enough to
//! be sorted inside the second-level cache. The pass itself would miss as well if it wrote
//! each id where it belongs, so each bucket collects a *line* of 32 ids close at hand; full
//! lines go to the bucket's current *chunk*, and chunks are handed out from large *slabs*
//! as they are needed:
//!
//! ```text
//!   lines     bucket 0 |.......  |   bucket 1 |...      |   …        close at hand
//!                           | when full
//!   chunks    | bucket 1 | bucket 0 | bucket 7 | bucket 0 | …        1024 ids each
//!   slabs     |                  64 MiB                     |  …
//! ```
//!
//! # Space and time
//!
//! An id waits in 4 bytes if it has at most 32 bits below the number of its bucket, and in 8
//! otherwise, and half a chunk a bucket is left over: about 240 MB for sixty million ids.
//! How many there will be need not be known. Any distribution is divided rightly; an
//! uneven one gives some buckets that do not fit the cache.

use super::word::Word;
use crate::error::Error;
use crate::geometry::Geometry;
use crate::mem::{HugePages, Memory};

/// Ids of a line: two or four cache lines. It is read back by whole vectors right after it
/// was filled, which stalls until the stores are done; longer lines stall less often.
const LINE: usize = 32;

/// Ids of a chunk.
const CHUNK: usize = 1 << 10;

/// Bytes of a slab at most. Mapped, and touched only as far as it is used.
const SLAB_BYTES: usize = 1 << 26;

/// Ids of a bucket to aim for: with as many again to sort them, they fit a second-level
/// cache.
const BUCKET_ITEMS: u64 = 1 << 15;

/// As many buckets at most as have their lines close at hand.
const MAX_BUCKET_BITS: u32 = 10;

/// How ids are divided.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    /// Bits of an id below the number of its bucket.
    pub(super) shift: u32,
    pub(super) buckets: usize,
    /// How many ids to expect.
    expected: u64,
    pub(super) huge_pages: HugePages,
}

impl Plan {
    /// For about `expected` ids of a geometry.
    pub(super) fn new(geometry: &Geometry, expected: u64, huge_pages: HugePages) -> Self {
        let last_id = geometry.ids() - 1;
        let id_bits = 64 - last_id.leading_zeros();
        let wanted = (expected / BUCKET_ITEMS).checked_ilog2();
        let bucket_bits = wanted.map_or(0, |bits| bits + 1).min(MAX_BUCKET_BITS);
        let shift = id_bits.saturating_sub(bucket_bits);
        Plan {
            shift,
            buckets: (last_id >> shift) as usize + 1,
            expected,
            huge_pages,
        }
    }
}

/// Ids in buckets.
pub(super) struct Partition<W> {
    plan: Plan,
    lines: Vec<Line<W>>,
    /// How many ids each line has.
    filled: Vec<u8>,
    buckets: Vec<Bucket>,
    slabs: Vec<Memory>,
    chunks_per_slab: usize,
    /// Chunks that are handed out.
    taken: usize,
}

/// Ids that wait for others of the same bucket.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Line<W>([W; LINE]);

/// Where the full lines of a bucket are.
#[derive(Clone, Default)]
struct Bucket {
    chunks: Vec<usize>,
    /// Ids in these chunks.
    len: usize,
}

impl<W: Word> Partition<W> {
    pub(super) fn new(plan: Plan) -> Self {
        let expected = usize::try_from(plan.expected).unwrap_or(usize::MAX);
        let most = SLAB_BYTES / (CHUNK * W::BYTES);
        let chunks = (expected / CHUNK).saturating_add(plan.buckets);
        Partition {
            plan,
            lines: vec![Line([W::default(); LINE]); plan.buckets],
            filled: vec![0; plan.buckets],
            buckets: vec![Bucket::default(); plan.buckets],
            slabs: Vec::new(),
            chunks_per_slab: chunks.clamp(1, most),
            taken: 0,
        }
    }

    /// Adds an id of the geometry.
    #[inline(always)]
    pub(super) fn push(&mut self, id: u64) -> Result<(), Error> {
        let bucket = (id >> self.plan.shift) as usize;
        let filled = &mut self.filled[bucket];
        let at = usize::from(*filled) % LINE;
        self.lines[bucket].0[at] = W::cut(id);
        *filled = at as u8 + 1;
        if at == LINE - 1 {
            *filled = 0;
            return self.flush(bucket);
        }
        Ok(())
    }

    /// Moves the line of a bucket to its current chunk, or to a new one.
    #[inline(always)]
    fn flush(&mut self, number: usize) -> Result<(), Error> {
        let at = self.buckets[number].len % CHUNK;
        if at == 0 {
            self.take_chunk(number)?;
        }
        let bucket = &mut self.buckets[number];
        bucket.len += LINE;
        let chunk = bucket.chunks.last().copied().unwrap_or_default();
        let start = (chunk % self.chunks_per_slab * CHUNK + at) * W::BYTES;
        let slab = self.slabs[chunk / self.chunks_per_slab].as_mut();
        let bytes = &mut slab[start..start + LINE * W::BYTES];
        for (bytes, word) in bytes.chunks_exact_mut(W::BYTES).zip(self.lines[number].0) {
            word.store(bytes);
        }
        Ok(())
    }

    #[cold]
    fn take_chunk(&mut self, number: usize) -> Result<(), Error> {
        if self.taken == self.slabs.len() * self.chunks_per_slab {
            let bytes = self.chunks_per_slab * CHUNK * W::BYTES;
            self.slabs
                .push(Memory::zeroed(bytes, self.plan.huge_pages)?);
        }
        self.buckets[number].chunks.push(self.taken);
        self.taken += 1;
        Ok(())
    }

    /// How many ids a bucket has.
    pub(super) fn len(&self, bucket: usize) -> usize {
        self.buckets[bucket].len + usize::from(self.filled[bucket])
    }

    /// How many ids there are.
    pub(super) fn total(&self) -> u64 {
        (0..self.plan.buckets).map(|b| self.len(b) as u64).sum()
    }

    /// Appends the ids of a bucket to `words`, in the order in which they came.
    pub(super) fn gather(&self, bucket: usize, words: &mut Vec<W>) {
        let mut left = self.buckets[bucket].len;
        for &chunk in &self.buckets[bucket].chunks {
            let here = left.min(CHUNK);
            let start = chunk % self.chunks_per_slab * CHUNK * W::BYTES;
            let slab = self.slabs[chunk / self.chunks_per_slab].as_ref();
            let bytes = &slab[start..start + here * W::BYTES];
            words.extend(bytes.chunks_exact(W::BYTES).map(W::load));
            left -= here;
        }
        words.extend(&self.lines[bucket].0[..usize::from(self.filled[bucket])]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::{GOLDEN, mix};

    fn random(i: u64) -> u64 {
        mix((i + 1).wrapping_mul(GOLDEN))
    }

    /// Divides ids and compares with a list for each bucket.
    fn check<W: Word + std::fmt::Debug>(plan: Plan, ids: &[u64]) {
        let mut partition = Partition::<W>::new(plan);
        let mut expected = vec![Vec::new(); plan.buckets];
        for &id in ids {
            partition.push(id).unwrap();
            expected[(id >> plan.shift) as usize].push(W::cut(id));
        }
        for (bucket, expected) in expected.iter().enumerate() {
            let mut words = vec![W::default()];
            partition.gather(bucket, &mut words);
            assert_eq!(words[1..], expected[..], "bucket {bucket} of {plan:?}");
        }
    }

    #[test]
    fn every_id_is_in_its_bucket() {
        for (slots, bits) in [(1, 1), (3, 2), (1_000, 9), (1 << 20, 12), (1 << 30, 30)] {
            let geometry = Geometry::new(slots, bits).unwrap();
            for expected in [0, 1, 1 << 15, 1 << 18, 3 << 20, u64::MAX] {
                let plan = Plan::new(&geometry, expected, HugePages::Ask);
                let last = geometry.ids() - 1;
                assert!((last >> plan.shift) as usize == plan.buckets - 1);
                assert!(plan.buckets <= 1 << MAX_BUCKET_BITS);
                // Uniform, all equal, ascending, descending, nearly all in one bucket.
                let kinds: [&dyn Fn(u64) -> u64; 5] = [
                    &|i| random(i) % geometry.ids(),
                    &|_| last,
                    &|i| i % geometry.ids(),
                    &|i| last - i % geometry.ids(),
                    &|i| {
                        if i % 50 == 0 {
                            random(i) % geometry.ids()
                        } else {
                            0
                        }
                    },
                ];
                for kind in kinds {
                    for len in [0, 1, 15, 16, 17, 1_024, 1_040, 40_000] {
                        let ids: Vec<u64> = (0..len).map(kind).collect();
                        check::<u64>(plan, &ids);
                        check::<u32>(plan, &ids);
                    }
                }
            }
        }
    }

    #[test]
    fn buckets_are_about_as_large_as_wanted() {
        let geometry = Geometry::new(1 << 26, 9).unwrap();
        for (expected, buckets) in [(1, 1), (1 << 14, 1), (1 << 16, 4), (60_000_000, 1_024)] {
            let plan = Plan::new(&geometry, expected, HugePages::Never);
            assert_eq!(plan.buckets, buckets);
        }
        // A geometry with fewer ids than that has as many buckets as ids.
        let geometry = Geometry::new(3, 1).unwrap();
        assert_eq!(Plan::new(&geometry, 1 << 40, HugePages::Never).buckets, 6);
    }
}
