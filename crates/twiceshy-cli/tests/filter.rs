//! `twiceshy filter`, from a shell.

mod support;

use std::fs;

use support::{Desk, golden, json, lines};

const KINDS: [&str; 12] = [
    "plain",
    "counting",
    "adaptive",
    "telescoping",
    "plain-telescoping",
    "extension",
    "cuckoo",
    "vacuum",
    "adaptive-cuckoo",
    "bloom",
    "blocked-bloom",
    "retouched-bloom",
];

fn keys(range: std::ops::Range<u64>) -> String {
    lines(range, |i| format!("key {i}"))
}

#[test]
fn filters_of_every_kind_and_hash_know_their_keys() {
    let desk = Desk::new();
    desk.write("keys", keys(0..2000))
        .write("others", keys(2000..12_000));
    for kind in KINDS {
        for hash in ["sip13", "xxh3"] {
            let built = desk.ok(&format!(
                "filter build --kind {kind} --hash {hash} --fpr 0.01 --input keys --out f"
            ));
            assert!(
                built.starts_with("wrote f: ") && built.contains("2,000 keys"),
                "{built}"
            );
            let verified = desk.ok("filter verify f --input keys");
            assert!(verified.contains("it knows 2,000 keys"), "{verified}");
            let answers = desk.ok("filter query f --input keys");
            assert!(
                answers.lines().all(|line| line.ends_with("\tmaybe")),
                "{kind}"
            );
            assert_eq!(answers.lines().count(), 2000);
            let answers = desk.ok("filter query f --input others");
            let wrong = answers
                .lines()
                .filter(|line| line.ends_with("\tmaybe"))
                .count();
            assert!(wrong < 200, "{kind}, {hash}: {wrong} of 10,000");
            let info = json(&desk.ok("filter info f --json"));
            assert_eq!(info["items"], 2000, "{info}");
            assert_eq!(
                info["hash"],
                if hash == "xxh3" {
                    "XXH3"
                } else {
                    "SipHash-1-3"
                }
            );
            assert_eq!(info["bytes"], desk.read("f").len());
            assert!(desk.ok("filter info f").contains("2,000"));
        }
    }
}

