//! Filters of equal space, as the papers on telescoping filters compare them.
//!
//! "We use 8-bit remainders for the TAF. Because the TAF has three extra bits per element for
//! metadata and adaptivity, this corresponds to fingerprints of size 11 for the Swapping and
//! Cuckooing ACF, and size 11 - s for a Cyclic ACF with s hash-selector bits." So a *cell* of so
//! many bits is all that a slot has.
//!
//! A table of our quotient filters does not wrap around: it has spare slots at its end, which for
//! a thousand keys are a fifth of it. The cuckoo filters are given as many slots in all, so that
//! the bytes are equal whatever the size.

use anyhow::{Context, Result};
use serde::Deserialize;
use twiceshy::sizing::spare_slots;

use crate::experiments::bench::Bench;
use crate::filters::{Entry, Set, Shape};

/// How large the filters are.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Cells {
    /// Bits of a slot, metadata included.
    pub(super) bits: u32,
    /// The share of the slots that is filled, spare slots aside.
    pub(super) load: f64,
}

impl Cells {
    /// What to ask for ([`Shape::bits`]) so that a slot has the bits of a cell.
    ///
    /// A slot of the quotient family has three bits beside its remainder, give or take a
    /// quarter; a cuckoo filter is all fingerprint, and is given three bits (buckets of four)
    /// or two (buckets of one) more than asked for.
    fn asked_of(self, name: &str) -> Result<u32> {
        let beside = match name {
            "cuckooing" => 2,
            "cyclic-1" => 3,
            "cyclic-2" => 4,
            "cyclic-3" => 5,
            _ => 3,
        };
        let bits = self.bits.checked_sub(beside).filter(|&bits| bits > 0);
        bits.with_context(|| format!("{name} does not fit into cells of {} bits", self.bits))
    }

    /// Slots for so many keys. Those that a quotient filter has to spare are not asked for.
    fn slots(self, name: &str, keys: u64) -> u64 {
        let slots = (keys as f64 / self.load).ceil() as u64;
        let mut families = HAS_SPARE_SLOTS.iter();
        if families.any(|family| name.starts_with(family)) {
            return slots;
        }
        // Whole buckets.
        (slots + spare_slots(slots)).next_multiple_of(4)
    }

    /// A filter with these keys.
    ///
    /// A cuckoo filter may find no place for its last keys; then another seed is tried.
    pub(super) fn fill<'k>(
        self,
        entry: &Entry,
        seed: u64,
        keys: impl ExactSizeIterator<Item = impl AsRef<[u8]> + 'k> + Clone,
    ) -> Result<Box<dyn Set>> {
        let mut failure = None;
        for attempt in 0..ATTEMPTS {
            let shape = Shape {
                slots: self.slots(entry.name, keys.len() as u64),
                load: self.load,
                bits: self.asked_of(entry.name)?,
                seed: seed + attempt * 1_000_003,
            };
            let mut set = entry.set(&shape)?;
            match keys.clone().try_for_each(|key| set.insert(key.as_ref())) {
                Ok(()) => return Ok(set),
                Err(error) => failure = Some(error),
            }
        }
        let failure = failure.context("no attempt")?;
        Err(failure).with_context(|| format!("{} took no seed of {ATTEMPTS}", entry.name))
    }
}

const ATTEMPTS: u64 = 20;

/// Filters whose tables don't wrap around.
const HAS_SPARE_SLOTS: [&str; 4] = ["adaptive", "telescoping", "extension", "quotient"];

/// What became of the queries for strangers.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    pub(super) asked: u64,
    pub(super) wrong: u64,
    /// Mistakes that the filter had no room to learn from.
    unlearnt: u64,
}

impl Tally {
    /// Asks for a stranger, and reports the mistake if it is one. Was it one?
    ///
    /// A filter without room is no error here: it goes on with what it has learnt.
    pub(super) fn ask(&mut self, set: &mut dyn Set, key: &[u8]) -> Result<bool> {
        self.asked += 1;
        let wrong = set.contains(key);
        if wrong {
            self.wrong += 1;
            match set.report(key) {
                Err(error) if is_full(&error) => self.unlearnt += 1,
                result => result?,
            }
        }
        Ok(wrong)
    }

    /// The share of wrong answers.
    pub(super) fn fpr(&self) -> f64 {
        self.wrong as f64 / self.asked.max(1) as f64
    }

    /// Says what a reader must know of it.
    pub(super) fn tell(&self, bench: &mut Bench<'_>, name: &str) {
        if self.unlearnt > 0 {
            bench.remark(format!(
                "{name} ran out of slots in this space: from then on it kept what it had learnt \
                 and learnt nothing new"
            ));
        }
    }
}

fn is_full(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(twiceshy::Error::Full { .. }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filters;

    #[test]
    fn cells_take_the_space_that_they_should() {
        let cells = Cells {
            bits: 11,
            load: 0.95,
        };
        for keys in [500, 95_000_u32] {
            let mut sizes = Vec::new();
            for name in [
                "adaptive",
                "telescoping",
                "extension",
                "cyclic-1",
                "cyclic-2",
                "cyclic-3",
                "swapping",
                "cuckooing",
                "cuckoo",
            ] {
                let entry = filters::by_name(name).unwrap();
                let members = (0..keys).map(|i| (u64::from(i) << 7).to_le_bytes());
                let set = cells.fill(entry, 3, members).unwrap();
                sizes.push(set.space().bytes as f64 * 8.0 / f64::from(keys));
            }
            // A quarter of a bit either way, and whole blocks in small tables.
            let (least, most) = sizes.iter().fold((f64::MAX, 0.0), |(least, most), &bits| {
                (bits.min(least), bits.max(most))
            });
            let apart = if keys < 1_000 { 1.1 } else { 1.04 };
            assert!(most / least < apart, "{keys}: {sizes:?}");
        }
        assert!(Cells { bits: 3, load: 0.9 }.asked_of("cuckoo").is_err());
    }
}
