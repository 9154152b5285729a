//! The rows that both the table and the JSON file show.

use serde::Serialize;

use super::filters::REFERENCE;
use super::measure::{Record, Sample};
use super::operation::Operation;
use super::summary::Summary;
use super::workload::Workload;

/// One filter at one operation, as it stands in the JSON file. What makes no sense,
/// such as a removal from a Bloom filter, is `None`.
#[derive(Debug, Serialize)]
pub(crate) struct Row {
    pub(crate) filter: &'static str,
    pub(crate) operation: &'static str,
    pub(crate) log2_slots: u32,
    /// The median over the rounds.
    pub(crate) ns_per_op: Option<f64>,
    /// On the rows of queries.
    pub(crate) bits_per_item: Option<f64>,
    /// On the rows of queries: the share of strangers taken for members; of the queries
    /// of that very pass on the rows of Zipf's law.
    pub(crate) fpr: Option<f64>,
    /// Where strangers were asked for: how many were taken for members in one round.
    pub(crate) false_positives: Option<u64>,
    /// By Zipf's law, first pass: how many different strangers were taken for members
    /// before anything was learnt from them.
    pub(crate) distinct_false_positives: Option<u64>,
    /// By Zipf's law, if the filter learns: the space that it took, per member.
    pub(crate) bits_per_item_added: Option<f64>,
    pub(crate) min_ns: Option<f64>,
    pub(crate) max_ns: Option<f64>,
    /// How many times as fast as `qfilter`: the median of the rounds' own ratios, in
    /// which the machine's drift from round to round cancels.
    pub(crate) speed_vs_qfilter: Option<f64>,
    /// How many times as fast as the plain filter with the same hash, if this one learns.
    pub(crate) speed_vs_plain: Option<f64>,
    /// On the row of `merge`: how many times as long as a load of sorted keys in the same
    /// round. Like the next two it follows from other figures, or is none per operation, so
    /// it is for the table only.
    #[serde(skip)]
    pub(crate) cost_vs_sorted: Option<f64>,
    /// On the row of `load_file`: bytes of the file per nanosecond.
    #[serde(skip)]
    pub(crate) gb_per_s: Option<f64>,
    /// On the row of `load_file`: the time to open it, whole, without verification.
    #[serde(skip)]
    pub(crate) trusted_ns: Option<f64>,
    pub(crate) rounds: usize,
}

/// A row for every filter and wanted operation, filter by filter.
pub(crate) fn rows(workload: &Workload, records: &[Record], operations: &[Operation]) -> Vec<Row> {
    let by_name = |name| records.iter().find(|r| r.entry.name == name);
    let reference = by_name(REFERENCE);
    let mut rows = Vec::new();
    for record in records {
        let plain = record.entry.learns.as_ref().and_then(|l| by_name(l.plain));
        for &operation in operations {
            let samples = record.samples(operation);
            let ns = Summary::of(samples.iter().map(|s| s.ns_per_op));
            let speed_vs = |other: Option<&Record>| {
                let others = other.map_or(&[][..], |r| {
                    if r.entry.can(operation) {
                        r.samples(operation)
                    } else {
                        r.samples(operation.instead())
                    }
                });
                let pairs = samples.iter().zip(others);
                let speeds = pairs.map(|(sample, other)| other.ns_per_op / sample.ns_per_op);
                Summary::of(speeds).map(|speed| speed.median)
            };
            let is_query = operation.is_query() && record.entry.can(operation);
            let misses = record.samples(operation.misses());
            let wrong = median(misses, |sample| sample.false_positives);
            let asked = if operation.is_zipf() {
                workload.draws()
            } else {
                workload.queries()
            };
            let sorted = match operation {
                Operation::Merge => record.samples(Operation::BulkLoadSorted),
                _ => &[],
            };
            let costs = samples.iter().zip(sorted);
            let costs = costs.map(|(sample, sorted)| sample.ns_per_op / sorted.ns_per_op);
            let opened = || {
                samples
                    .iter()
                    .filter_map(|sample| sample.opened.zip(Some(sample)))
            };
            let items = workload.members() as f64;
            let rates = opened().map(|(file, s)| file.bytes as f64 / (s.ns_per_op * items));
            let trusted = opened().map(|(file, _)| file.trusted_ns);
            let added = samples.last().and_then(|sample| sample.bits_added);
            rows.push(Row {
                filter: record.entry.name,
                operation: operation.name(),
                log2_slots: workload.log2_slots,
                ns_per_op: ns.map(|ns| ns.median),
                bits_per_item: is_query.then_some(record.bits_per_item),
                fpr: wrong
                    .filter(|_| is_query)
                    .map(|wrong| wrong as f64 / asked as f64),
                false_positives: median(samples, |sample| sample.false_positives),
                distinct_false_positives: median(samples, |s| s.distinct_false_positives),
                bits_per_item_added: added.map(|bits| bits / workload.members() as f64),
                min_ns: ns.map(|ns| ns.min),
                max_ns: ns.map(|ns| ns.max),
                speed_vs_qfilter: speed_vs(reference),
                speed_vs_plain: speed_vs(plain),
                cost_vs_sorted: Summary::of(costs).map(|cost| cost.median),
                gb_per_s: Summary::of(rates).map(|rate| rate.median),
                trusted_ns: Summary::of(trusted).map(|ns| ns.median),
                rounds: samples.len(),
            });
        }
    }
    rows
}

/// The same in every round for most; a cuckoo filter rolls dice.
fn median(samples: &[Sample], count: impl Fn(&Sample) -> Option<u64>) -> Option<u64> {
    let counts = samples.iter().filter_map(count);
    Summary::of(counts.map(|count| count as f64)).map(|counts| counts.median as u64)
}
