//! The program as a process: signals, kills, pipes that break, disks that are full.
#![allow(clippy::unwrap_used, reason = "a failure in a helper is a failed test")]
#![cfg(unix)]

mod support;

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use support::{Desk, lines, start};

fn signal(child: &Child, name: &str) {
    let pid = child.id().to_string();
    let killed = Command::new("kill").args([name, &pid]).status().unwrap();
    assert!(killed.success());
}

/// Feeds records for as long as somebody takes them, and says so when nobody does any more.
fn feed_forever(child: &mut Child) -> std::thread::JoinHandle<()> {
    let mut stdin = child.stdin.take().unwrap();
    std::thread::spawn(move || {
        for i in 0_u64.. {
            if writeln!(stdin, "key {i}\tvalue {i}").is_err() {
                return;
            }
        }
    })
}

/// Starts an endless `put`, and ends it with a signal after some acknowledgements. Gives how many
/// records were acknowledged, and what was said on standard error.
fn interrupted_put(desk: &Desk, name: &str, after: usize) -> (u64, String, Option<i32>) {
    let mut child = start(desk.command("store put s --batch 25 --ack"));
    let feeder = feed_forever(&mut child);
    let mut acks = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut acknowledged = 0;
    for _ in 0..after {
        acknowledged = acks.next().unwrap().unwrap().parse().unwrap();
    }
    signal(&child, name);
    // What was printed before it took effect is a promise as well.
    for ack in acks {
        acknowledged = ack.unwrap().parse().unwrap();
    }
    let mut err = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut err)
        .unwrap();
    let status = child.wait().unwrap();
    feeder.join().unwrap();
    (acknowledged, err, status.signal())
}

/// Everything that was acknowledged is there, and the store is sound.
fn check(desk: &Desk, acknowledged: u64) {
    let keys = lines(0..acknowledged, |i| format!("key {i}"));
    let expected = lines(0..acknowledged, |i| format!("key {i}\tfound\tvalue {i}"));
    assert!(desk.feed_ok("store get s", keys) == expected);
    desk.ok("store verify s");
}

#[test]
fn ctrl_c_ends_a_put_well() {
    let desk = Desk::new();
    desk.ok("store create s");
    for (name, number) in [("-INT", 2), ("-TERM", 15)] {
        let (acknowledged, err, signal) = interrupted_put(&desk, name, 4);
        assert!(acknowledged >= 100 && acknowledged % 25 == 0);
        // The shell must know that it was a signal.
        assert_eq!(signal, Some(number), "{err}");
        assert!(err.contains("interrupted"), "{err}");
        assert!(err.contains("records of this run are durable"), "{err}");
        check(&desk, acknowledged);
    }
}

/// While it waits for input that does not come.
#[test]
fn ctrl_c_ends_a_put_that_waits() {
    let desk = Desk::new();
    desk.ok("store create s");
    let mut child = start(desk.command("store put s --batch 1 --ack"));
    let mut stdin = child.stdin.take().unwrap();
    writeln!(stdin, "anna\t1").unwrap();
    let mut acks = BufReader::new(child.stdout.take().unwrap()).lines();
    assert_eq!(acks.next().unwrap().unwrap(), "1");
    signal(&child, "-INT");
    assert_eq!(child.wait().unwrap().signal(), Some(2));
    assert_eq!(desk.ok("store get s anna"), "anna\tfound\t1\n");
}

#[test]
fn a_kill_loses_nothing_that_was_acknowledged() {
    for engine in ["redb", "fjall", "lmdb"] {
        let desk = Desk::new();
        desk.ok(&format!("store create s --engine {engine}"));
        for round in 1..=3 {
            let (acknowledged, _, signal) = interrupted_put(&desk, "-KILL", round * 2);
            assert_eq!(signal, Some(9));
            check(&desk, acknowledged);
        }
    }
}

