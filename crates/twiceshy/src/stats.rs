//! What a filter can tell about itself.

use std::fmt;

/// Size, load, space and expected error of a filter at one moment.
///
/// Later versions may know more, so a filter of your own starts from the default, which is
/// all zeros, and sets what it knows:
///
/// ```
/// use twiceshy::Stats;
///
/// let mut stats = Stats::default();
/// stats.items = 1_000;
/// stats.bytes = 1_250;
/// stats.bits_per_item = 10.0;
/// assert!(stats.to_string().starts_with("1000 items"));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Stats {
    /// Items held, duplicates counted.
    pub items: u64,
    /// Slots that quotients point at; the spare slots at the end don't count.
    pub slots: u64,
    /// Slots that hold something.
    pub used_slots: u64,
    /// `used_slots / slots`.
    pub load: f64,
    /// Bits of a remainder.
    pub remainder_bits: u32,
    /// Bytes of the table, spare slots and padding included.
    pub bytes: u64,
    /// Bits of the table for each item; infinite while there is none.
    pub bits_per_item: f64,
    /// The chance that a key that was never inserted is answered "maybe".
    pub expected_fpr: f64,
    /// The longest stretch of used slots without a gap.
    pub longest_cluster: u64,
}

impl Stats {
    /// Those of a table without clusters, in whose slots each item takes one; no error is expected yet.
    pub(crate) fn of_slots(items: u64, slots: u64, remainder_bits: u32, bytes: u64) -> Self {
        Stats {
            items,
            slots,
            used_slots: items,
            load: items as f64 / slots as f64,
            remainder_bits,
            bytes,
            bits_per_item: 8.0 * bytes as f64 / items as f64,
            ..Stats::default()
        }
    }
}

impl fmt::Display for Stats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} items in {} slots of {} bits (load {:.1}%), {} bytes",
            self.items,
            self.slots,
            self.remainder_bits,
            100.0 * self.load,
            self.bytes,
        )?;
        if self.items > 0 {
            write!(
                f,
                ", {:.2} bits an item, expected false-positive rate {:.2e}, longest cluster {}",
                self.bits_per_item, self.expected_fpr, self.longest_cluster,
            )?;
        }
        Ok(())
    }
}
