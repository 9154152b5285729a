//! `twiceshy demo`, small.

#![allow(clippy::unwrap_used, reason = "a failure in a helper is a failed test")]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

fn demo(out: &Path, more: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_twiceshy"));
    command.args(["demo", "--keys", "5000", "--lookups", "40000", "--out"]);
    command.arg(out).args(more).output().unwrap()
}

#[test]
fn it_ends_with_a_table_and_a_page() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("new/folder");
    let output = demo(&out, &[]);
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    for row in ["no filter", "plain quotient filter", "adaptive filter"] {
        assert!(text.lines().any(|line| line.starts_with(row)), "{text}");
    }
    assert!(text.contains("never made the same mistake twice"), "{text}");
    assert!(text.contains("report.html"), "{text}");

    let page = fs::read_to_string(out.join("report.html")).unwrap();
    assert_eq!(page.matches("<svg").count(), 4);
    assert!(
        !page.contains("src=") && !page.contains("http"),
        "it loads nothing"
    );
    assert!(!page.contains("NaN"));
    let left = fs::read_dir(&out).unwrap().count();
    assert_eq!(left, 1, "the databases are gone, the page is there");
}

#[test]
fn its_figures_say_what_it_is_about() {
    let folder = tempfile::tempdir().unwrap();
    let output = demo(folder.path(), &["--json"]);
    assert!(output.status.success(), "{output:?}");
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let stores = json["stores"].as_array().unwrap();
    let [none, plain, adaptive] = &stores[..] else {
        panic!("three stores: {json}");
    };
    assert_eq!(
        none["reads_per_million"], 1e6,
        "without a filter every lookup reads"
    );
    assert!(none["false_positives"].is_null());
    assert!(
        plain["repeated_false_positives"].as_u64().unwrap() > 100,
        "{json}"
    );
    assert!(adaptive["false_positives"].as_u64().unwrap() > 0, "{json}");
    assert_eq!(adaptive["repeated_false_positives"], 0);
    // Whatever stands in front, the records are the same.
    assert_eq!(none["found"], plain["found"]);
    assert_eq!(none["found"], adaptive["found"]);
    assert!(none["found"].as_u64().unwrap() > 0);

    // Everything but the clock comes from the seed.
    let again = demo(folder.path(), &["--json"]);
    let again: serde_json::Value = serde_json::from_slice(&again.stdout).unwrap();
    assert_eq!(
        again["stores"][1]["false_positives"],
        plain["false_positives"]
    );
}

#[test]
fn what_it_cant_do_it_says() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "in the way").unwrap();
    let output = demo(&file, &[]);
    assert_eq!(output.status.code(), Some(2));
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.contains("--out"), "{message}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "in the way");
}

#[cfg(unix)]
#[test]
fn an_interrupted_demo_takes_its_databases_along() {
    use std::os::unix::process::ExitStatusExt;
    use std::thread::sleep;
    use std::time::Duration;

    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_twiceshy"));
    // More records than any machine fills in the time that the test takes.
    command
        .args(["demo", "--keys", "50000000", "--out"])
        .arg(folder.path());
    let mut child = command.spawn().unwrap();
    let files = || fs::read_dir(folder.path()).unwrap().count();
    while files() == 0 {
        assert!(child.try_wait().unwrap().is_none(), "it ended");
        sleep(Duration::from_millis(10));
    }
    let pid = child.id().to_string();
    let killed = Command::new("kill").args(["-INT", &pid]).status().unwrap();
    assert!(killed.success());
    assert_eq!(
        child.wait().unwrap().signal(),
        Some(2),
        "it ends by the signal"
    );
    assert_eq!(files(), 0);
}
