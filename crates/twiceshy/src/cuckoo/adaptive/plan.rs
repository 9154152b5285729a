//! The measures of an adaptive cuckoo filter, and the three ways to adapt.

use super::super::shape::{PLANNED_LOAD, check_bits, fingerprint_bits};
use crate::error::Error;
use crate::geometry::Geometry;
use crate::hash::{GOLDEN, Hashed, mix};

/// How a filter changes the fingerprint of a key that a query was mistaken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Scheme {
    /// Beside each fingerprint stand `s` bits, 1 to 3, that say which of `2^s` hash functions
    /// it is of; to adapt, the next one is taken.
    Cyclic {
        /// The number `s` of selector bits.
        selector_bits: u32,
    },
    /// Each slot of a bin has its hash function; to adapt, two keys of the bin change places.
    /// Needs bins of more than one slot.
    Swapping,
    /// Each of a key's locations has its hash function; to adapt, the key moves to another
    /// location, whoever must give way.
    Cuckooing,
}

/// How many locations a key has, and of how many slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Bins {
    /// Four locations of one slot: a query is compared with four fingerprints.
    FourOfOne,
    /// Two locations of four slots: a query is compared with eight.
    TwoOfFour,
}

impl Bins {
    /// Slots of a bin.
    #[must_use]
    pub const fn slots(self) -> u32 {
        match self {
            Bins::FourOfOne => 1,
            Bins::TwoOfFour => 4,
        }
    }

    /// Locations of a key.
    #[must_use]
    pub const fn choices(self) -> u32 {
        match self {
            Bins::FourOfOne => 4,
            Bins::TwoOfFour => 2,
        }
    }
}

/// The most selector bits.
pub(super) const MAX_SELECTOR_BITS: u32 = 3;

/// The most hash functions of a key.
pub(super) const MAX_FUNCTIONS: usize = 1 << MAX_SELECTOR_BITS;

/// The measures of an adaptive cuckoo filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    bins: u64,
    bits: u32,
    scheme: Scheme,
    layout: Bins,
}

/// All that a filter needs to know of a stored key: its locations and fingerprints.
#[derive(Clone, Copy, Debug)]
pub(super) struct Identity {
    pub(super) bins: [u64; 4],
    pub(super) fingerprints: [u64; MAX_FUNCTIONS],
}

impl Plan {
    /// So many bins, any number, with fingerprints of 4 to 32 bits.
    ///
    /// # Errors
    /// [`Error::Geometry`] if there is no such filter.
    pub fn new(
        bins: u64,
        fingerprint_bits: u32,
        scheme: Scheme,
        layout: Bins,
    ) -> Result<Self, Error> {
        check_bits(fingerprint_bits)?;
        match (scheme, layout) {
            (Scheme::Cyclic { selector_bits }, _) if !(1..=3).contains(&selector_bits) => {
                return Err(Error::geometry(format!(
                    "a cyclic filter has 1 to {MAX_SELECTOR_BITS} selector bits, not \
                     {selector_bits}"
                )));
            }
            (Scheme::Swapping, Bins::FourOfOne) => {
                return Err(Error::geometry(
                    "nobody can change places in bins of one slot; take bins of four",
                ));
            }
            _ => {}
        }
        let cells = bins.checked_mul(layout.slots().into());
        let cells = cells.filter(|&cells| cells > 0);
        let cells = cells.ok_or_else(|| Error::geometry("a filter has 1 to 2^56 cells"))?;
        Geometry::new(cells, fingerprint_bits)?;
        Ok(Plan {
            bins,
            bits: fingerprint_bits,
            scheme,
            layout,
        })
    }

    /// The plan for `capacity` keys at a false-positive rate, of keys that were never asked for
    /// before, of at most `fpr`.
    ///
    /// # Errors
    /// [`Error::Geometry`] if there is none.
    pub fn for_capacity(
        capacity: u64,
        fpr: f64,
        scheme: Scheme,
        layout: Bins,
    ) -> Result<Self, Error> {
        let compared = f64::from(layout.choices() * layout.slots()) * PLANNED_LOAD;
        let bits = fingerprint_bits(fpr, compared)?;
        let cells = 4 * super::super::shape::buckets_for(capacity)?;
        Plan::new(cells.div_ceil(layout.slots().into()), bits, scheme, layout)
    }

    /// Bins.
    #[must_use]
    pub fn bins(&self) -> u64 {
        self.bins
    }

    /// Cells: bins times slots.
    #[must_use]
    pub fn cells(&self) -> u64 {
        self.bins * u64::from(self.layout.slots())
    }

    /// Bits of a fingerprint, without a selector.
    #[must_use]
    pub fn fingerprint_bits(&self) -> u32 {
        self.bits
    }

    /// How it adapts.
    #[must_use]
    pub fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// Locations and slots.
    #[must_use]
    pub fn layout(&self) -> Bins {
        self.layout
    }

