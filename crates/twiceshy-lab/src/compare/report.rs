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
    /// On the rows of queries: the share of strangers taken for members.
    pub(crate) fpr: Option<f64>,
    /// Where strangers were asked for: how many were taken for members in one round.
    pub(crate) false_positives: Option<u64>,
    pub(crate) min_ns: Option<f64>,
    pub(crate) max_ns: Option<f64>,
    /// How many times as fast as `qfilter`: the median of the rounds' own ratios, in
    /// which the machine's drift from round to round cancels.
    pub(crate) speed_vs_qfilter: Option<f64>,
    pub(crate) rounds: usize,
}

/// A row for every filter and wanted operation, filter by filter.
pub(crate) fn rows(workload: &Workload, records: &[Record], operations: &[Operation]) -> Vec<Row> {
    let reference = records.iter().find(|r| r.entry.name == REFERENCE);
    let mut rows = Vec::new();
    for record in records {
        let false_positives = median_false_positives(record.samples(Operation::QueryMiss));
        for &operation in operations {
            let samples = record.samples(operation);
            let reference = reference.map_or(&[][..], |r| r.samples(operation));
            let ns = Summary::of(samples.iter().map(|s| s.ns_per_op));
            let speed = Summary::of(
                samples
                    .iter()
                    .zip(reference)
                    .map(|(sample, reference)| reference.ns_per_op / sample.ns_per_op),
            );
            let is_query = operation.is_query();
            rows.push(Row {
                filter: record.entry.name,
                operation: operation.name(),
                log2_slots: workload.log2_slots,
                ns_per_op: ns.map(|ns| ns.median),
                bits_per_item: is_query.then_some(record.bits_per_item),
                fpr: false_positives
                    .filter(|_| is_query)
                    .map(|count| count as f64 / workload.queries() as f64),
                false_positives: median_false_positives(samples),
                min_ns: ns.map(|ns| ns.min),
                max_ns: ns.map(|ns| ns.max),
                speed_vs_qfilter: speed.map(|speed| speed.median),
                rounds: samples.len(),
            });
        }
    }
    rows
}

/// The same in every round for most; a cuckoo filter rolls dice.
fn median_false_positives(samples: &[Sample]) -> Option<u64> {
    let counts = samples.iter().filter_map(|sample| sample.false_positives);
    Summary::of(counts.map(|count| count as f64)).map(|counts| counts.median as u64)
}
