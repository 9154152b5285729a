//! One stored fingerprint, in slots and out of them.
//!
//! ```text
//!   home slot                    extension slots          counter slots
//!   | remainder | value |        | digit 0 | digit 1 | …  | digit 0 | digit 1 | …
//! ```
//!
//! All slots but the last are marked: the fingerprint goes on. The runend bit of a marked slot says in
//! what: 0, in a digit of the extension; 1, in one of the counter.
//!
//! Extension digit `k` is bits `k w .. (k + 1) w` of the key's hash stream from `h1` on, where
//! `w` is the width of a slot. A count of one has no counter; larger counts are written in
//! base `2^w`, lowest digit first, without leading zeros; the counter `0` makes a *ghost*.

use crate::bits::mask_below;
use crate::error::Error;
use crate::hash::Hashed;
use crate::table::{Mark, Slot};

/// A stored fingerprint without its home remainder, which all of a minirun share. Ordered
/// as in the table.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Print {
    pub(crate) extension: Vec<u64>,
    pub(crate) value: u64,
    /// Zero for a ghost.
    pub(crate) count: u64,
}

/// A key's hash stream as digits: what extensions are cut from.
pub(crate) trait Stream {
    /// Digit `k`.
    fn digit(&self, k: usize) -> u64;

    /// How many digits there are before two keys count as inseparable.
    fn digits(&self) -> usize;
}

/// A hashed key as a stream of digits of a given width.
#[derive(Clone, Copy)]
pub(crate) struct Digits<'k> {
    pub(crate) key: &'k Hashed<'k>,
    pub(crate) width: u32,
}

impl Digits<'_> {
    /// Digit 0, which is at hand.
    #[inline(always)]
    pub(crate) fn first(&self) -> u64 {
        // The mask is free, and tells the compiler that the shift is in range.
        self.key.word(1) >> (self.width.wrapping_neg() & 63)
    }
}

impl Stream for Digits<'_> {
    #[inline]
    fn digit(&self, k: usize) -> u64 {
        if k == 0 {
            return self.first();
        }
        self.key.bits(k as u64 * u64::from(self.width), self.width)
    }

    fn digits(&self) -> usize {
        max_digits(self.width)
    }
}

/// How many digits a key's stream has, and so an extension at most: whole ones in the words
/// from h1 on.
pub(crate) fn max_digits(width: u32) -> usize {
    ((Hashed::MAX_WORDS - 1) * 64 / width) as usize
}

impl Print {
    /// An unextended fingerprint.
    pub(crate) fn new(count: u64, value: u64) -> Self {
        Print {
            extension: Vec::new(),
            value,
            count,
        }
    }

    pub(crate) fn is_ghost(&self) -> bool {
        self.count == 0
    }

    /// Does the key's stream start with this fingerprint?
    pub(crate) fn prefixes(&self, key: &impl Stream) -> bool {
        (self.extension.iter().enumerate()).all(|(k, &digit)| key.digit(k) == digit)
    }

    /// Lengthens the fingerprint along `key`, whose stream it is the start of, until it is
    /// not the start of `other`'s.
    ///
    /// # Errors
    /// [`Error::Inseparable`] if the streams agree to their end.
    pub(crate) fn extend(&mut self, key: &impl Stream, other: &impl Stream) -> Result<(), Error> {
        debug_assert!(self.prefixes(key));
        let common = common_digits(key, other)?;
        for k in self.extension.len()..=common {
            self.extension.push(key.digit(k));
        }
        Ok(())
    }

    /// How many slots it takes, with digits of `width` bits.
    pub(crate) fn slots(&self, width: u32) -> usize {
        1 + self.extension.len() + counter_digits(self.count, width).count()
    }

    /// The digits behind its home slot, each as a slot with the mark and the runend bit of the slot
    /// before it.
    pub(crate) fn tail(&self, width: u32) -> impl Iterator<Item = Slot<Mark>> + '_ {
        let extension = self.extension.iter().map(|&digit| extension_slot(digit));
        let counter = counter_digits(self.count, width).map(|digit| Slot {
            runend: true,
            ..extension_slot(digit)
        });
        extension.chain(counter)
    }

    /// Appends its slots.
    pub(crate) fn write(&self, widths: Widths, remainder: u64, slots: &mut Vec<Slot<Mark>>) {
        let mut last = Slot {
            value: remainder << widths.value_bits | self.value,
            runend: false,
            item: Mark::Last,
        };
        for digit in self.tail(widths.width) {
            slots.push(Slot {
                value: last.value,
                ..digit
            });
            last.value = digit.value;
        }
        slots.push(last);
    }

    /// The fingerprint of these slots, of which there is at least one.
    pub(crate) fn read(widths: Widths, mut slots: impl Iterator<Item = Slot<Mark>>) -> Self {
        let home = slots.next().unwrap_or_default();
        let mut print = Print::new(1, home.value & mask_below(widths.value_bits));
        let mut counter = Counter::new(widths.width);
        let longest = max_digits(widths.width);
        for digit in digits(home, slots) {
            if digit.counts {
                counter.add(digit.value);
            } else if print.extension.len() < longest {
                // Longer ones only stand in damaged tables, and are not worth their memory.
                print.extension.push(digit.value);
            }
        }
        print.count = counter.count();
        print
    }
}

