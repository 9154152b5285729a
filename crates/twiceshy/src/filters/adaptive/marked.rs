//! What slots are marked for.
//!
//! The fewer marks a table may have, the less closely its lane has to be looked at
//! ([`Extras::unmarked`], [`Extras::extended`]):
//!
//! | slots are marked | lane | a lookup |
//! | --- | --- | --- |
//! | never | [`Unmarked`](crate::table::Unmarked) | does not look at it |
//! | to extend | [`Extensions`](crate::table::Extensions) | asks whether its run has marks |
//! | to count as well | [`Marks`](crate::table::Marks) | asks which runend bits are ends as well |

/// The used slots that are no homes of live fingerprints, and what follows from them.
///
/// Every operation begins with what slots are marked for, so that is kept beside what it follows
/// from, as flags: one comparison with a byte in memory tells what is asked first. One number with
/// three values would be less to say, but compilers make it of the flags before they compare it, by up
/// to nine instructions of every operation. Nothing but these methods changes the one or the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extras {
    beyond: u64,
    counted: bool,
    /// See [`extended`](Extras::extended).
    extended: bool,
    /// See [`unmarked`](Extras::unmarked).
    unmarked: bool,
}

impl Extras {
    /// So many slots, and perhaps, if `counted`, counters among them.
    pub(crate) fn new(beyond: u64, counted: bool) -> Self {
        let mut extras = Extras {
            beyond: 0,
            counted: false,
            extended: false,
            unmarked: false,
        };
        extras.set(beyond, counted);
        extras
    }

    /// There are so many now, and perhaps, if `counted`, counters among them.
    #[inline(always)]
    pub(super) fn set(&mut self, beyond: u64, counted: bool) {
        self.beyond = beyond;
        self.counted = counted;
        self.extended = beyond > 0 && !counted;
        self.unmarked = beyond == 0;
    }

    /// There are more of them, which are no counters.
    #[inline(always)]
    pub(super) fn add(&mut self, slots: u64) {
        self.set(self.beyond + slots, self.counted);
    }

    /// How many slots: the digits of live fingerprints, and all slots of ghosts.
    #[inline(always)]
    pub(crate) fn beyond(&self) -> u64 {
        self.beyond
    }

    /// May there be counters among the digits, or ghosts, which are counters of zero?
    pub(crate) fn counted(&self) -> bool {
        self.counted
    }

    /// Is no slot marked?
    #[inline(always)]
    pub(super) fn unmarked(&self) -> bool {
        self.unmarked
    }

    /// Are slots marked, and all of them to extend fingerprints? Then no marked slot has a runend bit. A
    /// ghost goes on, too: in a counter of zero.
    #[inline(always)]
    pub(super) fn extended(&self) -> bool {
        self.extended
    }
}

/// Evaluates an expression with the lane that stands for `Marks` in a table with such extras.
macro_rules! with_lane {
    ($extras:expr, $lane:ident => $value:expr) => {
        if $extras.unmarked() {
            let $lane = PhantomData::<Unmarked>;
            $value
        } else {
            let $lane = PhantomData::<Marks>;
            $value
        }
    };
}

pub(super) use with_lane;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::View;
    use crate::filters::adaptive::{AdaptiveFilter, Leave};
    use crate::hash::{Hashed, Seed};
    use crate::outcome::Removed;

    /// What slots are marked for, at most.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum Marked {
        Never,
        ToExtend,
        ToCount,
    }

    impl Extras {
        fn marked(&self) -> Marked {
            match (self.unmarked(), self.extended()) {
                (true, false) => Marked::Never,
                (false, true) => Marked::ToExtend,
                (false, false) => Marked::ToCount,
                (true, true) => panic!("none is marked, but some are"),
            }
        }
    }

    fn filter() -> AdaptiveFilter {
        let builder = AdaptiveFilter::builder().slots(1000).remainder_bits(8);
        let mut filter = builder.seed(Seed::from_u64(3)).build().unwrap();
        for key in 0..500_u64 {
            filter.insert(&key).unwrap();
        }
        filter
    }

    /// Lengthens the fingerprint of a key that is alone in its minirun.
    fn adapt(filter: &mut AdaptiveFilter, key: u64) {
        let key = filter.hash(&key).into_owned();
        let query = Hashed::from_words(&[key.h0(), !key.word(1)]).into_owned();
        let minirun = filter.core().minirun_of(key.h0());
        filter.adapt(&query, minirun, &[key]).unwrap();
    }

    fn check(filter: &AdaptiveFilter, marked: Marked) {
        assert_eq!(filter.core().extras.marked(), marked);
        filter.check_invariants().unwrap();
        assert!((1..500_u64).all(|key| filter.contains(&key)));
        // A file that is verified is known as well.
        let bytes = filter.to_bytes();
        let read: AdaptiveFilter = AdaptiveFilter::from_bytes(&bytes).unwrap();
        assert_eq!(read.core().extras.marked(), marked);
        let view = View::<AdaptiveFilter>::new(&bytes).unwrap();
        assert_eq!(view.core().extras.marked(), marked);
        // Nothing is known of one that is not, but that there are marks.
        let view = View::<AdaptiveFilter>::new_unverified(&bytes).unwrap();
        let any = marked != Marked::Never;
        let most = if any { Marked::ToCount } else { marked };
        assert_eq!(view.core().extras.marked(), most);
        assert!((1..500_u64).all(|key| view.contains(&key)));
    }

    #[test]
    fn what_slots_are_marked_for_is_known() {
        let mut filter = filter();
        check(&filter, Marked::Never);
        adapt(&mut filter, 7);
        check(&filter, Marked::ToExtend);
        let removed = filter.remove_known_member(&7_u64);
        assert_eq!(removed, Ok(Removed::One));
        assert_eq!(filter.core().extras.marked(), Marked::Never);
        filter.insert(&7_u64).unwrap();
        check(&filter, Marked::Never);

        adapt(&mut filter, 8);
        let key = filter.hash(&0_u64).into_owned();
        let keys = std::slice::from_ref(&key);
        filter.remove(&key, keys, Leave::Ghost).unwrap();
        check(&filter, Marked::ToCount);
        filter.clear();
        assert_eq!(filter.core().extras.marked(), Marked::Never);

        // Counts are known to whoever copies fingerprints, too.
        let key = filter.hash(&3_u64).into_owned();
        filter.insert_with(&key, 5, 0, &[]).unwrap();
        assert_eq!(filter.core().extras.marked(), Marked::ToCount);
        assert_eq!(
            filter.doubled().unwrap().0.core().extras.marked(),
            Marked::ToCount
        );
    }

    #[test]
    fn a_counter_that_is_not_noted_is_found() {
        let mut filter = filter();
        let key = filter.hash(&1000_u64).into_owned();
        filter.insert_with(&key, 5, 0, &[]).unwrap();
        filter.check_invariants().unwrap();
        let beyond = filter.core().extras.beyond();
        filter.core_mut().extras.set(beyond, false);
        assert!(filter.check_invariants().is_err());
    }
}