/// `twiceshy … | head -1`
#[test]
fn a_reader_that_goes_away_is_no_error() {
    let desk = Desk::new();
    desk.ok("store create s");
    let records = lines(0..20_000, |i| format!("key {i}\tvalue {i}"));
    desk.feed_ok("store put s --batch 20000", records);
    desk.write("keys", lines(0..100_000, |i| format!("key {i}")));
    desk.ok("filter build --input keys --out f");
    for line in [
        "store scan s",
        "store scan s --json",
        "store get s --input keys",
        "filter query f --input keys",
        "filter build --input keys --out -",
        "man",
        "completions bash",
    ] {
        let mut child = start(desk.command(line));
        let mut first = [0];
        let mut out = child.stdout.take().unwrap();
        out.read_exact(&mut first).unwrap();
        drop(out);
        let output = child.wait_with_output().unwrap();
        let mut err = String::from_utf8(output.stderr).unwrap();
        if line.contains("--out -") {
            err.clear(); // what was built
        }
        assert_eq!(
            (output.status.code(), err.as_str()),
            (Some(0), ""),
            "{line}"
        );
    }
}

/// Records would be left out without a word.
#[test]
fn acknowledgements_that_nobody_reads_are_an_error() {
    let desk = Desk::new();
    desk.ok("store create s");
    let mut child = start(desk.command("store put s --batch 1 --ack"));
    drop(child.stdout.take());
    let feeder = feed_forever(&mut child);
    let output = child.wait_with_output().unwrap();
    feeder.join().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let err = String::from_utf8(output.stderr).unwrap();
    assert!(
        err.contains("nobody reads") && err.contains("durable"),
        "{err}"
    );
}

/// Records would be left without a word.
#[test]
fn deletions_of_which_nobody_hears_are_an_error() {
    let desk = Desk::new();
    desk.ok("store create s");
    desk.feed_ok("store put s", lines(0..10, |i| format!("{i}\t{i}")));
    let mut child = start(desk.command("store delete s"));
    let mut stdin = child.stdin.take().unwrap();
    let mut answers = BufReader::new(child.stdout.take().unwrap()).lines();
    writeln!(stdin, "0").unwrap();
    assert_eq!(answers.next().unwrap().unwrap(), "0\tdeleted");
    drop(answers);
    writeln!(stdin, "1").unwrap();
    let output = child.wait_with_output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{err}");
    assert!(
        err.contains("nobody reads") && err.contains("2 records"),
        "{err}"
    );
    drop(stdin);
    assert!(desk.ok("store verify s").contains("8 records"));
}

/// Whoever asks one question at a time gets each answer before the next.
#[test]
fn a_partner_in_conversation() {
    let desk = Desk::new();
    desk.feed_ok("filter build --fpr 0.0001 --seed 1 --out f", "anna\n");
    let mut child = start(desk.command("filter query f"));
    let mut stdin = child.stdin.take().unwrap();
    let mut answers = BufReader::new(child.stdout.take().unwrap()).lines();
    for (key, answer) in [("anna", "maybe"), ("stranger", "no")] {
        writeln!(stdin, "{key}").unwrap();
        assert_eq!(answers.next().unwrap().unwrap(), format!("{key}\t{answer}"));
    }
    drop(stdin);
    assert!(child.wait().unwrap().success());
}

/// Longer than a second: a bar for those who watch, and none for others.
#[test]
fn progress_is_for_terminals() {
    let desk = Desk::new();
    desk.feed_ok("filter build --out f", "anna\n");
    let mut child = start(desk.command("filter query f"));
    let mut stdin = child.stdin.take().unwrap();
    for _ in 0..3 {
        writeln!(stdin, "anna").unwrap();
        std::thread::sleep(std::time::Duration::from_millis(600));
    }
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");

    // `script` gives it a terminal to write to. On a busy machine things take longer.
    let program = env!("CARGO_BIN_EXE_twiceshy");
    let watch = |option: &str, seconds: u32| {
        let keys = format!("(echo anna; sleep {seconds}; echo anna; sleep 1; echo anna)");
        let line = format!("{keys} | {program} filter query f {option} > answers");
        let mut script = Command::new("script");
        script.args(["-qec", &line, "/dev/null"]);
        script.current_dir(desk.path(".")).stdin(Stdio::null());
        let seen = script.output().ok()?.stdout;
        assert_eq!(desk.read("answers"), b"anna\tmaybe\n".repeat(3));
        Some(String::from_utf8_lossy(&seen).contains("answering"))
    };
    let Some(quiet) = watch("--quiet", 2) else {
        eprintln!("skipped: there is no `script` here");
        return;
    };
    assert!(!quiet);
    assert!(
        [2, 5, 20]
            .iter()
            .any(|&seconds| watch("", seconds) == Some(true))
    );
}

