//! Looking a key up, compiled for each set of instructions.
//!
//! Nearly always one look at the home block answers. What it does not is done apart:
//!
//! ```text
//! Contains, or Answer               the run in its home block                    9 of 10
//!   -> ContainsExtended             the same, where all that match go on
//!   -> ContainsBeyond, AnswerBeyond in the next block
//!        -> AnswerFar               across the end of a block, or anywhere
//! ```
//!
//! Each may find that a fingerprint goes on in further slots. Then the later words of the key decide:
//! those with a key have them made, the others say so.

use std::marker::PhantomData;

use super::AdaptiveFilter;
use super::core::Core;
use crate::batch::Unclear;
use crate::bits::{Bytes, Isa, Operation, OperationOn};
use crate::hash::{Key, StreamHash};
use crate::table::{Closer, Glance, Homes, Sidecar, Unmarked};

/// Does a fingerprint match a key, while no slot is marked?
pub(super) struct AnswerUnmarked<'f, M> {
    pub(super) core: &'f Core<M>,
    pub(super) h0: u64,
}

impl<M: Bytes> Operation for AnswerUnmarked<'_, M> {
    type Output = bool;

    #[inline(always)]
    fn run<I: Isa>(self) -> bool {
        let AnswerUnmarked { core, h0 } = self;
        let fingerprint = core.geometry.fingerprint(h0);
        match core.table.probe::<I, Unmarked>(fingerprint) {
            Closer::Clear(found) => found,
            Closer::Beyond | Closer::Extended(_) => core.answer_beyond_unmarked(h0),
        }
    }
}

/// The same where some are: `None` if the later words of the key decide.
pub(super) struct Answer<'f, L, M> {
    pub(super) core: &'f Core<M>,
    pub(super) h0: u64,
    pub(super) lane: PhantomData<L>,
}

impl<L: Sidecar, M: Bytes> Operation for Answer<'_, L, M> {
    type Output = Option<bool>;

    #[inline(always)]
    fn run<I: Isa>(self) -> Option<bool> {
        let Answer { core, h0, .. } = self;
        let fingerprint = core.geometry.fingerprint(h0);
        match core.table.probe::<I, L>(fingerprint) {
            Closer::Clear(found) => Some(found),
            Closer::Beyond => core.answer_beyond(h0),
            Closer::Extended(_) => None,
        }
    }
}

/// Is a key so short that to hash it is next to nothing? Known when the program is compiled.
#[inline(always)]
pub(super) fn is_small<K: ?Sized>(key: &K) -> bool {
    size_of::<&K>() == size_of::<usize>() && size_of_val(key) <= 16
}

/// [`Answer`] for a key, by its first word: makes the later ones where they decide.
///
/// The first word comes in a register. A key that is read here would be read from where the caller has
/// just put it, and on some processors a look waits long for that.
pub(super) struct Contains<'f, K: ?Sized, H: StreamHash, L, M> {
    pub(super) filter: &'f AdaptiveFilter<H, M>,
    pub(super) key: &'f K,
    pub(super) lane: PhantomData<L>,
}

impl<K: Key + ?Sized, H: StreamHash, L: Sidecar, M: Bytes> OperationOn<u64>
    for Contains<'_, K, H, L, M>
{
    type Output = bool;

    #[inline(always)]
    fn run_on<I: Isa>(self, h0: u64) -> bool {
        let Contains { filter, key, .. } = self;
        let core = &filter.core;
        match core.table.probe::<I, L>(core.geometry.fingerprint(h0)) {
            Closer::Clear(found) => found,
            Closer::Beyond => I::apart(ContainsBeyond { filter, key }),
            Closer::Extended(homes) => I::apart_on(ContainsExtended { filter, key }, homes),
        }
    }
}

/// After a glance at the home block that did not show the run.
struct ContainsBeyond<'f, K: ?Sized, H: StreamHash, M> {
    filter: &'f AdaptiveFilter<H, M>,
    key: &'f K,
}

impl<K: Key + ?Sized, H: StreamHash, M: Bytes> Operation for ContainsBeyond<'_, K, H, M> {
    type Output = bool;

    #[inline(always)]
    fn run<I: Isa>(self) -> bool {
        let ContainsBeyond { filter, key } = self;
        let h0 = filter.first_word(key);
        let answer = AnswerBeyond {
            core: &filter.core,
            h0,
        }
        .run::<I>();
        answer.unwrap_or_else(|| filter.contains_by_words(key))
    }
}

/// After a look at fingerprints that all go on in further slots.
struct ContainsExtended<'f, K: ?Sized, H: StreamHash, M> {
    filter: &'f AdaptiveFilter<H, M>,
    key: &'f K,
}

impl<K: Key + ?Sized, H: StreamHash, M: Bytes> OperationOn<Homes>
    for ContainsExtended<'_, K, H, M>
{
    type Output = bool;

    #[inline(always)]
    fn run_on<I: Isa>(self, homes: Homes) -> bool {
        let ContainsExtended { filter, key } = self;
        let (core, hashed) = (&filter.core, filter.hash(key));
        let quotient = core.geometry.fingerprint(hashed.h0()).quotient;
        let (first, homes) = homes.of(quotient);
        let live = core.live_among(first, homes, &core.digits(&hashed));
        live.is_some()
    }
}

/// [`Answer`] for many keys; those that take a longer look are noted.
pub(super) struct AnswerAll<'f, L, M> {
    pub(super) core: &'f Core<M>,
    pub(super) hashes: &'f [u64],
    pub(super) found: &'f mut [bool],
    pub(super) unclear: &'f mut Unclear,
    pub(super) lane: PhantomData<L>,
}

