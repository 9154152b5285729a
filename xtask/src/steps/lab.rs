//! The comparison with other crates, the measurement of the store and every experiment of the
//! papers still run, and their JSON keeps its shape.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::Outcome;
use crate::workspace::{LAB, Workspace};
use crate::{Result, command};

/// Fields that every row has, null where one makes no sense.
const FIELDS: [&str; 8] = [
    "filter",
    "operation",
    "log2_slots",
    "ns_per_op",
    "bits_per_item",
    "fpr",
    "false_positives",
    "bits_per_item_added",
];

const QUERIES: [&str; 2] = ["query_hit", "query_miss"];
const QUOTIENT: [&str; 8] = [
    "insert",
    "insert_85_90",
    "query_hit",
    "query_miss",
    "zipf",
    "zipf_again",
    "remove",
    "merge",
];
const PLAIN: [&str; 14] = [
    "insert",
    "insert_85_90",
    "insert_batch",
    "query_hit",
    "query_miss",
    "query_hit_batch",
    "query_miss_batch",
    "zipf",
    "zipf_again",
    "remove",
    "bulk_load",
    "bulk_load_sorted",
    "merge",
    "load_file",
];
const ADAPTIVE: [&str; 15] = [
    "insert",
    "insert_85_90",
    "insert_batch",
    "query_hit",
    "query_miss",
    "query_hit_batch",
    "query_miss_batch",
    "adapt",
    "zipf",
    "zipf_again",
    "remove",
    "bulk_load",
    "bulk_load_sorted",
    "merge",
    "load_file",
];

const CODED: [&str; 4] = ["insert", "insert_85_90", "query_hit", "query_miss"];

const CUCKOO: [&str; 9] = [
    "insert",
    "insert_85_90",
    "insert_batch",
    "query_hit",
    "query_miss",
    "query_hit_batch",
    "query_miss_batch",
    "remove",
    "load_file",
];

const BLOOM: [&str; 8] = [
    "insert",
    "insert_batch",
    "query_hit",
    "query_miss",
    "query_hit_batch",
    "query_miss_batch",
    "merge",
    "load_file",
];

/// The rows that must be there: each filter with the operations that it can do.
const EXPECTED: [(&str, &[&str]); 17] = [
    ("twiceshy-plain/xxh3", &PLAIN),
    ("twiceshy-plain/sip", &PLAIN),
    ("twiceshy-adaptive/xxh3", &ADAPTIVE),
    ("twiceshy-adaptive/sip", &ADAPTIVE),
    ("twiceshy-cuckoo/xxh3", &CUCKOO),
    ("twiceshy-vacuum/xxh3", &CUCKOO),
    ("twiceshy-bloom/xxh3", &BLOOM),
    ("twiceshy-blocked-bloom/xxh3", &BLOOM),
    ("twiceshy-telescoping/xxh3", &CODED),
    ("twiceshy-telescoping-plain/xxh3", &CODED),
    ("twiceshy-extension/xxh3", &CODED),
    ("twiceshy-swapping/xxh3", &CODED),
    ("qfilter", &QUOTIENT),
    ("fastbloom", &["insert", "query_hit", "query_miss", "merge"]),
    (
        "cuckoofilter",
        &["insert", "query_hit", "query_miss", "remove"],
    ),
    ("xorf-fuse8", &QUERIES),
    ("xorf-fuse16", &QUERIES),
];

const LOG2_SLOTS: u64 = 12;

/// What `store` must report on each of its engines.
const STORE_ENGINES: [&str; 3] = ["redb", "lmdb", "fjall"];
const STORE_EXPERIMENTS: [&str; 9] = [
    "inserts",
    "engine operations per insert",
    "lookups that miss",
    "two threads",
    "adversary",
    "adversary, engine reads per lookup",
    "opening, per million keys",
    "rebuild after a crash, keys",
    "longest call",
];

pub(super) fn run(workspace: &Workspace) -> Result<Outcome> {
    // As the tests build it, so that nothing is built again; it is optimised there, too.
    let build = format!("build --workspace --all-features --bin {LAB}");
    command::run(&mut workspace.cargo(&build))?;
    let compare = format!("compare --log2-slots {LOG2_SLOTS} --rounds 1");
    let mut complaints = complaints(&report(workspace, &compare, "compare-tiny.json")?);
    let store = report(
        workspace,
        "store --keys 20000 --rounds 1",
        "store-tiny.json",
    )?;
    complaints.extend(store_complaints(&store));
    complaints.extend(experiments(workspace)?);
    if !complaints.is_empty() {
        return Err(complaints.join("\n").into());
    }
    println!("every expected row is there");
    Ok(Outcome::Passed)
}

