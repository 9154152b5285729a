//! `twiceshy list`, from a shell.

mod support;

use std::fs;

use support::{Desk, golden, json, lines};

fn keys(range: std::ops::Range<u64>) -> String {
    lines(range, |i| format!("key {i}"))
}

fn lists() -> Desk {
    let desk = Desk::new();
    desk.write("yes", keys(0..1000))
        .write("no", keys(1000..5000));
    desk
}

fn is_exact(desk: &Desk, list: &str, yes: &str, no: &str) {
    let answers = desk.ok(&format!("list query {list} --input {yes}"));
    assert!(
        answers.lines().all(|line| line.ends_with("\tyes")),
        "{list}"
    );
    let answers = desk.ok(&format!("list query {list} --input {no}"));
    assert!(answers.lines().all(|line| line.ends_with("\tno")), "{list}");
}

#[test]
fn lists_of_every_kind_and_hash_are_exact() {
    let desk = lists();
    for kind in ["static", "cascade", "bloomier", "xor"] {
        for hash in ["sip13", "xxh3"] {
            let build = format!("list build --kind {kind} --hash {hash} --fpr 0.01");
            let built = desk.ok(&format!("{build} --yes yes --no no --out l"));
            assert!(
                built.contains("yes for 1,000 keys, no for 4,000 keys"),
                "{built}"
            );
            is_exact(&desk, "l", "yes", "no");
            let info = json(&desk.ok("list info l --json"));
            assert_eq!((&info["yes"], &info["no"]), (&1000.into(), &4000.into()));
            assert_eq!(info["bytes"], desk.read("l").len());
            assert!(desk.ok("list info l").contains("1,000 keys"));
        }
    }
}

