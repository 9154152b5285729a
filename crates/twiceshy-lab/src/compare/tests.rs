//! Small runs of everything, end to end.

use serde_json::Value;

use super::measure::measure;
use super::report::rows;
use super::*;

const TINY: Workload = Workload {
    log2_slots: 10,
    load: 0.9,
    adapted: 0.0,
    seed: 1,
};

/// Numbers that every row of the JSON file has, or null.
const FIGURES: [&str; 7] = [
    "ns_per_op",
    "bits_per_item",
    "fpr",
    "false_positives",
    "distinct_false_positives",
    "bits_per_item_added",
    "speed_vs_plain",
];

fn run_tiny(rounds: usize) -> Vec<report::Row> {
    run(&TINY, rounds)
}

fn run(workload: &Workload, rounds: usize) -> Vec<report::Row> {
    let entries: Vec<&'static Entry> = filters::ALL.iter().collect();
    let progress = ProgressBar::hidden();
    let records = measure(workload, rounds, &entries, Operation::ALL, &progress).unwrap();
    rows(workload, &records, Operation::ALL)
}

#[test]
fn every_filter_does_all_that_it_claims() {
    let rows = run_tiny(2);
    assert_eq!(rows.len(), filters::ALL.len() * Operation::ALL.len());
    for (entry, rows) in filters::ALL.iter().zip(rows.chunks(Operation::ALL.len())) {
        for (&operation, row) in Operation::ALL.iter().zip(rows) {
            assert_eq!((row.filter, row.operation), (entry.name, operation.name()));
            assert_eq!(row.ns_per_op.is_some(), entry.can(operation), "{row:?}");
            assert_eq!(row.rounds, if entry.can(operation) { 2 } else { 0 });
            if operation.is_query() && entry.can(operation) {
                assert!(row.bits_per_item.unwrap() < 64.0, "{row:?}");
                assert!(row.fpr.unwrap() < 0.1, "{row:?}");
            }
        }
    }
}

#[test]
fn quotient_filters_of_one_geometry_err_alike() {
    let expected = 1.0 - (-0.9_f64 / 512.0).exp();
    for row in run_tiny(1) {
        let is_zipf = row.operation.starts_with("zipf");
        let is_quotient = ["qfilter", "twiceshy-plain", "twiceshy-adaptive"]
            .iter()
            .any(|name| row.filter.starts_with(name));
        if is_quotient && !is_zipf {
            // 65,536 queries against one small table: the table's own luck dominates.
            if let Some(fpr) = row.fpr {
                assert!((fpr / expected - 1.0).abs() < 0.5, "{row:?}");
            }
        }
    }
}

#[test]
fn json_has_the_promised_shape() {
    let Value::Array(rows) = serde_json::to_value(run_tiny(1)).unwrap() else {
        panic!("an array is promised");
    };
    for row in &rows {
        assert!(row["filter"].is_string());
        assert!(row["operation"].is_string());
        assert_eq!(row["log2_slots"], 10);
        for figure in FIGURES {
            let value = row.get(figure).expect(figure);
            assert!(
                value.is_null() || value.as_f64().is_some_and(|v| v >= 0.0),
                "{row}"
            );
        }
        let operation = row["operation"].as_str().unwrap();
        let done = row["ns_per_op"].is_number();
        let is_zipf = operation.starts_with("zipf") && done;
        let is_query = operation.starts_with("query") && done || is_zipf;
        assert_eq!(row["bits_per_item"].is_number(), is_query, "{row}");
        assert_eq!(row["fpr"].is_number(), is_query, "{row}");
        assert_eq!(
            row["false_positives"].is_u64(),
            operation.starts_with("query_miss") && done || is_zipf,
            "{row}"
        );
        let entry = filters::by_name(row["filter"].as_str().unwrap()).unwrap();
        let learns = entry.learns.is_some();
        assert_eq!(
            row["bits_per_item_added"].is_number(),
            learns && is_zipf,
            "{row}"
        );
        assert_eq!(
            row["speed_vs_plain"].is_number(),
            learns && operation != "adapt" && (done || entry.ours),
            "{row}"
        );
    }
    let of = |filter, operation| {
        rows.iter()
            .find(|row| row["filter"] == filter && row["operation"] == operation)
    };
    for operation in ["query_hit", "query_miss"] {
        for filter in filters::ALL {
            assert!(of(filter.name, operation).unwrap()["ns_per_op"].is_number());
        }
    }
    assert!(of("fastbloom", "remove").unwrap()["ns_per_op"].is_null());
    assert_eq!(of("qfilter", "query_hit").unwrap()["speed_vs_qfilter"], 1.0);
}

