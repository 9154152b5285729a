//! The other operations on the table, compiled for each set of instructions.

use std::ops::Range;

use super::core::Core;
use crate::bits::{Bytes, Isa, Operation};
use crate::error::Error;
use crate::outcome::Adapted;
use crate::prints::{Digit, Digits, Stream, extension_slot};
use crate::table::{Fingerprint, Marks, Run, Table};

/// The slots of the one fingerprint of a minirun, if it has but one.
#[inline(always)]
pub(super) fn alone(table: &Table<Marks>, run: &Run, remainder: u64) -> Option<Range<u64>> {
    let holds = |slot| slot < run.end && table.remainder(slot) == remainder;
    let at = table.lower_bound(run, remainder);
    let end = table.end_of_print(at);
    // The run is sorted: the fingerprints of a minirun are neighbours.
    (holds(at) && !holds(end)).then_some(at..end)
}

/// Adapts a minirun that holds one fingerprint, without counter, of one key: by far the
/// most frequent case, done in place. `None` if it is not that case; nothing has changed
/// then.
pub(super) struct AdaptAlone<'f, 'k> {
    pub(super) core: &'f mut Core,
    pub(super) query: Digits<'k>,
    pub(super) key: Digits<'k>,
}

impl Operation for AdaptAlone<'_, '_> {
    type Output = Option<Result<Adapted, Error>>;

    #[inline(always)]
    fn run<I: Isa>(self) -> Self::Output {
        let AdaptAlone { core, query, key } = self;
        let Fingerprint {
            quotient,
            remainder,
        } = core.geometry.fingerprint(query.key.h0());
        let run = core.table.run_on::<I>(quotient);
        let slots = alone(&core.table, &run, remainder)?;
        let end = slots.end;
        let mut k = 0;
        for Digit { value, counts } in core.tail(slots) {
            // A counter, a key that does not fit, or a query that does not match.
            if counts || key.digit(k) != value || query.digit(k) != value {
                return None;
            }
            k += 1;
        }
        let table = &mut core.table;
        let first = k;
        while key.digit(k) == query.digit(k) {
            k += 1;
            if k >= key.digits() {
                return Some(Err(Error::Inseparable));
            }
        }
        if k > first && !table.has_room::<I>(&run, k - first + 1) {
            return Some(Err(table.full()));
        }
        for (place, k) in (end..).zip(first..=k) {
            let run = Run {
                end: run.end + (place - end),
                ..run
            };
            let slot = extension_slot(key.digit(k));
            if let Err(error) = table.open_tail::<I>(&run, place, slot) {
                return Some(Err(error));
            }
        }
        Some(Ok(Adapted::ONE))
    }
}

/// The slots of the first live fingerprint that matches a key.
pub(super) struct FindLive<'f, 'k, M> {
    pub(super) core: &'f Core<M>,
    pub(super) key: Digits<'k>,
}

impl<M: Bytes> Operation for FindLive<'_, '_, M> {
    type Output = Option<Range<u64>>;

    #[inline(always)]
    fn run<I: Isa>(self) -> Self::Output {
        let FindLive { core, key } = self;
        let fingerprint = core.geometry.fingerprint(key.key.h0());
        let Some((first, homes)) = core.table.homes::<I>(fingerprint) else {
            return core.find_beyond(key);
        };
        core.live_among(first, homes, &key)
    }
}

pub(super) struct FindBeyond<'f, 'k, M> {
    pub(super) core: &'f Core<M>,
    pub(super) key: Digits<'k>,
}

impl<M: Bytes> Operation for FindBeyond<'_, '_, M> {
    type Output = Option<Range<u64>>;

    #[inline(always)]
    fn run<I: Isa>(self) -> Self::Output {
        let FindBeyond { core, key } = self;
        let Core {
            table, geometry, ..
        } = core;
        let Fingerprint {
            quotient,
            remainder,
        } = geometry.fingerprint(key.key.h0());
        let run = table.odd_run::<I>(quotient);
        let mut at = table.lower_bound(&run, remainder);
        while at < run.end && table.remainder(at) == remainder {
            let end = table.end_of_print(at);
            if core.tail_matches(at..end, &key) {
                return Some(at..end);
            }
            at = end;
        }
        None
    }
}
