//! The invariants of the fingerprints, fast and without memory of their own.
//!
//! The table checks all fingerprints of one slot ([`verify`](crate::table::Table::verify)); here are those
//! of more: that they are encoded as they should be, and stand in order with their
//! neighbours. [`check_invariants`](crate::filters::facade::TableCore::check_invariants) is the oracle.

use std::cmp::Ordering;
use std::ops::Range;

use super::Core;
use crate::bits::Bytes;
use crate::prints::{Counter, Digit, max_digits};
use crate::table::{Order, Tailed};
use crate::violation::Violation;

/// What the slots of a fingerprint behind its home say.
pub(crate) struct Tail {
    /// Has it an extension?
    pub(crate) extended: bool,
    /// How often it was inserted; zero for a ghost.
    pub(crate) count: u64,
}

impl<M: Bytes> Core<M> {
    /// Accepts what [`check_invariants`](crate::filters::facade::TableCore::check_invariants) accepts, if `each` accepts
    /// every fingerprint of more than one slot, and [`Order::Distinct`] none twice.
    pub(crate) fn verify_each(
        &self,
        order: Order,
        mut each: impl FnMut(u64, Tail) -> Result<(), Violation>,
    ) -> Result<(), Violation> {
        let mut ghosts = 0;
        let table = &self.table;
        let marked = table.verify(order, |tailed| {
            let tail = self.verify_tailed(tailed, order)?;
            ghosts += u64::from(tail.count == 0);
            each(tailed.home, tail)
        })?;
        // Every home slot is a fingerprint.
        let live = table.used() - marked - ghosts;
        if (live, ghosts) != (self.live(), self.ghosts) {
            return Err(Violation::new("fingerprints are not counted right", live));
        }
        Ok(())
    }

    fn verify_tailed(&self, tailed: Tailed, order: Order) -> Result<Tail, Violation> {
        let home = tailed.home;
        let end = self.table.end_of_print(home);
        let tail = self.check_tail(home..end).ok_or(Violation::new(
            "a fingerprint is not encoded as it should be",
            home,
        ))?;
        let in_order = |one: Range<u64>, two: Range<u64>| match order {
            Order::Ascending => self.compare(one, two) != Ordering::Greater,
            Order::Distinct => self.home_value(one.start) < self.home_value(two.start),
        };
        let after_before = tailed.first || in_order(self.home_before(home)..home, home..end);
        // A successor with a tail of its own looks back when its turn comes.
        let alone = !self.table.is_marked(end);
        let looks = !self.table.is_end(end - 1) && end < self.table.slots() && alone;
        let before_after = !looks || in_order(home..end, end..end + 1);
        if after_before && before_after {
            Ok(tail)
        } else {
            Err(Violation::new("fingerprints are not in order", home))
        }
    }

    /// The home slot of the fingerprint that ends before the home slot `home`.
    fn home_before(&self, home: u64) -> u64 {
        let mut slot = home.saturating_sub(1);
        while slot > 0 && self.table.is_marked(slot - 1) {
            slot -= 1;
        }
        slot
    }

    /// Remainder and value.
    fn home_value(&self, home: u64) -> u64 {
        self.table.slot(home).value
    }

    /// What a tail says if it is written as `Print::write` would: extension digits, no more
    /// than a hash stream has, then the digits of a counter without leading zeros, none for
    /// a count of one.
    fn check_tail(&self, print: Range<u64>) -> Option<Tail> {
        let mut extension = 0;
        let mut counter = Counter::new(self.widths.width);
        let mut highest = None;
        for Digit { value, counts } in self.tail(print) {
            if counts {
                counter.add_exactly(value)?;
                highest = Some(value);
            } else if highest.is_some() {
                return None;
            } else {
                extension += 1;
            }
        }
        let count = counter.count();
        // A counter of zero is a ghost's, and is one digit long.
        let shortest = match highest {
            Some(0) => counter.digits() == 1,
            Some(_) => count != 1,
            None => true,
        };
        (shortest && extension <= max_digits(self.widths.width)).then_some(Tail {
            extended: extension > 0,
            count,
        })
    }

    /// The order of two fingerprints in a run: as `(remainder, Print)`.
    fn compare(&self, one: Range<u64>, two: Range<u64>) -> Ordering {
        let value_bits = self.widths.value_bits;
        let (home_one, home_two) = (self.home_value(one.start), self.home_value(two.start));
        let remainders = (home_one >> value_bits).cmp(&(home_two >> value_bits));
        // With equal remainders, the home slots compare as the values do.
        remainders
            .then_with(|| self.extension(&one).cmp(self.extension(&two)))
            .then_with(|| home_one.cmp(&home_two))
            .then_with(|| self.count(&one).cmp(&self.count(&two)))
    }

    fn extension(&self, print: &Range<u64>) -> impl Iterator<Item = u64> + '_ {
        let extension = self.tail(print.clone()).take_while(|digit| !digit.counts);
        extension.map(|digit| digit.value)
    }

    fn count(&self, print: &Range<u64>) -> u64 {
        let mut counter = Counter::new(self.widths.width);
        for digit in self.tail(print.clone()).filter(|digit| digit.counts) {
            counter.add(digit.value);
        }
        counter.count()
    }
}