#[test]
fn the_table_shows_every_row() {
    let rows = run_tiny(1);
    let table = Table {
        workload: &TINY,
        rounds: 1,
        operations: Operation::ALL,
        rows: &rows,
    };
    let text = table.to_string();
    for entry in filters::ALL {
        // Once per operation and once for space.
        assert_eq!(
            text.matches(&format!("  {} ", entry.name)).count(),
            Operation::ALL.len() + 1
        );
    }
    assert!(
        text.lines().all(|line| line.chars().count() <= 100),
        "{text}"
    );
}

#[test]
fn a_query_alone_still_has_its_error_rate() {
    let entries = [filters::by_name(filters::REFERENCE).unwrap()];
    let only = [Operation::QueryHit];
    let records = measure(&TINY, 1, &entries, &only, &ProgressBar::hidden()).unwrap();
    let rows = rows(&TINY, &records, &only);
    assert_eq!(rows.len(), 1);
    assert!(rows[0].fpr.is_some());
}

#[test]
fn who_learns_does_not_repeat_a_mistake() {
    // Large enough for popular queries to be mistaken.
    let workload = Workload {
        log2_slots: 14,
        ..TINY
    };
    let rows = run(&workload, 1);
    let of = |filter: String, operation| {
        let mut rows = rows.iter();
        rows.find(|row| row.filter == filter && row.operation == operation)
            .unwrap()
    };
    for hash in ["xxh3", "sip"] {
        let plain = |operation| of(format!("twiceshy-plain/{hash}"), operation);
        let adaptive = |operation| of(format!("twiceshy-adaptive/{hash}"), operation);
        // The same geometry, hash and seed: the same mistakes, until one is made twice.
        assert_eq!(
            plain("query_miss").false_positives,
            adaptive("query_miss").false_positives
        );
        let (first, again) = (plain("zipf"), plain("zipf_again"));
        let distinct = first.distinct_false_positives.unwrap();
        assert!(distinct > 0);
        assert!(first.false_positives.unwrap() >= distinct);
        assert_eq!(first.false_positives, again.false_positives);

        let (first, again) = (adaptive("zipf"), adaptive("zipf_again"));
        assert_eq!(first.distinct_false_positives, Some(distinct));
        assert!((1..=distinct).contains(&first.false_positives.unwrap()));
        assert!(first.bits_per_item_added.unwrap() > 0.0);
        assert_eq!(again.false_positives, Some(0));
        assert_eq!(again.bits_per_item_added, Some(0.0));
    }
}

#[test]
fn adapted_filters_lose_no_member() {
    let workload = Workload {
        log2_slots: 14,
        adapted: 0.02,
        ..TINY
    };
    // The measurement checks hits and removals itself.
    let rows = run(&workload, 2);
    assert_eq!(rows.len(), filters::ALL.len() * Operation::ALL.len());
    let misses = |filter| {
        let mut rows = rows.iter();
        rows.find(|row| row.filter == filter && row.operation == "query_miss")
            .unwrap()
            .false_positives
    };
    assert!(misses("twiceshy-adaptive/sip") < misses("twiceshy-plain/sip"));
}

/// The operations of our filters that other crates' filters have not, or not all of them.
const NEWER: [&str; 7] = [
    "insert_batch",
    "query_hit_batch",
    "query_miss_batch",
    "bulk_load",
    "bulk_load_sorted",
    "merge",
    "load_file",
];