#[test]
fn one_key_decides_the_exit_code() {
    let desk = Desk::new();
    desk.write("keys", keys(0..10));
    desk.ok("filter build --fpr 0.0001 --seed 1 --input keys --out f");
    let ask = |key: &str| {
        let mut command = desk.command("filter query f");
        command.arg(key);
        support::feed(command, b"")
    };
    let said = ask("key 3");
    assert_eq!(
        (said.code, said.text().as_str()),
        (Some(0), "key 3\tmaybe\n")
    );
    let said = ask("stranger");
    assert_eq!(
        (said.code, said.text().as_str()),
        (Some(1), "stranger\tno\n")
    );
    assert_eq!(
        desk.feed_ok("filter query f", "stranger\n"),
        "stranger\tno\n"
    );
    let line = json(&desk.feed_ok("filter query f --json", "stranger"));
    assert_eq!(line, json(r#"{"key":"stranger","answer":"no"}"#));
}

#[test]
fn a_stream_is_as_good_as_a_file() {
    let desk = Desk::new();
    desk.write("keys", keys(0..3000));
    let build = "filter build --kind adaptive --fpr 0.001 --seed 7";
    desk.ok(&format!("{build} --input keys --out file"));
    desk.feed_ok(&format!("{build} --out spooled"), keys(0..3000));
    desk.feed_ok(
        &format!("{build} --input - --capacity 3000 --out counted"),
        keys(0..3000),
    );
    assert_eq!(desk.read("file"), desk.read("spooled"));
    assert_eq!(desk.read("file"), desk.read("counted"));
    // To standard output, and from there.
    let said = desk.feed(&format!("{build} --input keys --out -"), "");
    assert_eq!((said.code, &said.out), (Some(0), &desk.read("file")));
    assert!(said.err.contains("3,000 keys"), "{}", said.err);
    let report = json(&desk.ok(&format!("{build} --input keys --out file --json")));
    assert_eq!(
        (&report["keys"], &report["items"]),
        (&3000.into(), &3000.into())
    );
}

/// More hashes than wait in memory: the rest goes through a temporary file.
#[test]
fn many_keys_wait_on_disk_until_they_are_counted() {
    let desk = Desk::new();
    let count = 2_200_000;
    desk.write("keys", keys(0..count));
    let build = "filter build --kind plain --fpr 0.01 --seed 7 --input keys";
    let built = desk.ok(&format!("{build} --out spooled"));
    assert!(built.contains("plain filter of 2,200,000 keys"), "{built}");
    desk.ok(&format!("{build} --capacity {count} --out counted"));
    assert!(desk.read("spooled") == desk.read("counted"));

    let mut command = desk.command(&format!("{build} --out nowhere"));
    command.env("TMPDIR", desk.path("no/such/folder"));
    let said = support::feed(command, b"");
    assert_eq!(said.code, Some(2), "{said:?}");
    assert!(
        said.err.contains("make room") && said.err.contains("--capacity"),
        "{}",
        said.err
    );
    assert!(!desk.path("nowhere").exists());
}

/// Whatever was written says the same about itself.
#[test]
fn all_commands_report_a_file_in_one_way() {
    let desk = Desk::new();
    desk.write("keys", keys(0..1000));
    let commands = [
        "filter build --seed 1 --input keys --out f",
        "filter merge f --out g",
        "filter convert f --double 1 --out h",
    ];
    let figures = |command: &str| {
        let report = json(&desk.ok(&format!("{command} --json")));
        let out = report["out"].as_str().unwrap().to_owned();
        let info = json(&desk.ok(&format!("filter info {out} --json")));
        for (name, value) in info.as_object().unwrap() {
            assert_eq!(&report[name], value, "{command}: {name}");
        }
        report
    };
    assert_eq!(figures(commands[0])["keys"], 1000);
    assert_eq!(figures(commands[1])["merged"], 1);
    assert_eq!(figures(commands[2])["kind"], "plain");
    for command in commands {
        // What goes to standard output is the file alone.
        let said = desk.run(&command[..command.len() - 1].replace("--out ", "--out - "));
        assert!(
            said.err.starts_with("wrote -: plain filter of 1,000 "),
            "{said:?}"
        );
    }
}

/// Far apart, where no table of recent keys sees that they are the same.
#[test]
fn an_adaptive_cuckoo_filter_leaves_out_every_copy() {
    let desk = Desk::new();
    desk.write("twice", keys(0..200_000).repeat(2));
    desk.ok("filter build --kind adaptive-cuckoo --seed 1 --input twice --out f");
    assert_eq!(json(&desk.ok("filter info f --json"))["items"], 200_000);
}

#[test]
fn a_capacity_that_is_too_small_grows_or_says_so() {
    let desk = Desk::new();
    desk.write("keys", keys(0..3000));
    let said = desk.run("filter build --kind plain --capacity 500 --input keys --out f");
    assert_eq!(said.code, Some(0));
    assert!(
        said.err.contains("more keys than the `--capacity`"),
        "{}",
        said.err
    );
    desk.ok("filter verify f --input keys");
    let error = desk.fails("filter build --kind cuckoo --capacity 500 --input keys --out g");
    assert!(error.contains("--capacity"), "{error}");
    assert!(!desk.path("g").exists());
}

#[test]
fn copies_of_a_key_are_one_member_and_many_counts() {
    let desk = Desk::new();
    desk.write("log", "anna\n".repeat(50_000) + &"otto\n".repeat(50_000));
    for kind in KINDS {
        desk.ok(&format!("filter build --kind {kind} --input log --out f"));
        let info = json(&desk.ok("filter info f --json"));
        let items = if kind == "counting" { 100_000 } else { 2 };
        assert_eq!(info["items"], items, "{kind}");
        assert!(desk.read("f").len() < 1500, "{kind}");
    }
}

#[test]
fn empty_input_is_an_empty_filter() {
    let desk = Desk::new();
    for kind in KINDS {
        desk.feed_ok(&format!("filter build --kind {kind} --out f"), "");
        assert_eq!(desk.run("filter query f anna").code, Some(1), "{kind}");
        assert_eq!(desk.feed_ok("filter query f", ""), "");
        assert!(desk.ok("filter verify f").contains("0 items"));
    }
}

#[test]
fn binary_keys() {
    let desk = Desk::new();
    desk.feed_ok("filter build --format hex --out f", "0a00ff\n\n");
    assert_eq!(
        desk.ok("filter query f 0A00FF --format hex"),
        "0A00FF\tmaybe\n"
    );
    assert_eq!(
        desk.ok("filter query f CgD/ --format base64"),
        "CgD/\tmaybe\n"
    );
    desk.feed_ok(
        "filter build --format u64 --out n",
        lines(0..1000, |i| i.to_string()),
    );
    let answers = desk.feed_ok(
        "filter query n --format u64",
        lines(0..1000, |i| i.to_string()),
    );
    assert_eq!(answers.matches("maybe").count(), 1000);
    // The same keys as the library's numbers.
    let filter = twiceshy::QuotientFilter::from_bytes(&desk.read("n"));
    let filter: twiceshy::QuotientFilter = filter.unwrap();
    assert!((0..1000_u64).all(|i| filter.contains(&i)));
    let error = desk.feed_fails("filter build --format u64 --out n", "1\n2\n3x\n");
    assert!(
        error.contains("line 3 of standard input") && error.contains("`3x`"),
        "{error}"
    );
}

#[test]
fn the_same_seed_makes_the_same_file_and_no_seed_another() {
    let desk = Desk::new();
    desk.write("keys", keys(0..100));
    for (i, seed) in ["--seed 5", "--seed 5", "", ""].iter().enumerate() {
        desk.ok(&format!("filter build {seed} --input keys --out f{i}"));
    }
    assert_eq!(desk.read("f0"), desk.read("f1"));
    assert_ne!(desk.read("f2"), desk.read("f3"));
}

#[test]
fn merging_takes_the_likes() {
    let desk = Desk::new();
    desk.write("a", keys(0..1000))
        .write("b", keys(1000..2000))
        .write("all", keys(0..2000));
    for kind in KINDS {
        desk.ok(&format!("filter build --kind {kind} --input a --out a.f"));
        desk.ok(&format!(
            "filter build --kind {kind} --fpr 0.01 --like a.f --input b --out b.f"
        ));
        let can = ["plain", "counting", "adaptive", "bloom", "blocked-bloom"].contains(&kind);
        if can {
            let merged = desk.ok("filter merge a.f b.f --out all.f");
            assert!(merged.contains("2,000 items"), "{kind}: {merged}");
            desk.ok("filter verify all.f --input all");
        } else {
            let error = desk.fails("filter merge a.f b.f --out none.f");
            assert!(error.contains("keys"), "{kind}: {error}");
            assert!(!desk.path("none.f").exists());
        }
    }
    // Another seed, another size, another kind: the error says how to do it right.
    desk.ok("filter build --input a --out a.f");
    desk.ok("filter build --input b --out b.f");
    let error = desk.fails("filter merge a.f b.f --out c.f");
    assert!(
        error.contains("--like a.f") && error.contains("b.f has another seed"),
        "{error}"
    );
    desk.ok("filter build --kind bloom --input b --out b.f");
    let error = desk.fails("filter merge a.f b.f --out c.f");
    assert!(
        error.contains("--like a.f") && error.contains("b.f is Bloom"),
        "{error}"
    );
    let error = desk.fails("filter build --kind cuckoo --like a.f --input b --out b.f");
    assert!(error.contains("plain filter"), "{error}");
    let error = desk.run("filter build --like a.f --seed 1 --input b --out b.f");
    assert_eq!(error.code, Some(2));
}

#[test]
fn conversions() {
    let desk = Desk::new();
    desk.write("keys", keys(0..1000));
    desk.ok("filter build --kind counting --input keys --out c");
    for to in [
        "plain",
        "adaptive",
        "telescoping",
        "plain-telescoping",
        "extension",
    ] {
        let said = desk.ok(&format!("filter convert c --kind {to} --out x"));
        assert!(said.starts_with("wrote x: "), "{said}");
        desk.ok("filter verify x --input keys");
    }
    desk.ok("filter convert c --kind plain --double 2 --out x");
    desk.ok("filter verify x --input keys");
    desk.ok("filter convert x --halve 2 --out y");
    desk.ok("filter convert c --kind plain --out z");
    assert_eq!(desk.read("y"), desk.read("z"));
    desk.ok("filter build --kind bloom --input keys --out b");
    desk.ok("filter convert b --kind retouched-bloom --out x");
    desk.ok("filter verify x --input keys");

    let error = desk.fails("filter convert b --kind plain --out x");
    assert!(error.contains("filter build"), "{error}");
    let error = desk.fails("filter convert b --double 1 --out x");
    assert!(error.contains("keys"), "{error}");
    let error = desk.fails("filter convert c --double 60 --out x");
    assert!(error.contains("remainders"), "{error}");
    assert!(desk.fails("filter convert c --out x").contains("--double"));
}

/// Every file that the library has ever written opens, and no damaged one does.
#[test]
fn golden_files() {
    let desk = Desk::new();
    let mut seen = (0, 0);
    for entry in fs::read_dir(golden()).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        fs::copy(entry.path(), desk.path(&name)).unwrap();
        if name.contains("list") {
            let error = desk.fails(&format!("filter info {name}"));
            assert!(
                error.contains("twiceshy list") || name.contains("delta"),
                "{error}"
            );
        } else if name.contains("damaged") {
            let error = desk.fails(&format!("filter verify {name}"));
            assert!(error.contains(&name), "{error}");
            let error = desk.feed_fails(&format!("filter query {name}"), "a\n");
            assert!(
                error.contains("build it again") || error.contains("older"),
                "{error}"
            );
            seen.0 += 1;
        } else {
            assert!(
                desk.ok(&format!("filter verify {name}"))
                    .starts_with("sound: ")
            );
            assert!(desk.ok(&format!("filter info {name}")).contains("kind"));
            desk.feed_ok(&format!("filter query {name}"), "a\nb\n");
            seen.1 += 1;
        }
    }
    assert!(seen.0 >= 13 && seen.1 >= 17, "{seen:?}");
}

#[test]
fn bad_paths_and_files_say_what_to_do() {
    let desk = Desk::new();
    desk.write("text", "no filter\n")
        .write("nothing", "")
        .write("keys", keys(0..9));
    assert!(desk.fails("filter query nope a").contains("filter build"));
    assert!(desk.fails("filter query text a").contains("check the path"));
    assert!(desk.fails("filter info nothing").contains("check the path"));
    assert!(desk.fails("filter info .").contains("can't read ."));
    assert!(
        desk.fails("filter build --input nope --out f")
            .contains("can't open nope")
    );
    assert!(
        desk.fails("filter build --input keys --out no/such/f")
            .contains("can't write")
    );
    assert_eq!(
        desk.run("filter build --fpr 0 --input keys --out f").code,
        Some(2)
    );
    assert_eq!(desk.run("filter build --input keys").code, Some(2));

    // A bit turned over anywhere is noticed.
    desk.ok("filter build --input keys --out f");
    let good = desk.read("f");
    for byte in [9, 30, 100, 125, 140, good.len() - 1] {
        let mut bad = good.clone();
        bad[byte] ^= 4;
        desk.write("bad", bad);
        assert!(
            desk.fails("filter verify bad").contains("bad is"),
            "byte {byte}"
        );
    }
    desk.write("short", &good[..good.len() - 1]);
    assert!(desk.fails("filter info short").contains("short is damaged"));

    // It is sound, but not of these keys.
    desk.write("others", keys(100..200));
    let error = desk.fails("filter verify f --input others");
    assert!(error.contains("says \"no\" for"), "{error}");
}

#[test]
fn popular_keys_get_more_hashes() {
    let desk = Desk::new();
    desk.write("top", keys(0..200))
        .write("rest", keys(200..2000));
    let build = "filter build --kind weighted-bloom --fpr 0.01 --seed 1 --input rest";
    for hash in ["sip13", "xxh3"] {
        let built = desk.ok(&format!("{build} --hash {hash} --popular top --out w"));
        assert!(
            built.contains("weighted Bloom filter of 2,000 keys"),
            "{built}"
        );
        desk.ok("filter verify w --input top");
        desk.ok("filter verify w --input rest");
        let popular = desk.ok("filter query w --popular --input top");
        assert!(popular.lines().all(|line| line.ends_with("\tmaybe")));
        // For strangers of the popular sort it is wrong less often.
        desk.write("strangers", keys(2000..22_000));
        let wrong = |option: &str| {
            let answers = desk.ok(&format!("filter query w {option} --input strangers"));
            answers
                .lines()
                .filter(|line| line.ends_with("\tmaybe"))
                .count()
        };
        assert!(wrong("--popular") * 4 < wrong(""), "{hash}");
    }
    // And for those of the other sort as seldom as was asked for.
    let report = json(&desk.ok(&format!("{build} --popular top --out w --json")));
    let expected = report["expected_fpr"].as_f64().unwrap();
    assert!((0.002..0.0105).contains(&expected), "{expected}");
    let answers = desk.ok("filter query w --input strangers");
    let wrong = answers
        .lines()
        .filter(|line| line.ends_with("\tmaybe"))
        .count();
    // 1% of 20,000, and six standard deviations.
    assert!(wrong < 285, "{wrong}");
    desk.write("none", "");
    desk.ok("filter build --kind weighted-bloom --input rest --popular none --out w");
    desk.ok("filter verify w --input rest");
    assert!(
        desk.fails(&format!("{build} --out w"))
            .contains("--popular FILE")
    );
    assert!(
        desk.fails("filter build --input rest --popular top --out f")
            .contains("weighted-bloom")
    );
    desk.ok("filter build --input rest --out f");
    assert!(
        desk.fails("filter query f --popular a")
            .contains("--popular")
    );
}

#[test]
fn no_input_is_overwritten_or_read_twice() {
    let desk = Desk::new();
    desk.write("kk", keys(0..9)).write("top", keys(9..12));
    let weighted = "filter build --kind weighted-bloom";
    for (line, name) in [
        ("filter build --input kk --out kk", "kk"),
        ("filter build --input ./kk --out kk", "kk"),
        (
            &format!("{weighted} --input kk --popular top --out top"),
            "top",
        ),
        ("list build --yes kk --no top --out top", "top"),
        ("list build --yes kk --no l.keys --out l", "l.keys"),
    ] {
        desk.write("l.keys", keys(20..22)).write("l", "");
        let before = desk.read(name);
        let error = desk.fails(line);
        assert!(error.contains("overwritten"), "{line}: {error}");
        assert_eq!(desk.read(name), before, "{line}");
    }
    desk.ok("list build --yes kk --no top --out l");
    desk.ok("list build --yes kk --no top --out m");
    for line in [
        "list update l --add-yes l",
        "list update l --add-yes kk --delta l",
        "list update l --add-yes kk --delta l.keys",
        "list update l --add-yes kk --delta kk",
        "list diff l m --out m",
    ] {
        assert!(desk.fails(line).contains("overwritten"), "{line}");
    }
    for line in [
        format!("{weighted} --popular - --out f"),
        "list update l --remove - --add-yes -".into(),
        "list build --yes - --no - --out l".into(),
    ] {
        let error = desk.feed_fails(&line, "anna\n");
        assert!(error.contains("two inputs"), "{line}: {error}");
    }
    // In place is well where it is meant.
    desk.ok("filter build --input kk --out f");
    desk.ok("filter convert f --double 1 --out f");
}

#[cfg(unix)]
#[test]
fn a_link_stays_a_link() {
    let desk = Desk::new();
    desk.write("target", "old");
    std::os::unix::fs::symlink("target", desk.path("link")).unwrap();
    desk.feed_ok("filter build --out link", "anna\n");
    assert!(desk.path("link").is_symlink());
    assert_eq!(desk.ok("filter query target anna"), "anna\tmaybe\n");
}
