//! The list that tells NO from unlisted by itself.
//!
//! [`YesNo`](super::YesNo) stores nothing of the NO list, so a key of it looks like any other that is
//! not on the YES list; only the reverse map can tell. Where that map is far away, this form
//! (section 4.3 of the paper) stores the fingerprints of *both* lists, each with one more bit that
//! says which list it is of:
//!
//! ```text
//!   slot      | remainder | tag |        tag 1: YES, tag 0: NO
//! ```
//!
//! Where keys of different lists share a home fingerprint, both are extended until neither
//! matches the other. It costs a slot for each NO key and a bit a slot, and answers
//! [`Answer::Unlisted`] for all but the share `fpr` of keys on neither list.
//!
//! ```
//! use twiceshy::lists::{Answer, List, TaggedYesNo};
//!
//! let mut list = TaggedYesNo::new(1_000, 1_000, 0.001)?;
//! for key in 0..500_u64 {
//!     list.add(&key, List::Yes)?;
//!     list.add(&(key + 500), List::No)?;
//! }
//! assert_eq!(list.answer(&7_u64), Answer::Yes);
//! assert_eq!(list.answer(&507_u64), Answer::No);
//! let unlisted = (1_000..2_000_u64).filter(|key| list.answer(key) == Answer::Unlisted);
//! assert!(unlisted.count() > 980);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use super::dynamic::{DynamicList, Form, sealed};
use super::{Answer, List};
use crate::filters::adaptive::AdaptiveFilter;
use crate::hash::{Hashed, Sip13, StreamHash};
use crate::sets::reverse_map::MemoryMap;

/// A YES/NO list that changes and stores both lists, over a reverse map `R`. See the
/// [module](self), and [`dynamic`](super::dynamic) for what it has in common with
/// [`YesNo`](super::YesNo).
pub type TaggedYesNo<R = MemoryMap, H = Sip13> = DynamicList<Tagged, R, H>;

/// The filter holds both lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tagged;

impl Form for Tagged {}

impl sealed::Form for Tagged {
    const TAG_BITS: u32 = 1;

    fn value(list: List) -> Option<u64> {
        Some(match list {
            List::Yes => 1,
            List::No => 0,
        })
    }

    fn answer<H: StreamHash>(filter: &AdaptiveFilter<H>, key: &Hashed<'_>) -> Answer {
        match filter.entry_hashed(key) {
            Some(entry) => Answer::yes_if(entry.value == 1),
            None => Answer::Unlisted,
        }
    }
}