/// What a slot behind a home slot holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Digit {
    pub(crate) value: u64,
    /// Is it of the counter, not of the extension?
    pub(crate) counts: bool,
}

/// The digits in the slots behind a home slot.
#[inline(always)]
pub(crate) fn digits(
    home: Slot<Mark>,
    tail: impl Iterator<Item = Slot<Mark>>,
) -> impl Iterator<Item = Digit> {
    let mut counts = home.runend;
    tail.map(move |slot| Digit {
        value: slot.value,
        counts: std::mem::replace(&mut counts, slot.runend),
    })
}

/// A count, read from its digits.
pub(crate) struct Counter {
    width: u32,
    digits: u32,
    count: u64,
}

impl Counter {
    /// No digits yet.
    pub(crate) fn new(width: u32) -> Self {
        Counter {
            width,
            digits: 0,
            count: 0,
        }
    }

    fn shift(&self) -> u32 {
        self.digits.saturating_mul(self.width)
    }

    /// Takes the next digit. What lies beyond 64 bits, which only damaged tables have, is lost.
    pub(crate) fn add(&mut self, digit: u64) {
        self.count |= digit.checked_shl(self.shift()).unwrap_or(0);
        self.digits = self.digits.saturating_add(1);
    }

    /// The same, or `None` if something were lost.
    pub(crate) fn add_exactly(&mut self, digit: u64) -> Option<()> {
        let fits = digit == 0 || self.shift() <= digit.leading_zeros();
        fits.then(|| self.add(digit))
    }

    /// How many digits there were.
    pub(crate) fn digits(&self) -> u32 {
        self.digits
    }

    /// The count: one if there were no digits.
    pub(crate) fn count(&self) -> u64 {
        if self.digits == 0 { 1 } else { self.count }
    }
}

/// How slots are divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Widths {
    /// Bits of a slot.
    pub(crate) width: u32,
    /// The low bits of a home slot that hold the value.
    pub(crate) value_bits: u32,
}

/// A digit of an extension, as [`Print::tail`] has it. A counter's has the runend bit.
pub(crate) fn extension_slot(digit: u64) -> Slot<Mark> {
    Slot {
        value: digit,
        runend: false,
        item: Mark::GoesOn,
    }
}

/// In how many digits two keys agree from the first on.
pub(crate) fn common_digits(a: &impl Stream, b: &impl Stream) -> Result<usize, Error> {
    let limit = a.digits();
    (0..limit)
        .find(|&k| a.digit(k) != b.digit(k))
        .ok_or(Error::Inseparable)
}

/// The counter slots of a count.
pub(crate) fn counter_digits(count: u64, width: u32) -> impl Iterator<Item = u64> {
    let mut rest = match count {
        1 => None,
        count => Some(count),
    };
    std::iter::from_fn(move || {
        let count = rest?;
        let digit = count & mask_below(width);
        rest = match count >> width {
            0 => None,
            more => Some(more),
        };
        Some(digit)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_digit_is_digit_0_at_every_width() {
        for width in 1..=56 {
            for h0 in 0..10 {
                let key = &Hashed::from_h0(h0);
                let digits = Digits { key, width };
                assert_eq!(digits.first(), digits.digit(0));
            }
        }
    }

    #[test]
    fn prints_read_back_at_every_width() {
        for width in 1..=56 {
            for value_bits in [0, 1, 3].into_iter().filter(|&bits| bits < width) {
                let widths = Widths { width, value_bits };
                for count in [
                    0,
                    1,
                    2,
                    3,
                    4,
                    7,
                    8,
                    255,
                    256,
                    1 << 40,
                    u64::MAX - 1,
                    u64::MAX,
                ] {
                    for length in [0, 1, 2, 5] {
                        let print = Print {
                            extension: (0..length)
                                .map(|k| (k * 5 + 1) & mask_below(width))
                                .collect(),
                            value: mask_below(value_bits),
                            count,
                        };
                        let mut slots = Vec::new();
                        print.write(widths, 0, &mut slots);
                        assert_eq!(slots.len(), print.slots(width));
                        let read = Print::read(widths, slots.into_iter());
                        assert_eq!(read, print, "width {width}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_singleton_costs_no_slot_and_counts_grow_by_the_logarithm() {
        assert_eq!(counter_digits(1, 9).count(), 0);
        assert_eq!(counter_digits(2, 9).count(), 1);
        assert_eq!(counter_digits(511, 9).count(), 1);
        assert_eq!(counter_digits(512, 9).count(), 2);
        assert_eq!(counter_digits(u64::MAX, 1).count(), 64);
        assert_eq!(counter_digits(0, 9).count(), 1);
    }
}