/// Runs the lab, and reads what it writes.
fn report(workspace: &Workspace, args: &str, file: &str) -> Result<Value> {
    let json = workspace.target(file);
    let mut lab = workspace.built(LAB);
    lab.args(args.split_whitespace());
    // The report of an earlier run must not pass for this one's.
    let _ = fs::remove_file(workspace.root().join(&json));
    command::run(lab.arg("--json").arg(&json))?;
    let text = fs::read_to_string(workspace.root().join(json))?;
    Ok(serde_json::from_str(&text)?)
}

/// Runs every experiment at the smallest scale; what is wrong with what it leaves?
fn experiments(workspace: &Workspace) -> Result<Vec<String>> {
    let folder = workspace.target("lab-tiny");
    let there = workspace.root().join(&folder);
    let _ = fs::remove_dir_all(&there);
    let mut lab = workspace.built(LAB);
    lab.args(["run", "all", "--scale", "tiny", "--out"]);
    command::run(lab.arg(&folder))?;
    let page = fs::read_to_string(there.join("index.html"))?;
    let mut complaints = Vec::new();
    let declared = workspace
        .root()
        .join("crates")
        .join(LAB)
        .join("experiments");
    for entry in fs::read_dir(declared)? {
        let path = entry?.path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        if !page.contains(&format!("<h2 id=\"{name}\"")) {
            complaints.push(format!("the report has no section for {name}"));
        }
        let results = there.join(Path::new(&*name).with_extension("jsonl"));
        match fs::read_to_string(&results) {
            Ok(text) => complaints.extend(
                (result_complaints(&text).into_iter()).map(|what| format!("{name}: {what}")),
            ),
            Err(error) => complaints.push(format!("no results of {name}: {error}")),
        }
    }
    Ok(complaints)
}

/// A file of results begins with how it came about; all that follows are samples.
fn result_complaints(text: &str) -> Vec<String> {
    let lines = text.lines().map(serde_json::from_str);
    let lines: std::result::Result<Vec<Value>, _> = lines.collect();
    let lines = match lines {
        Ok(lines) => lines,
        Err(error) => return vec![format!("no JSON: {error}")],
    };
    let [head, points @ ..] = &lines[..] else {
        return vec!["the file is empty".to_owned()];
    };
    let mut complaints = Vec::new();
    for field in ["experiment", "scale", "machine", "seeds", "parameters"] {
        if head.get(field).is_none_or(Value::is_null) {
            complaints.push(format!("no `{field}` in its first line"));
        }
    }
    if head["machine"].get("commit").is_none() {
        complaints.push("no `commit` in its machine".to_owned());
    }
    // For want of real data, an experiment may measure nothing; then it says so.
    let is_silent = head["notes"].as_array().is_none_or(Vec::is_empty);
    if points.is_empty() && is_silent {
        complaints.push("nothing was measured".to_owned());
    }
    for point in points {
        let samples = point["samples"].as_array();
        let are_numbers = samples
            .is_some_and(|samples| !samples.is_empty() && samples.iter().all(Value::is_number));
        if !are_numbers || !point["panel"].is_string() || !point["series"].is_string() {
            complaints.push(format!("this is no point: {point}"));
        }
    }
    complaints
}

/// The store's report has rows of every experiment on every engine, each with a figure.
fn store_complaints(report: &Value) -> Vec<String> {
    let rows: Vec<&Value> = report["rows"].as_array().into_iter().flatten().collect();
    let mut complaints = Vec::new();
    for engine in STORE_ENGINES {
        for experiment in STORE_EXPERIMENTS {
            let is_it = |row: &&&Value| row["engine"] == engine && row["experiment"] == experiment;
            if rows.iter().filter(is_it).count() == 0 {
                complaints.push(format!("no row for {experiment} on {engine}"));
            }
        }
    }
    for row in rows {
        if !row["median"].is_number() {
            complaints.push(format!("`median` is not a number in {row}"));
        }
    }
    for field in ["machine", "parameters"] {
        if !report[field].is_object() {
            complaints.push(format!("no `{field}` in the store's report"));
        }
    }
    complaints
}

fn complaints(report: &Value) -> Vec<String> {
    let Some(rows) = report.as_array() else {
        return vec!["the report is not an array of rows".into()];
    };
    let mut complaints: Vec<String> = rows.iter().flat_map(row_complaints).collect();
    for (filter, operations) in EXPECTED {
        for operation in operations {
            let is_it = |row: &&Value| row["filter"] == filter && row["operation"] == **operation;
            let found: Vec<&Value> = rows.iter().filter(is_it).collect();
            let [row] = found[..] else {
                complaints.push(format!(
                    "{} rows for {filter} {operation}, not one",
                    found.len()
                ));
                continue;
            };
            if !row["ns_per_op"].as_f64().is_some_and(|time| time > 0.0) {
                complaints.push(format!("`ns_per_op` is not a time in {row}"));
            }
        }
    }
    complaints
}

