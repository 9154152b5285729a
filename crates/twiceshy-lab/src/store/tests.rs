//! A tiny run of everything, end to end.

use super::*;

fn tiny(engine: Choice, out: Option<PathBuf>) -> Args {
    Args {
        keys: 4000,
        value_bytes: 40,
        engine,
        rounds: 2,
        json: out.as_ref().map(|out| out.join("figures.json")),
        out,
        profile: None,
    }
}

#[test]
fn every_engine_has_every_row() {
    let report = measure(&tiny(Choice::All, None)).unwrap();
    for engine in ["redb", "lmdb", "fjall"] {
        for experiment in [
            inserts::INSERTS,
            inserts::OPERATIONS,
            misses::MISSES,
            misses::THREADS,
            adversary::ADVERSARY,
            adversary::READS,
            opening::OPENING,
            opening::REBUILD,
            pauses::PAUSES,
        ] {
            let rows = report.rows.iter();
            let rows = rows.filter(|row| row.engine == engine && row.experiment == experiment);
            assert!(rows.count() > 0, "no {experiment} on {engine}");
        }
    }
    let own_filters = |row: &&Row| row.engine == "fjall with filters";
    assert!(
        report
            .rows
            .iter()
            .any(|row| own_filters(&row) && row.experiment == misses::MISSES)
    );
    for row in &report.rows {
        assert!(row.spread.median.is_finite(), "{row:?}");
        assert_eq!(row.bar.is_some(), row.holds.is_some(), "{row:?}");
        assert_eq!(row.peer.is_some(), row.times.is_some(), "{row:?}");
    }
}

#[test]
fn counted_figures_hold_at_any_size() {
    let report = measure(&tiny(Choice::Redb, None)).unwrap();
    let find = |experiment, setting: &str, subject| {
        let mut rows = report.rows.iter();
        let row = rows.find(|row| {
            (row.experiment, &row.setting[..], row.subject) == (experiment, setting, subject)
        });
        row.unwrap_or_else(|| panic!("no row {experiment}, {setting}, {subject}"))
    };
    // Without a filter, every put asks the engine; with one, hardly any.
    let reads = |subject| {
        find(inserts::OPERATIONS, "put, reads", subject)
            .spread
            .median
    };
    assert!(reads("no filter") >= 1.0);
    assert!(reads("plain") < 0.02 && reads("adaptive") < 0.02);
    // Replays cost the plain store a read each, and the adaptive one none.
    let setting = "cache of 1% of the data, 10% hostile";
    let reads = |subject| find(adversary::READS, setting, subject).spread.median;
    assert!(reads("plain") > 0.09, "{}", reads("plain"));
    assert!(reads("adaptive") < 0.02, "{}", reads("adaptive"));
}

#[test]
fn the_report_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let args = tiny(Choice::Fjall, Some(folder.path().to_owned()));
    run(&args).unwrap();
    let json = fs::read_to_string(folder.path().join("figures.json")).unwrap();
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["parameters"]["keys"], 4000);
    assert!(json["machine"]["version"].is_string());
    assert!(json["machine"].get("commit").is_some());
    assert!(json["rows"].as_array().unwrap().len() > 50);
    let page = fs::read_to_string(folder.path().join("report.html")).unwrap();
    assert!(page.matches("<svg").count() >= 5, "{page}");
    assert!(!page.contains("NaN"));
    // The databases are gone.
    let left: Vec<_> = fs::read_dir(folder.path()).unwrap().collect();
    assert_eq!(left.len(), 2, "{left:?}");
}