#[test]
fn a_full_device_is_an_error() {
    if !Path::new("/dev/full").exists() {
        eprintln!("skipped: there is no /dev/full here");
        return;
    }
    let desk = Desk::new();
    desk.ok("store create s");
    desk.feed_ok("store put s", "anna\t1\n");
    desk.feed_ok("filter build --out f", "anna\n");
    for line in [
        "store get s anna",
        "store scan s",
        "filter query f anna",
        "filter info f --json",
        "man",
    ] {
        let mut command = desk.command(line);
        command.stdin(Stdio::null()).stderr(Stdio::piped());
        command.stdout(File::options().write(true).open("/dev/full").unwrap());
        let output = command.spawn().unwrap().wait_with_output().unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{line}: {err}");
        assert!(
            err.contains("can't write to standard output"),
            "{line}: {err}"
        );
    }
    let error = desk.feed_fails("filter build --out /dev/full", "anna\n");
    assert!(error.contains("can't write /dev/full"), "{error}");
    assert!(Path::new("/dev/full").exists());
}

/// A file system of a few megabytes, if we may make one.
struct SmallDisk<'d> {
    path: &'d Path,
}

impl<'d> SmallDisk<'d> {
    fn new(path: &'d Path) -> Option<Self> {
        std::fs::create_dir(path).unwrap();
        let mut mount = Command::new("mount");
        mount
            .args(["-t", "tmpfs", "-o", "size=4m", "tmpfs"])
            .arg(path);
        let mounted = mount.stderr(Stdio::null()).status();
        mounted
            .is_ok_and(|status| status.success())
            .then_some(SmallDisk { path })
    }

    fn grow(&self) {
        let mut mount = Command::new("mount");
        mount.args(["-o", "remount,size=200m"]).arg(self.path);
        assert!(mount.status().unwrap().success());
    }
}

impl Drop for SmallDisk<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.path).status();
    }
}

#[test]
fn a_full_disk_loses_nothing_that_was_acknowledged() {
    let desk = Desk::new();
    let path = desk.path("small");
    let Some(disk) = SmallDisk::new(&path) else {
        eprintln!("skipped: this user may not mount a small file system");
        return;
    };
    desk.ok("store create small/s --capacity 1000");
    let mut child = start(desk.command("store put small/s --batch 100 --ack"));
    let feeder = feed_forever(&mut child);
    let output = child.wait_with_output().unwrap();
    feeder.join().unwrap();
    let (out, err) = (output.stdout, String::from_utf8(output.stderr).unwrap());
    assert_eq!(output.status.code(), Some(2), "{err}");
    assert!(
        err.contains("space") && err.contains("of this run are durable"),
        "{err}"
    );
    let out = String::from_utf8(out).unwrap();
    let acknowledged: u64 = out.lines().last().unwrap().parse().unwrap();
    assert!(acknowledged >= 100);

    // A filter that does not fit leaves no half file, and the old one where it was.
    desk.write("keys", lines(0..10, |i| i.to_string()));
    let fill = desk.run("filter build --capacity 100000000 --input keys --out small/f");
    assert_eq!(fill.code, Some(2), "{fill:?}");
    assert!(fill.err.contains("make room"), "{}", fill.err);
    assert!(!path.join("f").exists());

    disk.grow();
    let keys = lines(0..acknowledged, |i| format!("key {i}"));
    let expected = lines(0..acknowledged, |i| format!("key {i}\tfound\tvalue {i}"));
    assert!(desk.feed_ok("store get small/s", keys) == expected);
    desk.ok("store verify small/s");
}

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

fn names(folder: &Path) -> Vec<String> {
    let names = std::fs::read_dir(folder).unwrap();
    names
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect()
}

