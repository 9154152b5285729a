//! What a symbol beside a slot means: all in which the filters of this family differ.
//!
//! A key has a sequence of slots, numbered from 0, that could stand for it. Number 0 is its home
//! remainder with no symbol; each further number is another symbol:
//!
//! ```text
//! key  x            q | r0 | r1 | r2 | r3 …       its hash stream, cut into remainders
//! selectors         0: r0      1: r1, "1"      2: r2, "2"      3: r3, "3"
//!
//! key  x            q | r0 | 1 0 1 …              its hash stream, bit by bit
//! extensions        0: r0      1: r0, "1"      2: r0, "10"     3: r0, "101"
//! ```
//!
//! A slot fits a key if it is the key's slot of that number. Adapting puts the next slot of the
//! member in place of one that is a slot of the query as well.

use std::ops::RangeInclusive;
use std::sync::{LazyLock, OnceLock};

use super::code::{Coder, Coding, Extension, Extensions, PlainSelectors, Selector, Selectors};
use super::runs::SlotAndSymbol;
use crate::error::Error;
use crate::file::FilterKind;
use crate::geometry::{Fingerprint, Geometry};
use crate::hash::Hashed;

/// Symbols beside slots, a way to store them, and what they mean.
pub trait Symbols: Coding<Symbol: Numbered> + 'static {
    /// What a file with such symbols is called.
    const KIND: FilterKind;

    /// What a filter with such symbols is called.
    const NAME: &'static str;

    /// The highest number of a symbol.
    const MAX: u32;

    /// Which keys may fit the same slots.
    const UNIT: Unit;

    /// The coding for remainders of so many bits. All filters share it: a coder has over 1 KB of
    /// constants.
    fn for_width(bits: u32) -> &'static Self;

    /// Does a slot stand for this key?
    #[inline]
    fn fits(key: &Placed<'_, '_>, slot: SlotAndSymbol<Self::Symbol>) -> bool {
        let is_near = Self::UNIT == Unit::Run || slot.value == key.home.remainder;
        is_near && Numbered::slot(key, slot.symbol.number()) == slot
    }
}

/// A symbol that has a number in the sequence of slots of a key.
pub trait Numbered: Copy {
    /// The number of the symbol.
    fn number(self) -> u32;

    /// What a slot holds that stands for a key with the symbol of this number.
    fn slot(key: &Placed<'_, '_>, number: u32) -> SlotAndSymbol<Self>;
}

/// Which keys may fit the same slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Those of a run: symbols change what is stored. So a slot without its symbol is another
    /// slot, and who drops a symbol must know the key.
    Run,
    /// Those of a minirun: the remainder stays what it is, and a slot without its symbol still
    /// fits its key.
    Minirun,
}

impl Unit {
    /// The minirun ids of the unit that has this fingerprint.
    pub(super) fn ids(self, geometry: &Geometry, home: Fingerprint) -> RangeInclusive<u64> {
        let bits = geometry.remainder_bits();
        match self {
            Unit::Run => home.quotient << bits..=((home.quotient + 1) << bits) - 1,
            Unit::Minirun => geometry.id_of(home)..=geometry.id_of(home),
        }
    }
}

/// A key and where it would be.
#[derive(Clone, Copy, Debug)]
pub struct Placed<'a, 'k> {
    pub(super) key: &'a Hashed<'k>,
    pub(super) home: Fingerprint,
    remainder_bits: u32,
}

impl<'a, 'k> Placed<'a, 'k> {
    pub(super) fn new(geometry: &Geometry, key: &'a Hashed<'k>) -> Self {
        Placed {
            key,
            home: geometry.fingerprint(key.h0()),
            remainder_bits: geometry.remainder_bits(),
        }
    }
}

impl Symbols for Coder<Selectors> {
    const KIND: FilterKind = FilterKind::Telescoping;
    const NAME: &'static str = "TelescopingFilter";
    const MAX: u32 = Selectors::MAX as u32;
    const UNIT: Unit = Unit::Run;

    fn for_width(bits: u32) -> &'static Self {
        static CODERS: [OnceLock<Box<Coder<Selectors>>>; 64] = [const { OnceLock::new() }; 64];
        let new = || Box::new(Coder::new(Selectors::for_width(bits)));
        CODERS[bits as usize & 63].get_or_init(new)
    }
}

impl Symbols for PlainSelectors {
    const KIND: FilterKind = FilterKind::PlainTelescoping;
    const NAME: &'static str = "PlainTelescopingFilter";
    const MAX: u32 = PlainSelectors::MAX as u32;
    const UNIT: Unit = Unit::Run;

    fn for_width(_: u32) -> &'static Self {
        &PlainSelectors
    }
}

impl Symbols for Coder<Extensions> {
    const KIND: FilterKind = FilterKind::Extension;
    const NAME: &'static str = "ExtensionFilter";
    const MAX: u32 = Extension::MAX_LEN;
    const UNIT: Unit = Unit::Minirun;

    fn for_width(_: u32) -> &'static Self {
        static CODER: LazyLock<Coder<Extensions>> = LazyLock::new(|| Coder::new(Extensions));
        &CODER
    }
}

impl Numbered for Selector {
    #[inline]
    fn number(self) -> u32 {
        u32::from(self)
    }

    /// The home remainder, or a piece of the hash stream.
    #[inline]
    fn slot(key: &Placed<'_, '_>, number: u32) -> SlotAndSymbol<Selector> {
        let bits = key.remainder_bits;
        let value = match number.checked_sub(1) {
            None => key.home.remainder,
            Some(piece) => key.key.bits(u64::from(piece) * u64::from(bits), bits),
        };
        SlotAndSymbol {
            value,
            symbol: number as Selector,
        }
    }
}

impl Numbered for Extension {
    #[inline]
    fn number(self) -> u32 {
        self.len()
    }

    #[inline]
    fn slot(key: &Placed<'_, '_>, number: u32) -> SlotAndSymbol<Extension> {
        let extension = match number {
            0 => None,
            len => Extension::new(len, key.key.bits(0, len)),
        };
        SlotAndSymbol {
            value: key.home.remainder,
            symbol: extension.unwrap_or_default(),
        }
    }
}

/// The keys that could have given a positive answer: those whose `h0` is in a range. It stays
/// right, whatever is inserted, removed or adapted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Stretch {
    pub(super) first: u64,
    pub(super) last: u64,
}

impl Stretch {
    /// All first hash words from `first` to `last`, as
    /// [`Error::NeedsHashes`](crate::Error::NeedsHashes) names them.
    #[must_use]
    pub fn new(first: u64, last: u64) -> Self {
        Stretch { first, last }
    }

    /// The first hash words of the keys.
    #[must_use]
    pub fn hashes(self) -> RangeInclusive<u64> {
        self.first..=self.last
    }

    /// The error that asks for these keys.
    pub(super) fn needed(self) -> Error {
        let Stretch { first, last } = self;
        Error::NeedsHashes { first, last }
    }

    /// All keys of some miniruns.
    pub(super) fn of_ids(geometry: &Geometry, ids: &RangeInclusive<u64>) -> Self {
        Stretch {
            first: *geometry.hash_range(*ids.start()).start(),
            last: *geometry.hash_range(*ids.end()).end(),
        }
    }
}
