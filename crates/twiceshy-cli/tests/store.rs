//! `twiceshy store`, from a shell.

mod support;

use support::{Desk, json, lines};

#[test]
fn a_record_comes_back_and_a_stranger_does_not() {
    let desk = Desk::new();
    assert_eq!(desk.ok("store create s"), "made s\n");
    let put = desk.feed_ok("store put s", "anna\t1\notto\ttwo words\tand a tab\n");
    assert_eq!(put, "put 2 records; the store has 2\n");

    assert_eq!(desk.ok("store get s anna"), "anna\tfound\t1\n");
    let said = desk.run("store get s emma");
    assert_eq!(
        (said.code, said.text().as_str()),
        (Some(1), "emma\tabsent\n")
    );
    // Many keys: always 0.
    let got = desk.feed_ok("store get s", "emma\notto\n");
    assert_eq!(got, "emma\tabsent\notto\tfound\ttwo words\tand a tab\n");
    desk.write("keys", "anna\nemma");
    assert_eq!(
        desk.ok("store get s --input keys"),
        "anna\tfound\t1\nemma\tabsent\n"
    );
    assert_eq!(desk.feed_ok("store get s -", "anna"), "anna\tfound\t1\n");

    assert_eq!(desk.ok("store delete s anna"), "anna\tdeleted\n");
    let said = desk.run("store delete s anna");
    assert_eq!(
        (said.code, said.text().as_str()),
        (Some(1), "anna\tabsent\n")
    );
    assert_eq!(
        desk.feed_ok("store delete s", "otto\notto\n"),
        "otto\tdeleted\notto\tabsent\n"
    );
    assert_eq!(desk.ok("store scan s"), "");
    assert_eq!(
        desk.ok("store verify s"),
        "sound: 0 records, and the filter knows them all\n"
    );
}

#[test]
fn every_engine_and_layout_is_found_again() {
    let records = lines(0..300, |i| format!("key {i:03}\tvalue {i}"));
    for engine in ["redb", "fjall", "lmdb"] {
        for layout in ["merged", "split"] {
            let desk = Desk::new();
            desk.ok(&format!(
                "store create s --engine {engine} --layout {layout}"
            ));
            desk.feed_ok("store put s --batch 70", &records);
            let mut scan: Vec<_> = desk.ok("store scan s").lines().map(str::to_owned).collect();
            if layout == "merged" {
                scan.sort();
            }
            assert_eq!(scan.join("\n") + "\n", records, "{engine}, {layout}");
            assert!(desk.ok("store verify s").contains("300 records"));
            let stats = json(&desk.ok("store stats s --json"));
            assert_eq!(stats["records"], 300);
            assert_eq!(stats["engine"], engine);
            assert_eq!(stats["layout"], layout);
            let words = desk.ok("store stats s");
            assert!(
                words.contains("records") && words.contains(engine),
                "{words}"
            );
        }
    }
}

#[test]
fn ranges_are_for_the_split_layout() {
    let desk = Desk::new();
    desk.ok("store create s --layout split");
    desk.feed_ok("store put s", lines(0..100, |i| format!("{i:02}\t{i}")));
    assert_eq!(
        desk.ok("store scan s --from 10 --to 12"),
        "10\t10\n11\t11\n"
    );
    assert_eq!(desk.ok("store scan s --from 98"), "98\t98\n99\t99\n");
    assert_eq!(desk.ok("store scan s --limit 1"), "00\t0\n");

    desk.ok("store create merged");
    let error = desk.fails("store scan merged --from 10");
    assert!(error.contains("--layout split"), "{error}");
}

#[test]
fn acknowledgements_count_the_records_of_this_run() {
    let desk = Desk::new();
    desk.ok("store create s");
    let records = lines(0..25, |i| format!("{i}\tx"));
    assert_eq!(
        desk.feed_ok("store put s --batch 10 --ack", &records),
        "10\n20\n25\n"
    );
    // A second run starts from zero, also for records that are there.
    assert_eq!(
        desk.feed_ok("store put s --batch 20 --ack", &records),
        "20\n25\n"
    );
    let acks = desk.feed_ok("store put s --batch 25 --ack --json", &records);
    assert_eq!(acks, "{\"durable\":25}\n");
    assert_eq!(desk.feed_ok("store put s --ack", ""), "");
    let put = json(&desk.feed_ok("store put s --json", "new\t1\n"));
    assert_eq!((&put["put"], &put["records"]), (&1.into(), &26.into()));
}

#[test]
fn a_bad_line_is_named_and_those_before_it_are_put() {
    let desk = Desk::new();
    desk.ok("store create s");
    let said = desk.feed(
        "store put s --batch 2 --ack",
        "a\t1\nb\t2\nc\t3\nno tab\nd\t4\n",
    );
    assert_eq!((said.code, said.text().as_str()), (Some(2), "2\n3\n"));
    assert!(
        said.err.contains("line 4 of standard input"),
        "{}",
        said.err
    );
    assert!(said.err.contains("no tab"), "{}", said.err);
    assert!(
        said.err.contains("3 records of this run are durable"),
        "{}",
        said.err
    );
    assert_eq!(desk.ok("store get s c"), "c\tfound\t3\n");
    assert_eq!(desk.run("store get s d").code, Some(1));

    let error = desk.feed_fails("store put s --format hex", "zz\t1\n");
    assert!(
        error.contains("`zz`") && error.contains("line 1"),
        "{error}"
    );
}

