//! Many keys at a time: hash them all, ask for their cache lines, then look.
//!
//! A lookup in a table that is larger than the caches waits for two cache lines. The
//! processor overlaps some of that with the next lookups, as many as fit in its reorder
//! buffer: about three. Asking for the lines of many keys first and looking at them later
//! overlaps as many as the memory can deliver:
//!
//! ```text
//! one by one    hash ask ....wait.... look  hash ask ....wait.... look
//! in a batch    hash ask hash ask hash ask hash ask … look look look look …
//! ```
//!
//! All of it happens inside one call, so nothing is left over when it returns. Batches of
//! any length are cut into pieces of a few hundred keys.
//!
//! ```
//! use twiceshy::{Filter, Insert, QuotientFilter};
//!
//! let mut filter = QuotientFilter::new(1_000, 0.001)?;
//! filter.insert_batch(["anna", "otto"])?;
//! // From a slice …
//! assert_eq!(filter.contains_batch(&["anna", "otto"]), [true, true]);
//! // … or one answer after the other from an iterator.
//! let names = ["anna", "eve", "otto"].into_iter();
//! let found = names.clone().zip(filter.contains_each(names)).filter(|(_, found)| *found);
//! assert!(found.map(|(name, _)| name).eq(["anna", "otto"]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::fmt;

use crate::error::Error;

/// How many keys are under way at once. More than the memory can deliver at a time, so that
/// it never idles; few enough that their lines and hashes stay in the first-level cache.
pub(crate) const PIECE: usize = 256;

/// Which keys of a piece take a longer look.
#[derive(Debug)]
pub struct Unclear {
    positions: [u8; PIECE],
    count: usize,
}

impl Unclear {
    fn none() -> Self {
        Unclear {
            positions: [0; PIECE],
            count: 0,
        }
    }

    /// Notes that a key is unclear, or not, without a branch.
    #[inline(always)]
    pub(crate) fn note(&mut self, position: usize, unclear: bool) {
        // What is written behind the end does not count.
        self.positions[self.count % PIECE] = position as u8;
        self.count += usize::from(unclear);
    }

    fn positions(&self) -> impl Iterator<Item = usize> {
        self.positions[..self.count].iter().map(|&i| usize::from(i))
    }
}

/// Hashes keys piece by piece, lets `look` answer what it can, and `answer_unclear` the rest. Each
/// piece is then handed on: its hashes and its answers.
#[inline(always)]
pub(crate) fn in_pieces<K>(
    keys: &[K],
    hash: impl Fn(&K) -> u64,
    look: impl Fn(&[u64], &mut [bool], &mut Unclear),
    answer_unclear: impl Fn(&K, u64) -> bool,
    mut each: impl FnMut(&[u64], &[bool]),
) {
    let mut hashes = [0; PIECE];
    let mut found = [false; PIECE];
    for piece in keys.chunks(PIECE) {
        for (h0, key) in hashes.iter_mut().zip(piece) {
            *h0 = hash(key);
        }
        let hashes = &hashes[..piece.len()];
        let found = &mut found[..piece.len()];
        let mut unclear = Unclear::none();
        look(hashes, found, &mut unclear);
        for i in unclear.positions() {
            found[i] = answer_unclear(&piece[i], hashes[i]);
        }
        each(hashes, found);
    }
}

/// Answers keys by the first words of their hashes alone, which `look` gets piece by piece.
#[inline(always)]
pub(crate) fn by_first_words<K>(
    keys: &[K],
    hash: impl Fn(&K) -> u64,
    look: impl Fn(&[u64], &mut [bool]),
    answers: &mut Vec<bool>,
) {
    answers.clear();
    answers.reserve(keys.len());
    in_pieces(
        keys,
        hash,
        |hashes, found, _| look(hashes, found),
        |_, _| unreachable!("nothing is left unclear"),
        |_, found| answers.extend_from_slice(found),
    );
}

/// How many lookups ahead lines are prefetched: as many as the memory delivers during the latency of one.
const AHEAD: usize = 16;

/// Answers hashes one after the other, by their positions and themselves, and prefetches what those some way
/// ahead will look at.
#[inline(always)]
pub(crate) fn ahead(
    hashes: &[u64],
    found: &mut [bool],
    prefetch: impl Fn(u64),
    mut contains: impl FnMut(usize, u64) -> bool,
) {
    hashes.iter().take(AHEAD).for_each(|&h0| prefetch(h0));
    for (i, (&h0, found)) in hashes.iter().zip(found).enumerate() {
        if let Some(&ahead) = hashes.get(i + AHEAD) {
            prefetch(ahead);
        }
        *found = contains(i, h0);
    }
}

/// A batch that stopped at a key that could not be inserted. The keys before it are in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interrupted {
    /// How many keys are in: the position of the one that could not be inserted.
    pub inserted: u64,
    /// Why it could not.
    pub error: Error,
}

impl fmt::Display for Interrupted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Interrupted { inserted, error } = self;
        write!(f, "{inserted} keys were inserted, then: {error}")
    }
}

impl std::error::Error for Interrupted {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.error)
    }
}

/// Inserts keys piece by piece: `prefetch` is called with the hashes of each piece before
/// `insert` with its keys.
#[inline(always)]
pub(crate) fn insert_in_pieces<F, K>(
    filter: &mut F,
    keys: impl IntoIterator<Item = K>,
    hash: impl Fn(&F, &K) -> u64,
    prefetch: impl Fn(&F, u64),
    mut insert: impl FnMut(&mut F, &K, u64) -> Result<(), Error>,
) -> Result<(), Interrupted> {
    let mut keys = keys.into_iter();
    let mut piece = Vec::with_capacity(PIECE);
    let mut inserted = 0;
    loop {
        piece.clear();
        piece.extend(keys.by_ref().take(PIECE).map(|key| {
            let h0 = hash(filter, &key);
            prefetch(filter, h0);
            (key, h0)
        }));
        if piece.is_empty() {
            return Ok(());
        }
        for (key, h0) in &piece {
            insert(filter, key, *h0).map_err(|error| Interrupted { inserted, error })?;
            inserted += 1;
        }
    }
}
