//! What a filter would be if space and time were free.
//!
//! The oracle knows nothing of slots while it answers: it is a sorted multiset of minirun
//! ids, and a [`BTreeMap`] keeps it. Two questions that only the places of the slots can
//! answer, when a table is full and how long its longest cluster is, it answers by the
//! definition: runs in the order of their quotients, each at its home or right behind the
//! run before it.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use twiceshy::Geometry;

/// A sorted multiset of numbers, for the most part minirun ids.
///
/// ```
/// use twiceshy_testing::Oracle;
///
/// let mut oracle = Oracle::new();
/// oracle.insert(7);
/// oracle.insert(7);
/// assert!(!oracle.insert_unique(7), "it is there");
/// assert!(oracle.remove(7));
/// assert!(oracle.contains(7) && oracle.len() == 1);
/// assert_eq!(oracle.iter().collect::<Vec<_>>(), [7]);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Oracle {
    counts: BTreeMap<u64, u64>,
    len: u64,
}

impl Oracle {
    /// An empty one.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds one copy.
    pub fn insert(&mut self, id: u64) {
        *self.counts.entry(id).or_insert(0) += 1;
        self.len += 1;
    }

    /// Adds a copy if there is none, and says whether it did.
    pub fn insert_unique(&mut self, id: u64) -> bool {
        let new = !self.contains(id);
        if new {
            self.insert(id);
        }
        new
    }

    /// Takes one copy away, and says whether there was one.
    pub fn remove(&mut self, id: u64) -> bool {
        let Entry::Occupied(mut entry) = self.counts.entry(id) else {
            return false;
        };
        *entry.get_mut() -= 1;
        if *entry.get() == 0 {
            entry.remove();
        }
        self.len -= 1;
        true
    }

    /// Is there a copy?
    #[must_use]
    pub fn contains(&self, id: u64) -> bool {
        self.counts.contains_key(&id)
    }

    /// How many copies there are of one number.
    #[must_use]
    pub fn count(&self, id: u64) -> u64 {
        self.counts.get(&id).copied().unwrap_or(0)
    }

    /// How many there are, copies counted.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Is there none?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Takes all away.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// All in ascending order, copies as often as they are there.
    pub fn iter(&self) -> impl Iterator<Item = u64> {
        let copies = |(&id, &count)| std::iter::repeat_n(id, count as usize);
        self.counts.iter().flat_map(copies)
    }

    /// The lowest member that is at least `from`, or the lowest of all: some member, for a
    /// random `from`.
    #[must_use]
    pub fn member_near(&self, from: u64) -> Option<u64> {
        let above = self.counts.range(from..).next();
        above.or(self.counts.first_key_value()).map(|(&id, _)| id)
    }

    /// Is there room for one more of `id` in a quotient table with `slots` slots in all,
    /// the spare ones included, and one item a slot?
    ///
    /// By the definition of the layout there is if, with it in, the last run still ends
    /// inside the table.
    #[must_use]
    pub fn has_room(&self, geometry: &Geometry, slots: u64, id: u64) -> bool {
        // Even all in the last quotient would fit.
        if geometry.slots() + self.len <= slots {
            return true;
        }
        let quotient = |id| geometry.fingerprint_of(id).quotient;
        let end_with = |end: u64, (&id, &count): (&u64, &u64)| end.max(quotient(id)) + count;
        let end = self.counts.range(..=id).fold(0, end_with);
        let end = end_with(end, (&id, &1));
        self.counts.range(id + 1..).fold(end, end_with) <= slots
    }

    /// Do all of them fit into a quotient table with `slots` slots in all?
    #[must_use]
    pub fn fits(&self, geometry: &Geometry, slots: u64) -> bool {
        let quotient = |id| geometry.fingerprint_of(id).quotient;
        let end_with = |end: u64, (&id, &count): (&u64, &u64)| end.max(quotient(id)) + count;
        self.counts.iter().fold(0, end_with) <= slots
    }

    /// The longest stretch of used slots without a gap in a quotient table with one item a
    /// slot.
    #[must_use]
    pub fn longest_cluster(&self, geometry: &Geometry) -> u64 {
        let (mut start, mut end, mut longest) = (0, 0, 0);
        for (&id, &count) in &self.counts {
            let quotient = geometry.fingerprint_of(id).quotient;
            if quotient > end {
                start = quotient;
            }
            end = end.max(quotient) + count;
            longest = longest.max(end - start);
        }
        longest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_copies() {
        let mut oracle = Oracle::new();
        assert!(oracle.is_empty());
        for id in [5, 3, 5, 9] {
            oracle.insert(id);
        }
        assert!(oracle.insert_unique(4) && !oracle.insert_unique(5));
        assert_eq!(oracle.iter().collect::<Vec<_>>(), [3, 4, 5, 5, 9]);
        assert_eq!((oracle.count(5), oracle.count(6), oracle.len()), (2, 0, 5));
        assert!(oracle.remove(5) && oracle.contains(5));
        assert!(oracle.remove(5) && !oracle.contains(5) && !oracle.remove(5));
        assert_eq!(oracle.len(), 3);
        assert_eq!(oracle.member_near(5), Some(9));
        assert_eq!(oracle.member_near(10), Some(3));
        oracle.clear();
        assert_eq!((oracle.len(), oracle.member_near(0)), (0, None));
    }

    /// Ten quotients, twelve slots, remainders of one bit: quotient `id / 2`.
    #[test]
    fn room_is_what_the_layout_leaves() {
        let geometry = Geometry::new(10, 1).unwrap();
        let mut oracle = Oracle::new();
        for _ in 0..3 {
            assert!(oracle.has_room(&geometry, 12, 19));
            oracle.insert(19);
        }
        // Slots 9, 10 and 11 are taken.
        assert!(!oracle.has_room(&geometry, 12, 19));
        assert!(oracle.has_room(&geometry, 12, 17), "slot 8 is free");
        oracle.insert(17);
        assert!(!oracle.has_room(&geometry, 12, 17));
        assert_eq!(oracle.longest_cluster(&geometry), 4);
        for _ in 0..7 {
            oracle.insert(0);
        }
        assert_eq!(oracle.longest_cluster(&geometry), 7);
        assert!(oracle.has_room(&geometry, 12, 0));
        oracle.insert(1);
        assert_eq!(oracle.longest_cluster(&geometry), 12);
        assert!(
            !oracle.has_room(&geometry, 12, 0),
            "it would push the rest out"
        );
        assert!(oracle.fits(&geometry, 12) && !oracle.fits(&geometry, 11));
    }
}