/// A key that the store can't take is named by its line, and takes no others along.
#[test]
fn keys_that_are_too_long_or_too_short_are_named() {
    let desk = Desk::new();
    let long = "k".repeat(600);
    for (layout, bad) in [("merged", &long[..]), ("split", &long[..]), ("split", "")] {
        desk.ok(&format!("store create s --engine lmdb --layout {layout}"));
        let said = desk.feed("store put s", format!("anna\t1\n{bad}\t2\n"));
        assert_eq!(said.code, Some(2), "{said:?}");
        let (err, len) = (&said.err, bad.len());
        assert!(err.contains("line 2 of standard input: a key of"), "{err}");
        assert!(err.contains(&format!("and this one {len}")), "{err}");
        assert!(err.contains("1 record of this run"), "{err}");
        assert_eq!(desk.ok("store get s anna"), "anna\tfound\t1\n");
        std::fs::remove_dir_all(desk.path("s")).unwrap();
    }
    // Hashes stand before keys in the merged layout, so that none is too short.
    desk.ok("store create s --engine lmdb");
    desk.feed_ok("store put s", "\tempty\n");
    assert_eq!(desk.feed_ok("store get s", "\n"), "\tfound\tempty\n");
}

#[test]
fn binary_keys_and_values_survive() {
    let desk = Desk::new();
    desk.ok("store create s");
    // A key with a line end, a tab and a zero in it, and a value like that.
    desk.feed_ok(
        "store put s --format hex --value-format hex",
        "0a0900ff\t0d0a\n",
    );
    let got = desk.ok("store get s 0A0900FF --format hex --value-format base64");
    assert_eq!(got, "0A0900FF\tfound\tDQo=\n");
    let got = desk.ok("store get s CgkA/w== --format base64 --value-format hex");
    assert_eq!(got, "CgkA/w==\tfound\t0d0a\n");
    desk.feed_ok("store put s --format u64", "17\tseventeen\n");
    assert_eq!(
        desk.ok("store get s 17 --format u64"),
        "17\tfound\tseventeen\n"
    );
    // What is no Unicode has its own name in JSON.
    let answers = desk.feed_ok("store get s --json", b"\n\xff\n");
    let answers: Vec<_> = answers.lines().map(json).collect();
    assert_eq!(answers[0], json(r#"{"key":"","answer":"absent"}"#));
    assert_eq!(answers[1], json(r#"{"key_hex":"ff","answer":"absent"}"#));
    let error = desk.fails("store scan s --format u64");
    assert!(error.contains("--format hex"), "{error}");

    // From one store to another, to the byte.
    desk.ok("store create copy");
    let all = desk.ok("store scan s --format base64 --value-format base64");
    desk.feed_ok("store put copy --format base64 --value-format base64", &all);
    let copied = desk.ok("store scan copy --format base64 --value-format base64");
    let sorted = |text: &str| {
        let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    assert_eq!(sorted(&all), sorted(&copied));
}

#[test]
fn line_ends_are_dropped_once() {
    let desk = Desk::new();
    desk.ok("store create s");
    desk.feed_ok("store put s", "anna\t1\r\notto\t2\r\r\n\tempty key\nlast\t");
    assert_eq!(
        desk.ok("store get s anna --value-format hex"),
        "anna\tfound\t31\n"
    );
    assert_eq!(
        desk.ok("store get s otto --value-format hex"),
        "otto\tfound\t320d\n"
    );
    assert_eq!(desk.feed_ok("store get s", "\n"), "\tfound\tempty key\n");
    assert_eq!(desk.ok("store get s last"), "last\tfound\t\n");
}

#[test]
fn json_has_one_object_a_line() {
    let desk = Desk::new();
    let made = json(&desk.ok("store create s --json"));
    assert_eq!(
        (&made["path"], &made["engine"]),
        (&"s".into(), &"redb".into())
    );
    desk.feed_ok("store put s", "anna\t\"1\"\n");
    let got = desk.feed_ok("store get s --json", "anna\nemma\n");
    let got: Vec<_> = got.lines().map(json).collect();
    assert_eq!(
        got[0],
        json(r#"{"key":"anna","answer":"found","value":"\"1\""}"#)
    );
    assert_eq!(got[1], json(r#"{"key":"emma","answer":"absent"}"#));
    let scan = json(&desk.ok("store scan s --json"));
    assert_eq!(scan, json(r#"{"key":"anna","value":"\"1\""}"#));
    let verified = json(&desk.ok("store verify s --json"));
    assert_eq!(verified, json(r#"{"sound":true,"records":1}"#));
    let gone = json(&desk.ok("store delete s anna --json"));
    assert_eq!(gone, json(r#"{"key":"anna","answer":"deleted"}"#));
}

#[test]
fn bad_paths_say_what_to_do() {
    let desk = Desk::new();
    for line in [
        "get no k",
        "put no",
        "delete no k",
        "scan no",
        "stats no",
        "verify no",
        "attack no",
    ] {
        let error = desk.fails(&format!("store {line}"));
        assert!(error.contains("store create no"), "{line}: {error}");
    }
    desk.write("file", "x");
    assert!(desk.fails("store create file").contains("is a file"));
    assert!(desk.fails("store get file k").contains("is a file"));
    assert!(
        desk.fails("store create /proc/nothing/here")
            .contains("where you may write")
    );
    desk.ok("store create s");
    assert!(desk.fails("store create s").contains("already"));
    std::fs::create_dir(desk.path("full")).unwrap();
    desk.write("full/other", "x");
    assert!(desk.fails("store create full").contains("not empty"));
    assert!(desk.fails("store get full k").contains("no store"));
    assert!(
        desk.fails("store put s --input nope")
            .contains("can't open nope")
    );
    assert!(desk.fails("store put s --input full").contains("directory"));

    // The command line's own errors end with 2 as well.
    for line in [
        "store put s --batch 0",
        "store get",
        "store create t --fpr 2",
        "store",
        "nonsense",
    ] {
        assert_eq!(desk.run(line).code, Some(2), "{line}");
    }
}

#[test]
fn damage_is_an_error_or_heals() {
    let desk = Desk::new();
    desk.ok("store create s");
    desk.feed_ok("store put s", lines(0..1000, |i| format!("{i}\t{i}")));
    // The filter is a cache: whatever happens to it, the records are there.
    desk.write("s/filter", "nonsense");
    assert_eq!(desk.ok("store get s 7"), "7\tfound\t7\n");
    std::fs::remove_file(desk.path("s/filter")).unwrap();
    assert!(desk.ok("store verify s").contains("1,000 records"));
    // What was chosen is not.
    let choices = desk.read("s/store.json");
    desk.write("s/store.json", "{");
    assert!(
        desk.fails("store get s 7")
            .contains("store.json is damaged")
    );
    desk.write("s/store.json", choices);
    // The database is the truth.
    desk.write("s/data.redb", vec![7; 100_000]);
    let error = desk.fails("store get s 7");
    assert!(error.contains("can't open the store at s"), "{error}");
}

/// A store that the library made, without the program.
#[test]
fn stores_of_the_library_open() {
    let desk = Desk::new();
    let store = twiceshy_store::Store::open_dir(desk.path("s")).unwrap();
    store.put("anna", "1").unwrap();
    store.close().unwrap();
    assert_eq!(desk.ok("store get s anna"), "anna\tfound\t1\n");
}

#[test]
fn a_store_is_open_once() {
    let desk = Desk::new();
    desk.ok("store create s");
    let store = twiceshy_store::Store::open_dir(desk.path("s")).unwrap();
    let error = desk.fails("store get s anna");
    assert!(error.contains("another process has it open"), "{error}");
    let error = desk.fails("store attack s");
    assert!(
        error.contains("another process has the store open"),
        "{error}"
    );
    drop(store);
}

#[test]
fn the_attacker_meets_three_stores_and_leaves_the_original_alone() {
    let desk = Desk::new();
    desk.ok("store create s --capacity 5000 --fpr 0.01");
    desk.feed_ok(
        "store put s --batch 5000",
        lines(0..5000, |i| format!("{i}\t{i}")),
    );
    let before = (desk.read("s/data.redb"), desk.read("s/filter"));

    let attack = "store attack s --probes 20000 --replays 5000 --seed 1";
    let report = json(&desk.ok(&format!("{attack} --json")));
    assert_eq!(report["records"], 5000);
    let rows = report["rows"].as_array().unwrap();
    let figure = |row: usize, name: &str| rows[row][name].as_u64().unwrap();
    assert_eq!(
        [0, 1, 2].map(|row| rows[row]["filter"].as_str().unwrap()),
        ["none", "plain", "adaptive"]
    );
    // Without a filter everything reads; a plain one repeats all its mistakes; an adaptive one
    // none.
    assert_eq!(
        (figure(0, "mistakes_found"), figure(0, "reads")),
        (20000, 5000)
    );
    assert!(figure(1, "mistakes_found") > 20);
    assert_eq!((figure(1, "replays"), figure(1, "reads")), (5000, 5000));
    assert!(figure(2, "mistakes_found") > 20);
    assert_eq!((figure(2, "replays"), figure(2, "reads")), (5000, 0));

    let words = desk.ok(attack);
    assert!(
        words.contains("the plain filter made 5,000 again, the adaptive one 0"),
        "{words}"
    );
    assert_eq!((desk.read("s/data.redb"), desk.read("s/filter")), before);
}
