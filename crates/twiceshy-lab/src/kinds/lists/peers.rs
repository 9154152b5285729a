//! The lists of other crates, built and asked.

use anyhow::{Result, anyhow, ensure};
use clubcard::builder::{ApproximateRibbon, ClubcardBuilder, ExactRibbon};
use clubcard::{ApproximateSizeOf, AsQuery, Clubcard, Equation, Filterable, Queryable};
use rust_cascade::{CascadeBuilder, HashAlgorithm};

use super::key;

/// Bits of `rust_cascade`'s cascade of these lists; `None` if it can't have them.
pub(super) fn rust_cascade_bits(yes: &[u64], no: &[u64]) -> Result<Option<f64>> {
    // The smaller list is the one to hold; beyond equal lengths it does not work at all.
    if yes.len() > no.len() {
        return Ok(None);
    }
    let salt = vec![7; 16];
    let mut builder = CascadeBuilder::new(HashAlgorithm::Sha256, salt, yes.len(), no.len());
    let bytes = |key: &u64| key.to_le_bytes().to_vec();
    let wrong = |error| anyhow!("rust_cascade: {error:?}");
    for key in yes {
        builder.include(bytes(key)).map_err(wrong)?;
    }
    for key in no {
        builder.exclude(bytes(key)).map_err(wrong)?;
    }
    let cascade = builder.finalize().map_err(wrong)?;
    for key in yes.iter().take(1_000) {
        ensure!(cascade.has(bytes(key)), "rust_cascade forgot a key");
    }
    let file = cascade.to_bytes().map_err(wrong)?;
    Ok(Some(file.len() as f64 * 8.0))
}

/// Words of an equation: 256 columns, as Firefox has them.
pub(super) const W: usize = 4;

/// A key on a list.
struct Item {
    bytes: [u8; 8],
    included: bool,
}

impl Item {
    fn new(number: u64, included: bool) -> Self {
        Item {
            bytes: number.to_le_bytes(),
            included,
        }
    }
}

impl AsQuery<W> for Item {
    fn as_query(&self, m: usize) -> Equation<W> {
        let number = u64::from_le_bytes(self.bytes);
        let mut columns: [u64; W] = std::array::from_fn(|i| key(number ^ (i as u64 + 1) << 56));
        columns[0] |= 1;
        let start = key(number ^ 0xff << 56) as usize % m.max(1);
        Equation::inhomogeneous(start, columns, u8::from(!self.included))
    }

    fn block(&self) -> &[u8] {
        &[]
    }

    fn discriminant(&self) -> &[u8] {
        &self.bytes
    }
}

impl Filterable<W> for Item {
    fn included(&self) -> bool {
        self.included
    }
}

/// Nothing is known of the universe.
#[derive(Debug)]
pub(super) struct Anything;

impl ApproximateSizeOf for Anything {}

impl Queryable<W> for Item {
    type UniverseMetadata = Anything;
    type PartitionMetadata = ();

    fn in_universe(&self, _: &Anything) -> bool {
        true
    }
}

/// `clubcard`'s ribbon of these lists.
pub(super) fn clubcard(yes: &[u64], no: &[u64]) -> Clubcard<W, Anything, ()> {
    let mut builder = ClubcardBuilder::new();
    // It encodes the smaller list.
    let inverted = no.len() < yes.len();
    let mut approximate = builder.new_approx_builder(&[]);
    approximate.set_universe_size(yes.len() + no.len());
    approximate.set_inverted(inverted);
    for &number in if inverted { no } else { yes } {
        approximate.insert(Item::new(number, !inverted));
    }
    builder.collect_approx_ribbons(vec![ApproximateRibbon::from(approximate)]);
    let mut exact = builder.new_exact_builder(&[]);
    yes.iter()
        .for_each(|&number| exact.insert(Item::new(number, true)));
    no.iter()
        .for_each(|&number| exact.insert(Item::new(number, false)));
    builder.collect_exact_ribbons(vec![ExactRibbon::from(exact)]);
    builder.build::<Item>(Anything, ())
}

/// Bits of it. The crate writes no files; this is what its arrays and its index hold.
pub(super) fn clubcard_bits(yes: &[u64], no: &[u64]) -> Result<f64> {
    let card = clubcard(yes, no);
    for (numbers, included) in [(yes, true), (no, false)] {
        for &number in numbers.iter().take(1_000) {
            let found = card.unchecked_contains(&Item::new(number, included));
            ensure!(found == included, "clubcard is wrong about a key");
        }
    }
    Ok(card.approximate_size_of() as f64 * 8.0)
}

/// How `clubcard` takes an item, for the clock.
pub(super) fn clubcard_contains(card: &Clubcard<W, Anything, ()>, number: u64) -> bool {
    card.unchecked_contains(&Item::new(number, false))
}