    /// Bits of the selector in each cell.
    #[must_use]
    pub fn selector_bits(&self) -> u32 {
        match self.scheme {
            Scheme::Cyclic { selector_bits } => selector_bits,
            Scheme::Swapping | Scheme::Cuckooing => 0,
        }
    }

    /// Bits of a cell.
    pub(super) fn cell_bits(&self) -> u32 {
        self.bits + self.selector_bits()
    }

    /// Bytes of the table; `None` if they can't be addressed.
    pub(super) fn checked_bytes(&self) -> Option<usize> {
        let bits = self.cells().checked_mul(self.cell_bits().into())?;
        usize::try_from(bits.div_ceil(8)).ok()?.checked_add(8)
    }

    /// The chance that a key that was never asked for before is wrongly answered "maybe", with
    /// `items` keys in the filter.
    #[must_use]
    pub fn expected_fpr(&self, items: u64) -> f64 {
        let load = items as f64 / self.cells() as f64;
        let compared = f64::from(self.layout.choices() * self.layout.slots());
        let different = ((1_u64 << self.bits) - 1) as f64;
        -(compared * load * (-1.0 / different).ln_1p()).exp_m1()
    }

    /// Location `choice` of a key.
    #[inline]
    pub(super) fn bin(&self, key: &Hashed<'_>, choice: u32) -> u64 {
        let word = mix(key.h0().wrapping_add(GOLDEN.wrapping_mul(choice.into())));
        ((u128::from(word) * u128::from(self.bins)) >> 64) as u64
    }

    /// The fingerprint of a key by one of its functions: 32 bits of the stream, cut to one of
    /// `2^w - 1` numbers from 1 on.
    #[inline]
    pub(super) fn fingerprint(&self, key: &Hashed<'_>, function: u32) -> u64 {
        let bits = key.bits(u64::from(function) * 32, 32);
        1 + ((bits * ((1 << self.bits) - 1)) >> 32)
    }

    /// The function of a fingerprint with this selector, in this slot of the location `choice`.
    #[inline]
    pub(super) fn function(&self, selector: u32, slot: u32, choice: u32) -> u32 {
        match self.scheme {
            Scheme::Cyclic { .. } => selector,
            Scheme::Swapping => slot,
            Scheme::Cuckooing => choice,
        }
    }

    /// How many functions a key has.
    fn functions(&self) -> u32 {
        match self.scheme {
            Scheme::Cyclic { selector_bits } => 1 << selector_bits,
            Scheme::Swapping => self.layout.slots(),
            Scheme::Cuckooing => self.layout.choices(),
        }
    }

    /// Everything about a key at once.
    pub(super) fn identity(&self, key: &Hashed<'_>) -> Identity {
        let mut identity = Identity {
            bins: [0; 4],
            fingerprints: [0; MAX_FUNCTIONS],
        };
        for (choice, bin) in (0..self.layout.choices()).zip(&mut identity.bins) {
            *bin = self.bin(key, choice);
        }
        let functions = 0..self.functions();
        for (function, fingerprint) in functions.zip(&mut identity.fingerprints) {
            *fingerprint = self.fingerprint(key, function);
        }
        identity
    }

    /// The locations of a key.
    pub(super) fn bins_of<'i>(&self, identity: &'i Identity) -> &'i [u64] {
        &identity.bins[..self.layout.choices() as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impossible_wishes_say_why() {
        let message = |bins, bits, scheme, layout| {
            let plan = Plan::new(bins, bits, scheme, layout);
            plan.unwrap_err().to_string()
        };
        let cyclic = |selector_bits| Scheme::Cyclic { selector_bits };
        assert!(message(9, 3, cyclic(1), Bins::FourOfOne).contains("4 to 32 bits"));
        assert!(message(9, 8, cyclic(0), Bins::FourOfOne).contains("1 to 3 selector"));
        assert!(message(9, 8, cyclic(4), Bins::TwoOfFour).contains("1 to 3 selector"));
        assert!(message(9, 8, Scheme::Swapping, Bins::FourOfOne).contains("change places"));
        assert!(message(0, 8, Scheme::Cuckooing, Bins::FourOfOne).contains("cells"));
        assert!(message(1 << 55, 8, Scheme::Cuckooing, Bins::FourOfOne).contains("60 bits"));
    }

    #[test]
    fn a_full_filter_keeps_its_promise() {
        for layout in [Bins::FourOfOne, Bins::TwoOfFour] {
            for fpr in [0.3, 0.01, 1.0 / 512.0, 1e-6] {
                let plan = Plan::for_capacity(10_000, fpr, Scheme::Cuckooing, layout).unwrap();
                assert!(plan.expected_fpr(10_000) <= fpr, "{plan:?}");
            }
        }
    }
}