/// What must hold of any row, even of an operation that its filter can't do.
fn row_complaints(row: &Value) -> Vec<String> {
    let missing = FIELDS.iter().filter(|field| row.get(field).is_none());
    let mut complaints: Vec<String> = missing
        .map(|field| format!("no field `{field}` in {row}"))
        .collect();
    if row["log2_slots"] != LOG2_SLOTS {
        complaints.push(format!("`log2_slots` is not {LOG2_SLOTS} in {row}"));
    }
    let done = row["ns_per_op"].is_number();
    let is_query = |name: &str| name.starts_with("query_") || name.starts_with("zipf");
    if done && row["operation"].as_str().is_some_and(is_query) {
        if !row["bits_per_item"].as_f64().is_some_and(|bits| bits > 0.0) {
            complaints.push(format!("`bits_per_item` is not a size in {row}"));
        }
        if !row["fpr"]
            .as_f64()
            .is_some_and(|fpr| (0.0..1.0).contains(&fpr))
        {
            complaints.push(format!("`fpr` is not a rate in {row}"));
        }
    }
    complaints
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn good() -> Vec<Value> {
        let pairs = EXPECTED
            .iter()
            .flat_map(|(f, ops)| ops.iter().map(move |o| (f, o)));
        pairs
            .map(|(filter, operation)| {
                json!({
                    "filter": filter, "operation": operation, "log2_slots": LOG2_SLOTS,
                    "ns_per_op": 9.5, "bits_per_item": 12.5, "fpr": 0.0019,
                    "false_positives": null, "bits_per_item_added": null,
                })
            })
            .collect()
    }

    #[test]
    fn a_full_report_passes() {
        assert_eq!(complaints(&good().into()), Vec::<String>::new());
    }

    #[test]
    fn a_missing_row_and_a_missing_field_are_named() {
        let mut rows = good();
        rows.pop();
        rows[0].as_object_mut().unwrap().remove("false_positives");
        let complaints = complaints(&rows.into());
        assert_eq!(complaints.len(), 2, "{complaints:?}");
        assert!(complaints[0].contains("no field `false_positives`"));
        assert!(complaints[1].contains("0 rows for xorf-fuse16 query_miss"));
    }

    #[test]
    fn a_time_may_only_lack_where_the_operation_does() {
        let mut rows = good();
        let mut lacking = rows[0].clone();
        lacking["filter"] = json!("fastbloom");
        lacking["operation"] = json!("remove");
        lacking["ns_per_op"] = Value::Null;
        rows.push(lacking);
        rows[0]["ns_per_op"] = Value::Null;
        let complaints = complaints(&rows.into());
        assert_eq!(complaints.len(), 1, "{complaints:?}");
        assert!(complaints[0].contains("`ns_per_op`"));
    }

    #[test]
    fn the_store_needs_every_experiment() {
        let rows: Vec<Value> = (STORE_ENGINES.iter())
            .flat_map(|engine| STORE_EXPERIMENTS.map(|experiment| (engine, experiment)))
            .map(|(engine, experiment)| {
                json!({ "engine": engine, "experiment": experiment, "median": 1.5 })
            })
            .collect();
        let mut report = json!({ "machine": {}, "parameters": {}, "rows": rows });
        assert_eq!(store_complaints(&report), Vec::<String>::new());
        report["rows"][0]["median"] = Value::Null;
        report["rows"].as_array_mut().unwrap().pop();
        report["machine"] = Value::Null;
        assert_eq!(store_complaints(&report).len(), 3);
    }

    #[test]
    fn results_need_a_head_and_points() {
        let head = r#"{"experiment":"e","scale":"tiny","machine":{"commit":null},"seeds":[1],"parameters":{}}"#;
        let point = r#"{"panel":"p","series":"s","x":1,"samples":[1.5]}"#;
        assert_eq!(
            result_complaints(&format!("{head}\n{point}\n")),
            Vec::<String>::new()
        );
        assert_eq!(result_complaints("").len(), 1);
        assert_eq!(result_complaints("nonsense").len(), 1);
        assert_eq!(result_complaints(head), ["nothing was measured"]);
        let left_out = head.replace("\"seeds\"", "\"notes\":[\"left out\"],\"seeds\"");
        assert_eq!(result_complaints(&left_out), Vec::<String>::new());
        let bad = point.replace("1.5", "");
        assert_eq!(result_complaints(&format!("{head}\n{bad}")).len(), 1);
        let bad = head.replace("\"seeds\":[1],", "");
        assert_eq!(result_complaints(&format!("{bad}\n{point}")).len(), 1);
    }

    #[test]
    fn query_rows_need_space_and_rate() {
        for query in ["query_hit", "query_miss_batch", "zipf"] {
            let mut rows = good();
            let query = rows
                .iter_mut()
                .find(|row| row["operation"] == query)
                .unwrap();
            query["bits_per_item"] = Value::Null;
            query["fpr"] = json!(1.5);
            assert_eq!(complaints(&rows.into()).len(), 2);
        }
    }
}