/// As if it had been there for an hour.
fn make_old(path: &Path) {
    let hour = std::time::Duration::from_secs(3600);
    let then = std::time::SystemTime::now() - hour;
    File::open(path).unwrap().set_modified(then).unwrap();
}

/// What is in a store is for its owner, also while it is attacked.
#[test]
fn the_copy_under_attack_is_private_and_goes_away() {
    let desk = Desk::new();
    desk.ok("store create s");
    desk.feed_ok("store put s", "anna\t1\n");
    let work = desk.path("work");
    std::fs::create_dir(&work).unwrap();
    let attack = "store attack s --work work --probes 4000000000";
    for (name, number) in [("-INT", 2), ("-TERM", 15), ("-KILL", 9)] {
        let mut child = start(desk.command(attack));
        while names(&work).is_empty() || !work.join(&names(&work)[0]).join("store").exists() {
            assert!(child.try_wait().unwrap().is_none(), "it ended");
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        assert_eq!(mode(&work.join(&names(&work)[0])), 0o700);
        signal(&child, name);
        assert_eq!(child.wait().unwrap().signal(), Some(number));
        assert_eq!(names(&work).len(), usize::from(name == "-KILL"), "{name}");
    }
    // The next one takes along what was left, when it is old enough to be nobody's.
    make_old(&work.join(&names(&work)[0]));
    desk.ok("store attack s --work work --probes 10 --replays 10");
    assert_eq!(names(&work).len(), 0);
}

#[test]
fn files_are_replaced_with_their_modes_and_through_links() {
    let desk = Desk::new();
    desk.write("yes", "anna\n").write("no", "otto\n");
    desk.write("any", "");
    let usual = mode(&desk.path("any"));
    desk.ok("filter build --input yes --out f");
    desk.ok("list build --yes yes --no no --out l");
    assert_eq!(mode(&desk.path("f")), usual, "a new file is as any other");
    for wanted in [0o600, 0o640, 0o444] {
        let paths = ["f", "l", "l.keys"].map(|name| desk.path(name));
        for path in &paths {
            std::fs::set_permissions(path, PermissionsExt::from_mode(wanted)).unwrap();
        }
        desk.ok("filter build --input yes --out f");
        // It may say that so small a list had no room.
        let said = desk.feed("list update l --add-yes -", format!("{wanted}\n"));
        assert_eq!(said.code, Some(0), "{said:?}");
        assert_eq!(paths.map(|path| mode(&path)), [wanted; 3]);
    }

    std::os::unix::fs::symlink("later", desk.path("link")).unwrap();
    desk.ok("filter build --input yes --out link");
    assert!(desk.path("link").is_symlink(), "it still leads there");
    assert_eq!(desk.ok("filter query later anna"), "anna\tmaybe\n");
}

#[test]
fn parts_that_nobody_writes_any_more_go_away() {
    let desk = Desk::new();
    std::fs::create_dir(desk.path("out")).unwrap();
    let parts = ["left", "held", "young"].map(|name| format!("out/.twiceshy-{name}.part"));
    for part in &parts {
        desk.write(part, "half a filter");
    }
    // What others have called like ours.
    std::fs::create_dir(desk.path("out/.twiceshy-backups.part")).unwrap();
    for other in [".twiceshy-history", ".twiceshy-backups.part/in-use"] {
        let other = format!("out/{other}");
        desk.write(&other, "not ours");
        make_old(&desk.path(&other));
    }
    make_old(&desk.path("out/.twiceshy-backups.part"));
    make_old(&desk.path(&parts[0]));
    make_old(&desk.path(&parts[1]));
    let held = File::open(desk.path(&parts[1])).unwrap();
    held.lock().unwrap();
    desk.feed_ok("filter build --out out/f", "anna\n");
    let mut left = names(&desk.path("out"));
    left.sort();
    let expected = [
        ".twiceshy-backups.part",
        ".twiceshy-held.part",
        ".twiceshy-history",
        ".twiceshy-young.part",
        "f",
    ];
    assert_eq!(left, expected);
}
