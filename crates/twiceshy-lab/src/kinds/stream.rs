//! A stream of queries for keys that are not there, and what filters make of it.
//!
//! Every query goes to the filter; a "maybe" costs a read of the database, which finds nothing;
//! then the filter is told. With `every`, members are replaced meanwhile (the adaptive quotient filter's
//! paper, figure 8: "at 10% intervals, we delete and replace 20% of the items"): after every so many places,
//! but not at the end. A place is measured after its replacement. Panels, for each workload:
//!
//! | panel | figures |
//! | --- | --- |
//! | `W rate` | the share of mistakes among the queries of somebody else by the same law: always the same ones, from which nothing is learnt |
//! | `W online` | the share of mistakes among the queries of the stream since the last place: for streams whose keys go out of fashion |
//! | `W bits` | bits per key that learning took |
//! | `W reads` | database reads so far, for each million of queries of the whole stream |
//! | `W speed` | millions of queries a second, reads of a database in memory and learning included |
//! | `W space` | bits per key of the table |
//!
//! Places are queries so far, but for `speed` and `space`, where they are the workload. One sample
//! for each seed; filters of a seed take their turns side by side between two places, and each of
//! these turns is a sample of `speed`.

use std::collections::BTreeSet;
use std::time::Instant;

use anyhow::Result;
use serde::Deserialize;

use crate::experiments::bench::Bench;
use crate::experiments::spec::Scale;
use crate::filters::{Entry, Set, Shape};
use crate::workloads::random::Random;
use crate::workloads::{REAL, Source, Strangers, label};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Parameters {
    log2_slots: u32,
    load: f64,
    bits: u32,
    queries: u64,
    /// Places along the stream.
    checkpoints: u64,
    /// Queries of somebody else at each of them.
    #[serde(default)]
    probes: u64,
    /// Filters that don't learn are measured with so many bits more, too.
    #[serde(default)]
    plus: Vec<u32>,
    /// Members are replaced after so many places.
    every: Option<u64>,
}

/// A filter that takes part.
struct Runner {
    name: String,
    set: Box<dyn Set>,
    used_bits: f64,
    reads: u64,
}

pub(super) fn run(bench: &mut Bench<'_>) -> Result<()> {
    let parameters: Parameters = bench.parameters()?;
    let seeds = bench.seeds().to_vec();
    let workloads = bench.workloads().to_vec();
    let total = seeds.len() * workloads.len();
    for (i, workload) in workloads.iter().enumerate() {
        if bench.scale == Scale::Tiny && workload.starts_with(REAL) {
            bench.remark(format!(
                "{workload} was left out: to read its millions of keys takes longer than this scale has."
            ));
            continue;
        }
        // Real keys take long to read: the same ones for every seed.
        let Some(mut source) = bench.source(workload, bench.seed())? else {
            continue;
        };
        for (j, &seed) in seeds.iter().enumerate() {
            source.reseed(seed);
            one(bench, &parameters, &source, label(workload), seed)?;
            bench.step(i * seeds.len() + j + 1, total);
        }
    }
    Ok(())
}

/// One workload with one seed.
fn one(
    bench: &mut Bench<'_>,
    parameters: &Parameters,
    source: &Source,
    name: &str,
    seed: u64,
) -> Result<()> {
    let shape = Shape {
        slots: 1 << parameters.log2_slots,
        load: parameters.load,
        bits: parameters.bits,
        seed,
    };
    let members = shape.keys();
    source.check(members)?;
    let mut runners = Vec::new();
    for entry in bench.filters()? {
        runners.push(Runner::fill(entry, &shape, 0, source)?);
        for &plus in parameters.plus.iter().filter(|_| !entry.learns) {
            runners.push(Runner::fill(entry, &shape, plus, source)?);
        }
    }
    let add = |i| source.member(i, <[u8]>::to_vec);
    let mut database: BTreeSet<Vec<u8>> = (0..members).map(add).collect();
    let mut churn = Churn::new(members, Churn::SHARE, seed);

    let panel = |what: &str| format!("{name} {what}");
    let mut queries = source.queries(seed)?;
    let mut others = source.queries(seed ^ 0x6f74_6865)?;
    let probes = source.strangers(&mut others, parameters.probes);
    let mut asked = 0;
    for checkpoint in 0..=parameters.checkpoints {
        if checkpoint > 0 {
            let until = checkpoint * parameters.queries / parameters.checkpoints;
            let strangers = source.strangers(&mut queries, until - asked);
            asked += strangers.len();
            for runner in &mut runners {
                let before = runner.reads;
                let speed = runner.ask(&strangers, &database)?;
                bench.note(&panel("speed"), &runner.name, name, speed);
                let rate = (runner.reads - before) as f64 / strangers.len() as f64;
                bench.note(&panel("online"), &runner.name, asked as f64, rate);
            }
            // Whose turn is first makes no difference to counts, but to times.
            runners.rotate_left(1);
            let is_wave = |every| checkpoint % every == 0 && checkpoint < parameters.checkpoints;
            if parameters.every.is_some_and(is_wave) {
                let wave = churn.wave();
                for runner in &mut runners {
                    runner.replace(&wave, source)?;
                }
                for (&old, &new) in wave.leave.iter().zip(&wave.enter) {
                    source.member(old, |key| database.remove(key));
                    database.insert(add(new));
                }
            }
        }
        for runner in &runners {
            let x = asked as f64;
            if probes.len() > 0 {
                let wrong = probes.iter().filter(|key| runner.set.contains(key)).count();
                let rate = wrong as f64 / probes.len() as f64;
                bench.note(&panel("rate"), &runner.name, x, rate);
            }
            let bits = (runner.set.space().used_bits - runner.used_bits) / members as f64;
            bench.note(&panel("bits"), &runner.name, x, bits);
            let reads = runner.reads as f64 * 1e6 / parameters.queries as f64;
            bench.note(&panel("reads"), &runner.name, x, reads);
        }
    }
    for runner in &runners {
        let bits = runner.set.space().bytes as f64 * 8.0 / members as f64;
        bench.note(&panel("space"), &runner.name, name, bits);
    }
    Ok(())
}