#[test]
fn all_at_once_is_read_beside_one_by_one() {
    let rows = run_tiny(3);
    for row in rows.iter().filter(|row| NEWER.contains(&row.operation)) {
        let entry = filters::by_name(row.filter).unwrap();
        let mut operations = Operation::ALL.iter();
        let operation = operations.find(|op| op.name() == row.operation).unwrap();
        let does = entry.can(*operation);
        assert_eq!(row.rounds, if does { 3 } else { 0 }, "{row:?}");
        // Nobody else's file is timed; the rest has something of qfilter's beside it.
        let has_ratio = does && row.operation != "load_file";
        assert_eq!(row.speed_vs_qfilter.is_some(), has_ratio, "{row:?}");
        let is_merge = does && row.operation == "merge" && entry.can(Operation::BulkLoadSorted);
        assert_eq!(row.cost_vs_sorted.is_some(), is_merge, "{row:?}");
        let is_file = does && row.operation == "load_file";
        assert_eq!(row.gb_per_s.is_some(), is_file, "{row:?}");
        assert_eq!(row.trusted_ns.is_some(), is_file, "{row:?}");
    }
    let names: Vec<&str> = Operation::ALL.iter().map(|op| op.name()).collect();
    assert!(NEWER.iter().all(|name| names.contains(name)), "{names:?}");
}

#[test]
fn batches_err_like_single_queries() {
    for workload in [
        TINY,
        Workload {
            log2_slots: 13,
            adapted: 0.02,
            ..TINY
        },
    ] {
        let rows = run(&workload, 1);
        let of = |filter, operation| {
            let mut rows = rows.iter();
            rows.find(|row| row.filter == filter && row.operation == operation)
                .unwrap()
        };
        for filter in filters::ALL.iter().filter(|entry| entry.ours) {
            let single = of(filter.name, "query_miss");
            let batch = of(filter.name, "query_miss_batch");
            assert!(single.false_positives.unwrap() > 0);
            assert_eq!(single.false_positives, batch.false_positives);
            for operation in ["query_hit_batch", "query_miss_batch"] {
                let row = of(filter.name, operation);
                assert_eq!(row.fpr, single.fpr);
                assert_eq!(row.bits_per_item, single.bits_per_item);
            }
        }
    }
}

/// Alone on the command line, an operation still brings what it is compared with.
#[test]
fn each_operation_brings_what_it_is_compared_with() {
    let names = ["twiceshy-adaptive/xxh3", filters::REFERENCE];
    let entries = names.map(|name| filters::by_name(name).unwrap());
    for &only in Operation::ALL {
        let records = measure(&TINY, 1, &entries, &[only], &ProgressBar::hidden()).unwrap();
        let rows = rows(&TINY, &records, &[only]);
        let [ours, theirs] = &rows[..] else {
            panic!("a row for each of two filters");
        };
        let alone = [Operation::Adapt, Operation::LoadFile].contains(&only);
        assert_eq!(ours.speed_vs_qfilter.is_some(), !alone, "{ours:?}");
        assert_eq!(ours.cost_vs_sorted.is_some(), only == Operation::Merge);
        assert_eq!(ours.fpr.is_some(), only.is_query(), "{ours:?}");
        assert_eq!(theirs.ns_per_op.is_some(), entries[1].can(only));
    }
}

#[test]
fn figures_of_files_and_merges_are_of_their_own_round() {
    let entries = [filters::by_name("twiceshy-plain/xxh3").unwrap()];
    let only = [
        Operation::BulkLoadSorted,
        Operation::Merge,
        Operation::LoadFile,
    ];
    let records = measure(&TINY, 1, &entries, &only, &ProgressBar::hidden()).unwrap();
    let rows = rows(&TINY, &records, &only);
    let [sorted, merge, file] = [0, 1, 2].map(|i: usize| rows[i].ns_per_op.unwrap());
    let items = TINY.members() as f64;
    assert_eq!(rows[1].cost_vs_sorted, Some(merge / sorted));
    let opened = records[0].samples(Operation::LoadFile)[0].opened.unwrap();
    assert_eq!(rows[2].gb_per_s, Some(opened.bytes as f64 / (file * items)));
    assert_eq!(rows[2].trusted_ns, Some(opened.trusted_ns));
    // The table and a header.
    let table = (records[0].bits_per_item * items / 8.0).round() as usize;
    assert_eq!(opened.bytes, table + twiceshy::file::HEADER_BYTES);
}
