//! Small runs of everything, end to end.

use serde_json::Value;

use super::measure::measure;
use super::report::rows;
use super::*;

const TINY: Workload = Workload {
    log2_slots: 10,
    load: 0.9,
    seed: 1,
};

fn run_tiny(rounds: usize) -> Vec<report::Row> {
    let entries: Vec<&'static Entry> = filters::ALL.iter().collect();
    let progress = ProgressBar::hidden();
    let records = measure(&TINY, rounds, &entries, Operation::ALL, &progress).unwrap();
    rows(&TINY, &records, Operation::ALL)
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
            if operation.is_query() {
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
        if row.filter.contains("qfilter") || row.filter.contains("plain") {
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
        for figure in ["ns_per_op", "bits_per_item", "fpr", "false_positives"] {
            let value = row.get(figure).expect(figure);
            assert!(
                value.is_null() || value.as_f64().is_some_and(|v| v >= 0.0),
                "{row}"
            );
        }
        let is_query = row["operation"].as_str().unwrap().starts_with("query");
        assert_eq!(row["bits_per_item"].is_number(), is_query, "{row}");
        assert_eq!(row["fpr"].is_number(), is_query, "{row}");
        assert_eq!(
            row["false_positives"].is_u64(),
            row["operation"] == "query_miss",
            "{row}"
        );
    }
    let of = |filter, operation| {
        rows.iter()
            .find(|row| row["filter"] == filter && row["operation"] == operation)
    };
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