#[test]
fn one_key_decides_the_exit_code() {
    let desk = Desk::new();
    desk.write("yes", "phish\n").write("no", "bank\n");
    desk.ok("list build --yes yes --no no --out l");
    assert_eq!(desk.ok("list query l phish"), "phish\tyes\n");
    let said = desk.run("list query l bank");
    assert_eq!((said.code, said.text().as_str()), (Some(1), "bank\tno\n"));
    assert_eq!(
        desk.feed_ok("list query l", "bank\nphish\n"),
        "bank\tno\nphish\tyes\n"
    );
    let line = json(&desk.ok("list query l phish --json"));
    assert_eq!(line, json(r#"{"key":"phish","answer":"yes"}"#));
}

#[test]
fn updates_make_versions_and_deltas_ship_them() {
    let desk = lists();
    desk.ok("list build --yes yes --no no --out l");
    fs::copy(desk.path("l"), desk.path("theirs")).unwrap();
    desk.write("more-yes", keys(9000..9010))
        .write("gone", keys(0..5));
    // One that moves, one that is new.
    desk.write("more-no", "key 7\nkey 9999\n");
    let update = "list update l --add-yes more-yes --add-no more-no --remove gone --delta d";
    let said = desk.ok(update);
    assert!(
        said.starts_with("added 11 keys, moved 1, removed 5: "),
        "{said}"
    );
    assert!(
        said.contains("yes for 1,004 keys, no for 4,002 keys"),
        "{said}"
    );
    assert!(desk.read("d").len() < 120, "{}", desk.read("d").len());
    desk.write("yes2", keys(5..7) + &keys(8..1000) + &keys(9000..9010));
    desk.write("no2", keys(1000..5000) + "key 7\nkey 9999\n");
    is_exact(&desk, "l", "yes2", "no2");

    // The delta makes the very same file elsewhere, in place.
    desk.ok("list apply theirs d --out theirs");
    assert_eq!(desk.read("theirs"), desk.read("l"));
    let error = desk.fails("list apply theirs d --out theirs");
    assert!(error.contains("another version"), "{error}");

    // And again, from where it is now.
    let report = json(&desk.ok("list update l --remove more-yes --json"));
    assert_eq!(
        (&report["removed"], &report["yes"]),
        (&10.into(), &994.into())
    );
    assert_eq!(report["same_size"], true);
    let report = json(&desk.ok("list diff theirs l --out d --json"));
    assert_eq!(
        (&report["dropped"], &report["added"]),
        (&10.into(), &0.into())
    );
    desk.ok("list apply theirs d --out theirs");
    assert_eq!(desk.read("theirs"), desk.read("l"));
}

#[test]
fn like_makes_small_deltas_and_the_rest_names_it() {
    let desk = lists();
    desk.ok("list build --yes yes --no no --out v1");
    desk.write("yes2", keys(3..1003));
    desk.write("no2", keys(1003..5000));
    desk.ok("list build --yes yes2 --no no2 --out v2");
    let error = desk.fails("list diff v1 v2 --out d");
    assert!(
        error.contains("list build --like v1") && error.contains("--whole"),
        "{error}"
    );
    assert!(!desk.path("d").exists());
    assert!(desk.ok("list diff v1 v2 --out d --whole").contains("whole"));
    desk.ok("list apply v1 d --out v3");
    assert_eq!(desk.read("v2"), desk.read("v3"));

    desk.ok("list build --yes yes2 --no no2 --like v1 --out v2");
    desk.ok("list diff v1 v2 --out d");
    assert!(desk.read("d").len() < 200);
    // One that does not fit says so.
    desk.write("many", keys(0..3000))
        .write("few", keys(3000..5000));
    let said = desk.run("list build --yes many --no few --like v1 --out v3");
    assert_eq!(said.code, Some(0));
    assert!(said.err.contains("no room"), "{}", said.err);

    // Seeds make files repeatable.
    desk.ok("list build --yes yes --no no --seed 3 --out a");
    desk.ok("list build --yes yes --no no --seed 3 --out b");
    assert_eq!(desk.read("a"), desk.read("b"));
    assert_ne!(desk.read("a"), desk.read("v1"));
}

#[test]
fn what_an_update_needs_it_asks_for() {
    let desk = lists();
    desk.ok("list build --yes yes --no no --no-keys --out l");
    assert!(!desk.path("l.keys").exists());
    desk.write("more", "x\n");
    assert!(
        desk.fails("list update l --add-yes more")
            .contains("list build")
    );
    assert!(desk.fails("list update l").contains("--add-yes"));

    desk.ok("list build --yes yes --no no --out l");
    desk.write("both", "x\n");
    let error = desk.fails("list update l --add-yes more --add-no both");
    assert!(error.contains("`x`"), "{error}");
    // The list was replaced behind the back of its keys.
    desk.ok("list build --yes yes --no no --no-keys --out other");
    fs::copy(desk.path("other"), desk.path("l")).unwrap();
    let error = desk.fails("list update l --add-yes more");
    assert!(error.contains("another version of the list"), "{error}");
    desk.write("l.keys", "nonsense");
    assert!(
        desk.fails("list update l --add-yes more")
            .contains("no file of keys")
    );

    desk.ok("list build --kind xor --yes yes --no no --out x");
    assert!(
        desk.fails("list update x --add-yes more")
            .contains("--kind static")
    );
    let error = desk.fails("list build --kind xor --yes yes --no no --like l --out x");
    assert!(error.contains("only static"), "{error}");
}

/// Keys that were lost would be members that are answered wrongly from then on.
#[test]
fn keys_that_are_not_all_there_change_nothing() {
    let desk = lists();
    desk.ok("list build --yes yes --no no --out l");
    let (list, keys) = (desk.read("l"), desk.read("l.keys"));
    let half = keys.len() / 2;
    let line = half + keys[half..].iter().position(|&b| b == b'\n').unwrap() + 1;
    for end in [half, line] {
        desk.write("l.keys", &keys[..end]);
        let error = desk.feed_fails("list update l --add-yes - --delta d", "x\n");
        assert!(
            error.contains("l.keys is damaged") && error.contains("list build"),
            "{error}"
        );
        assert_eq!(desk.read("l"), list);
        assert!(!desk.path("d").exists());
    }
    desk.write("l.keys", keys);
    desk.feed_ok("list update l --add-yes -", "x\n");
    is_exact(&desk, "l", "yes", "no");
}

#[test]
fn a_key_on_both_lists_is_named() {
    let desk = Desk::new();
    desk.write("yes", "a\nb\n").write("no", "c\nb\n");
    for kind in ["static", "cascade", "bloomier", "xor"] {
        let error = desk.fails(&format!(
            "list build --kind {kind} --yes yes --no no --out l"
        ));
        assert!(
            error.contains("`b` is a YES key and a NO key"),
            "{kind}: {error}"
        );
        assert!(!desk.path("l").exists());
    }
    assert!(
        desk.fails("list build --yes - --no - --out l")
            .contains("two inputs")
    );
}

#[test]
fn empty_lists_and_binary_keys() {
    let desk = Desk::new();
    desk.write("none", "").write("hex", "00ff0a\n");
    for kind in ["static", "cascade", "bloomier", "xor"] {
        desk.ok(&format!(
            "list build --kind {kind} --yes none --no none --out l"
        ));
        desk.ok("list info l");
        desk.ok(&format!(
            "list build --kind {kind} --yes hex --no none --format hex --out l"
        ));
        assert_eq!(desk.ok("list query l AP8K --format base64"), "AP8K\tyes\n");
    }
    desk.ok("list build --yes hex --no none --format hex --out l");
    desk.ok("list update l --remove hex --format hex");
    assert_eq!(desk.run("list query l 00ff0a --format hex").code, Some(1));
}

#[test]
fn golden_files() {
    let desk = Desk::new();
    let mut seen = 0;
    for entry in fs::read_dir(golden()).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        fs::copy(entry.path(), desk.path(&name)).unwrap();
        if !name.contains("list") {
            assert!(desk.fails(&format!("list info {name}")).contains(&name));
        } else if !name.contains("delta") {
            assert!(desk.ok(&format!("list info {name}")).contains("kind"));
            desk.feed_ok(&format!("list query {name}"), "a\nb\n");
            seen += 1;
        }
    }
    assert!(seen >= 6, "{seen}");
    desk.ok("list apply v2-list-static.bin v2-list-delta.bin --out next");
    assert_eq!(desk.read("next"), desk.read("v2-list-static-next.bin"));
    assert!(
        desk.fails("list info v2-list-delta.bin")
            .contains("list apply")
    );
}

#[test]
fn bad_paths_and_files_say_what_to_do() {
    let desk = lists();
    desk.write("text", "no list\n");
    assert!(desk.fails("list query nope a").contains("list build"));
    assert!(desk.fails("list query text a").contains("check the path"));
    assert!(
        desk.fails("list build --yes nope --no no --out l")
            .contains("can't open nope")
    );
    desk.ok("filter build --input yes --out f");
    assert!(desk.fails("list query f a").contains("twiceshy filter"));
    desk.ok("list build --yes yes --no no --out l");
    assert!(desk.fails("filter query l a").contains("twiceshy list"));
    assert!(desk.fails("list diff l text --out d").contains("text"));
    assert!(desk.fails("list apply l text --out x").contains("text"));
    let good = desk.read("l");
    for byte in [9, 30, 100, 125, 140, good.len() - 1] {
        let mut bad = good.clone();
        bad[byte] ^= 4;
        desk.write("bad", bad);
        assert!(
            desk.fails("list query bad a").contains("bad is"),
            "byte {byte}"
        );
    }
}

/// What has no end is not read to it, and what is behind the end of a file is not overlooked.
#[cfg(unix)]
#[test]
fn files_have_the_length_that_they_say() {
    let desk = lists();
    desk.ok("list build --yes yes --no no --out l");
    desk.ok("filter build --input yes --out f");
    let nothing = desk.run("list diff l l --out d");
    assert_eq!(nothing.code, Some(0), "{nothing:?}");
    std::os::unix::fs::symlink("/dev/zero", desk.path("zero")).unwrap();
    for line in [
        "diff zero l --out x",
        "diff l zero --out x",
        "apply zero d --out x",
        "apply l zero --out x",
        "update zero --add-yes yes",
        "build --yes yes --no no --like zero --out x",
    ] {
        let error = desk.fails(&format!("list {line}"));
        assert!(error.contains("zero is no regular file"), "{line}: {error}");
    }
    assert!(desk.fails("list info zero").contains("zero is no"));
    // Larger than any memory, if somebody read it.
    let sparse = fs::File::create(desk.path("sparse")).unwrap();
    sparse.set_len(1 << 43).unwrap();
    for line in [
        "diff l sparse --out x",
        "apply l sparse --out x",
        "update sparse --add-yes yes",
    ] {
        let error = desk.fails(&format!("list {line}"));
        assert!(error.contains("sparse is no"), "{line}: {error}");
    }
    fs::copy(desk.path("l"), desk.path("m")).unwrap();
    fs::copy(desk.path("l.keys"), desk.path("m.keys")).unwrap();
    fs::remove_file(desk.path("l.keys")).unwrap();
    std::os::unix::fs::symlink("/dev/zero", desk.path("l.keys")).unwrap();
    assert!(
        desk.fails("list update l --add-yes yes")
            .contains("l.keys is no regular file")
    );

    for (file, lines) in [
        (
            "m",
            &[
                "list info m",
                "list diff m l --out x",
                "list update m --add-yes yes",
            ][..],
        ),
        (
            "f",
            &["filter info f", "filter verify f", "filter query f a"],
        ),
    ] {
        desk.write(file, [&desk.read(file)[..], b"more"].concat());
        for line in lines {
            let error = desk.fails(line);
            assert!(
                error.contains(&format!("{file} is damaged")),
                "{line}: {error}"
            );
        }
    }
    assert!(!desk.path("x").exists());
}

#[test]
fn a_list_can_go_down_a_pipe() {
    let desk = lists();
    let said = desk.run("list build --yes yes --no no --seed 1 --out -");
    assert_eq!(said.code, Some(0));
    assert!(said.err.contains("1,000 keys"), "{}", said.err);
    desk.ok("list build --yes yes --no no --seed 1 --out l");
    assert_eq!(said.out, desk.read("l"));
    assert!(!desk.path("-.keys").exists());
}

/// The file of keys is what `docs/format.md` shows.
#[test]
fn the_keys_beside_a_list_are_as_documented() {
    let document = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/format.md");
    let document = fs::read_to_string(document).unwrap();
    let (_, vector) = document.split_once("```vector list_keys\n").unwrap();
    let (vector, _) = vector.split_once("```").unwrap();

    let desk = Desk::new();
    desk.write("yes", "phish\nads\n").write("no", "bank\n");
    desk.ok("list build --yes yes --no no --seed 3 --fpr 0.01 --out l");
    let keys = String::from_utf8(desk.read("l.keys")).unwrap();
    assert_eq!(vector, keys, "docs/format.md shows other keys");
}