impl Runner {
    /// A filter with the first members, and so many bits more than the others.
    fn fill(entry: &Entry, shape: &Shape, plus: u32, source: &Source) -> Result<Self> {
        let mut set = entry.set(&Shape {
            bits: shape.bits + plus,
            ..*shape
        })?;
        for i in 0..shape.keys() {
            source.member(i, |key| set.insert(key))?;
        }
        Ok(Runner {
            name: match plus {
                0 => entry.name.to_owned(),
                1 => format!("{} + 1 bit", entry.name),
                plus => format!("{} + {plus} bits", entry.name),
            },
            used_bits: set.space().used_bits,
            set,
            reads: 0,
        })
    }

    /// Asks for all of them; how many millions a second?
    fn ask(&mut self, strangers: &Strangers, database: &BTreeSet<Vec<u8>>) -> Result<f64> {
        let start = Instant::now();
        for key in strangers.iter() {
            // Nothing is reported that the database has.
            if self.set.contains(key) && !database.contains(key) {
                self.reads += 1;
                self.set.report(key)?;
            }
        }
        Ok(strangers.len() as f64 / start.elapsed().as_secs_f64() / 1e6)
    }

    /// Some members leave, others enter.
    fn replace(&mut self, wave: &Wave, source: &Source) -> Result<()> {
        for &old in &wave.leave {
            source.member(old, |key| self.set.remove(key))?;
        }
        for &new in &wave.enter {
            source.member(new, |key| self.set.insert(key))?;
        }
        Ok(())
    }
}

/// Which members are there, by number, and who is replaced next.
#[derive(Clone, Debug)]
struct Churn {
    present: Vec<u64>,
    /// The number that the next new member gets.
    next: u64,
    /// The share of the members that is replaced at a time.
    share: f64,
    random: Random,
}

/// One replacement.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Wave {
    /// Members to remove, in random order.
    leave: Vec<u64>,
    /// As many that are new, never members before.
    enter: Vec<u64>,
}

impl Churn {
    /// The paper's share.
    const SHARE: f64 = 0.2;

    /// The members `0..members`.
    fn new(members: u64, share: f64, seed: u64) -> Self {
        debug_assert!((0.0..=1.0).contains(&share));
        Churn {
            present: (0..members).collect(),
            next: members,
            share,
            random: Random::new(seed, 0x6368_7572),
        }
    }

    /// Replaces a share of the members, each as likely as any other.
    fn wave(&mut self) -> Wave {
        let count = (self.share * self.present.len() as f64).round() as usize;
        // The first steps of a shuffle bring a random sample to the front.
        for i in 0..count {
            let j = i as u64 + self.random.below((self.present.len() - i) as u64);
            self.present.swap(i, j as usize);
        }
        let leave = self.present[..count].to_vec();
        let enter: Vec<u64> = (self.next..self.next + count as u64).collect();
        self.next += count as u64;
        self.present[..count].copy_from_slice(&enter);
        Wave { leave, enter }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::workloads::random::tolerance;

    #[test]
    fn members_leave_once_and_new_ones_take_their_place() {
        let mut churn = Churn::new(1_000, Churn::SHARE, 1);
        let mut present: BTreeSet<u64> = (0..1_000).collect();
        let mut ever = present.clone();
        for _ in 0..9 {
            let wave = churn.wave();
            assert_eq!((wave.leave.len(), wave.enter.len()), (200, 200));
            assert!(wave.leave.iter().all(|number| present.remove(number)));
            assert!(wave.enter.iter().all(|&number| ever.insert(number)));
            present.extend(&wave.enter);
            assert_eq!(present, churn.present.iter().copied().collect());
        }
    }

    #[test]
    fn old_and_young_leave_alike() {
        // After two waves a fifth of the first newcomers has left again: each leaves with
        // probability 1/5, without replacement, which only brings the count closer to it.
        let mut churn = Churn::new(200_000, Churn::SHARE, 2);
        let first = churn.wave();
        let second = churn.wave();
        let again = second
            .leave
            .iter()
            .filter(|&&number| number >= 200_000)
            .count();
        let off = (again as f64 - first.enter.len() as f64 * 0.2).abs();
        assert!(
            off <= tolerance(first.enter.len() as u64, 0.2, 1),
            "{again}"
        );
    }
}
