//! The steps in which a filter may learn from its mistakes.
//!
//! They work on copies: what a filter learns in one step is not known in the next.
//!
//! By Zipf's law one key makes up two queries in five, so much depends on where that key
//! falls: compare the times only of filters with the same hash, which agree on it, or
//! over several seeds.

use std::cell::OnceCell;
use std::collections::HashSet;
use std::rc::Rc;

use anyhow::{Context, Result, ensure};

use super::measure::{Record, Setting};
use crate::filters::members::Members;
use crate::filters::{Contender, Learner, Operation, REMAINDER_BITS};
use crate::timed::{CHUNK, Workload, time};

/// Bits of a slot: the remainder, three bits of metadata, and its share of the 16-bit
/// offset of a block of 64.
const SLOT_BITS: f64 = REMAINDER_BITS as f64 + 3.25;

/// Strangers that nobody else asks for.
const STRANGERS_BEFORE: u64 = 1 << 32;
const STRANGERS_ADAPT: u64 = 1 << 33;

/// What helps a filter to learn. It is the same in every round, so it is found once.
pub(crate) struct Lore {
    pub(crate) members: Rc<Members>,
    /// Queries to adapt to while the filter is filled.
    before: OnceCell<Vec<u64>>,
    /// Queries to adapt to on the clock.
    mistakes: OnceCell<Vec<u64>>,
}

impl Lore {
    pub(crate) fn new(members: Members) -> Self {
        Lore {
            members: Rc::new(members),
            before: OnceCell::new(),
            mistakes: OnceCell::new(),
        }
    }
}

fn learner(filter: &mut dyn Contender) -> Result<&mut dyn Learner> {
    filter.learner().context("the filter can't adapt")
}

/// Up to `wanted` queries that are wrongly answered "maybe", of as many miniruns: fixing
/// one leaves the others to be fixed.
pub(crate) fn find_mistakes(
    filter: &dyn Learner,
    workload: &Workload,
    first: u64,
    wanted: u64,
) -> Vec<u64> {
    // Four times as many as it should take.
    let tries = (wanted << (REMAINDER_BITS + 2)) as f64 / workload.load;
    let (mut mistakes, mut miniruns) = (Vec::new(), HashSet::new());
    let mut found = Vec::new();
    for first in (first..first + tries as u64).step_by(CHUNK) {
        let chunk = first..first + CHUNK as u64;
        let keys: Vec<u64> = chunk.map(|i| workload.stranger(i)).collect();
        filter.positives(&keys, &mut found);
        for (minirun, key) in found.drain(..) {
            if (mistakes.len() as u64) < wanted && miniruns.insert(minirun) {
                mistakes.push(key);
            }
        }
        if mistakes.len() as u64 == wanted {
            break;
        }
    }
    mistakes
}

/// The queries of [`Operation::Adapt`].
pub(crate) fn mistakes_to_fix(filter: &dyn Learner, workload: &Workload) -> Vec<u64> {
    find_mistakes(filter, workload, STRANGERS_ADAPT, workload.adaptations())
}

/// Adapts the wanted share of the members, off the clock, while the first `among` of them
/// are in the filter.
pub(crate) fn adapt_before(
    filter: &mut dyn Learner,
    workload: &Workload,
    lore: &Lore,
    among: u64,
) -> Result<()> {
    let wanted = workload.adapted_members();
    let queries = lore
        .before
        .get_or_init(|| find_mistakes(filter, workload, STRANGERS_BEFORE, wanted));
    ensure!(
        queries.len() as u64 == wanted,
        "only {} of {wanted} false positives to adapt to were found",
        queries.len()
    );
    for &query in queries {
        filter.adapt_all(&[lore.members.mistake(query, among)])?;
    }
    Ok(())
}

pub(super) fn adapt(
    filter: &mut dyn Contender,
    setting: &Setting,
    record: &mut Record,
) -> Result<()> {
    let workload = &setting.workload;
    let mut copy = learner(filter)?.fork()?;
    let copy = learner(copy.as_mut())?;
    let lore = record.lore.as_ref().context("the keys are not known")?;
    let queries = lore
        .mistakes
        .get_or_init(|| mistakes_to_fix(copy, workload));
    ensure!(!queries.is_empty(), "no false positive was found");

    // Which members share a query's minirun is looked up before: between chunks that would drive the
    // filter from the caches. They are hashed chunk by chunk, as the keys of other operations are made:
    // all at once, they would be in no cache when they are needed.
    let of_minirun = |&query: &u64| lore.members.of_minirun(query, workload.members());
    let keys: Vec<Vec<u64>> = queries.iter().map(of_minirun).collect();
    // A copy is in no cache, but a filter that was just filled, as the others are, is there as far as
    // it fits.
    let member = |i| workload.member(i);
    time(0..workload.members(), member, |keys| {
        Ok(copy.contains_all(keys))
    })?;
    let count = queries.len() as u64;
    let mistake = |i| {
        let keys = keys[i as usize].iter().copied();
        lore.members.mistake_of(queries[i as usize], keys)
    };
    let fixed = time(0..count, mistake, |mistakes| copy.adapt_all(mistakes))?;
    ensure!(
        fixed.count >= count,
        "only {} fingerprints were extended for {count} false positives",
        fixed.count
    );

    ensure!(
        copy.contains_all(queries) == 0,
        "a false positive was repeated"
    );
    let mut keys = keys.iter().flatten();
    ensure!(keys.all(|&key| copy.contains(key)), "a member was lost");
    let hit = |i| workload.random_member(i);
    let hits = time(0..workload.warm_up(), hit, |keys| {
        Ok(copy.contains_all(keys))
    })?;
    ensure!(hits.count == workload.warm_up(), "a member was lost");

    record.time(Operation::Adapt, fixed.ns_per_op());
    Ok(())
}

pub(super) fn zipf(
    filter: &mut dyn Contender,
    setting: &Setting,
    record: &mut Record,
) -> Result<()> {
    let (workload, stream) = (&setting.workload, setting.stream());
    // Who can't be copied is not needed any more, but to be taken from.
    let mut copy = match filter.learner() {
        Some(learner) => Some(learner.fork()?),
        None => None,
    };
    let filter = match &mut copy {
        Some(copy) => copy.as_mut(),
        None => filter,
    };

    // Warms up, too.
    let distinct = time(
        0..stream.distinct.len() as u64,
        |i| workload.ranked(stream.distinct[i as usize]),
        |keys| Ok(filter.contains_all(keys)),
    )?;
    let mut pass = |operation: Operation| -> Result<u64> {
        let before = filter.learner().map(|learner| learner.used_slots());
        let asked = time(
            0..workload.draws(),
            |i| workload.ranked(stream.rank(i)),
            |keys| filter.ask_strangers(keys),
        )?;
        let after = filter.learner().map(|learner| learner.used_slots());
        record.asked(operation, &asked);
        if let Some((before, after)) = before.zip(after) {
            let bits = (after - before) as f64 * SLOT_BITS / workload.members() as f64;
            record.note(&format!("{operation} bits"), bits);
        }
        Ok(asked.count)
    };
    let (first, again) = (pass(Operation::Zipf)?, pass(Operation::ZipfAgain)?);
    if filter.can(Operation::Adapt) {
        ensure!(
            first <= distinct.count,
            "more mistakes than there are queries to make them on"
        );
        ensure!(again == 0, "{again} mistakes were repeated");
    }
    record.note("zipf distinct", distinct.count as f64);
    Ok(())
}