impl<L: Sidecar, M: Bytes> Operation for AnswerAll<'_, L, M> {
    type Output = ();

    #[inline(always)]
    fn run<I: Isa>(self) {
        let Core {
            table, geometry, ..
        } = self.core;
        table.probe_all::<I, L>(geometry, self.hashes, self.found, self.unclear);
    }
}

/// After a glance at the home block that did not show the run.
pub(super) struct AnswerBeyond<'f, M> {
    pub(super) core: &'f Core<M>,
    pub(super) h0: u64,
}

impl<M: Bytes> Operation for AnswerBeyond<'_, M> {
    type Output = Option<bool>;

    #[inline(always)]
    fn run<I: Isa>(self) -> Option<bool> {
        let Core {
            table, geometry, ..
        } = self.core;
        let fingerprint = geometry.fingerprint(self.h0);
        match table.probe_displaced::<I>(fingerprint) {
            Glance::Clear(found) => Some(found),
            Glance::Continued => None,
            Glance::Beyond => self.core.answer_far(self.h0),
        }
    }
}

/// The same for a run that is in two blocks, or far from home.
pub(super) struct AnswerFar<'f, M> {
    pub(super) core: &'f Core<M>,
    pub(super) h0: u64,
}

impl<M: Bytes> Operation for AnswerFar<'_, M> {
    type Output = Option<bool>;

    #[inline(always)]
    fn run<I: Isa>(self) -> Option<bool> {
        let Core {
            table, geometry, ..
        } = self.core;
        let fingerprint = geometry.fingerprint(self.h0);
        match table.probe_across::<I>(fingerprint) {
            Glance::Clear(found) => return Some(found),
            Glance::Continued => return None,
            Glance::Beyond => {}
        }
        let run = table.odd_run::<I>(fingerprint.quotient);
        match table.probe_run(&run, fingerprint.remainder) {
            Glance::Clear(found) => Some(found),
            Glance::Beyond | Glance::Continued => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filters::adaptive::AdaptiveFilter;
    use crate::hash::{Hashed, Seed};
    use crate::table::{Extensions, Fingerprint, Marks, Minirun};

    /// All quick looks at a run: at home, the same as where there are no counters, across the border, in
    /// the next block.
    struct Looks<'f> {
        core: &'f Core,
        fingerprint: Fingerprint,
    }

    impl Operation for Looks<'_> {
        type Output = [Glance; 4];

        fn run<I: Isa>(self) -> [Glance; 4] {
            let (table, fingerprint) = (&self.core.table, self.fingerprint);
            let glance = |closer| match closer {
                Closer::Clear(found) => Glance::Clear(found),
                Closer::Extended(_) => Glance::Continued,
                Closer::Beyond => Glance::Beyond,
            };
            [
                glance(table.probe::<I, Marks>(fingerprint)),
                glance(table.probe::<I, Extensions>(fingerprint)),
                table.probe_across::<I>(fingerprint),
                table.probe_displaced::<I>(fingerprint),
            ]
        }
    }

    #[test]
    fn quick_looks_are_right() {
        let (mut clear, mut beyond, mut continued) = ([0; 4], [0; 4], [0; 4]);
        for (slots, bits, stride) in [(100, 2, 1), (300, 4, 1), (500, 7, 3), (200, 12, 97)] {
            for load in [60, 95, 100, 140] {
                let builder = AdaptiveFilter::builder().slots(slots).remainder_bits(bits);
                let mut filter = builder.seed(Seed::from_u64(load)).build().unwrap();
                // The spare slots as well: far more keys than slots displace everything.
                for key in 0..slots * load / 100 {
                    if filter.insert(&key).is_err() {
                        break;
                    }
                }
                // Marked slots here and there.
                for key in 0..slots / 4 {
                    let hashed = filter.hash(&key);
                    let (query, core) = (filter_query(key, &hashed), filter.core_mut());
                    let minirun = core.minirun_of(hashed.h0());
                    if !core.adapt_at_once(&query, minirun, &hashed) {
                        let _ = core.adapt_alone(&query, &hashed);
                    }
                }
                let core = filter.core();
                for id in (0..core.geometry.ids()).step_by(stride) {
                    let fingerprint = core.geometry.fingerprint_of(id);
                    let quick = core.table.cpu().run(Looks { core, fingerprint });
                    let prints = core.contents_of(Minirun::from_id(id)).prints;
                    let bare = prints.iter().any(|print| print.extension.is_empty());
                    for (how, quick) in quick.into_iter().enumerate() {
                        let right = match quick {
                            Glance::Clear(true) => bare,
                            Glance::Clear(false) => prints.is_empty(),
                            // At home that is certain; elsewhere to be looked at more closely, needed or
                            // not.
                            Glance::Continued if how < 2 => !prints.is_empty() && !bare,
                            Glance::Continued | Glance::Beyond => true,
                        };
                        assert!(
                            right,
                            "{slots} {bits} {load} {id} {how}: {quick:?} {prints:?}"
                        );
                        match quick {
                            Glance::Clear(_) => clear[how] += 1,
                            Glance::Beyond => beyond[how] += 1,
                            Glance::Continued => continued[how] += 1,
                        }
                    }
                }
            }
        }
        // Each has something to say, and not to everything.
        let all = [clear, beyond, continued];
        assert!(all.iter().flatten().all(|&count| count > 100), "{all:?}");
        assert!(clear[3] > 2 * beyond[3], "{all:?}");
    }

    /// A query that shares the minirun of a key and nothing else.
    fn filter_query(key: u64, hashed: &Hashed<'_>) -> Hashed<'static> {
        let words = vec![hashed.h0(), !hashed.word(1), key];
        Hashed::from_words(&words).into_owned()
    }
}
