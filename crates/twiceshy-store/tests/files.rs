//! Files keep their promises: those in a directory, and those that lose their power.

// Helpers of tests are tests, which clippy does not know.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use tempfile::tempdir;
use twiceshy_store::files::{Directory, Files, NoFiles};
use twiceshy_store_testing::{Cut, LossyFiles, Survivors};
use twiceshy_testing::Source;

#[test]
fn a_directory_has_files() {
    let place = tempdir().unwrap();
    let files = Directory::new(place.path().join("made/on/the/way")).unwrap();
    assert_eq!(files.read("a").unwrap(), None);
    files.remove("a").unwrap();
    files.replace("a", b"one").unwrap();
    assert_eq!(files.read("a").unwrap().unwrap(), b"one");
    files.replace("a", b"").unwrap();
    assert_eq!(files.read("a").unwrap().unwrap(), b"");
    files.append("a", b"two").unwrap();
    files.append("a", b"three").unwrap();
    files.append("b", b"four").unwrap();
    assert_eq!(files.read("a").unwrap().unwrap(), b"twothree");
    // Another process finds the same.
    let again = Directory::new(place.path().join("made/on/the/way")).unwrap();
    assert_eq!(again.read("b").unwrap().unwrap(), b"four");
    files.remove("a").unwrap();
    assert_eq!(again.read("a").unwrap(), None);
}

#[test]
fn what_an_interrupted_replace_left_is_ignored() {
    let place = tempdir().unwrap();
    let files = Directory::new(place.path()).unwrap();
    files.replace("filter", b"old").unwrap();
    // As a process leaves it that ends before the rename: longer than what comes next.
    fs::write(place.path().join("filter.new"), [7; 1000]).unwrap();
    assert_eq!(files.read("filter").unwrap().unwrap(), b"old");
    files.replace("filter", b"new").unwrap();
    assert_eq!(files.read("filter").unwrap().unwrap(), b"new");
    assert!(!place.path().join("filter.new").exists());
}

#[test]
fn errors_are_not_absence() {
    let place = tempdir().unwrap();
    let files = Directory::new(place.path()).unwrap();
    fs::create_dir(place.path().join("a")).unwrap();
    assert!(files.read("a").is_err());
    assert!(files.replace("a", b"x").is_err());
    assert!(files.append("a", b"x").is_err());
    assert!(files.remove("a").is_err());
    fs::write(place.path().join("file"), "").unwrap();
    assert!(Directory::new(place.path().join("file")).is_err());
}

#[test]
fn readers_see_the_old_or_the_new() {
    let place = tempdir().unwrap();
    let files = &Directory::new(place.path()).unwrap();
    files.replace("a", &vec![0; 100_000]).unwrap();
    let done = &AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(move || {
            while !done.load(Ordering::Relaxed) {
                let contents = files.read("a").unwrap().unwrap();
                let number = usize::from(contents[0]);
                assert_eq!(contents.len(), 100_000 + number);
                assert!(contents.iter().all(|&byte| usize::from(byte) == number));
            }
        });
        for number in 1..50_u8 {
            let contents = vec![number; 100_000 + usize::from(number)];
            files.replace("a", &contents).unwrap();
        }
        done.store(true, Ordering::Relaxed);
    });
}

#[test]
fn no_files_are_never_there() {
    NoFiles.replace("a", b"x").unwrap();
    NoFiles.append("a", b"x").unwrap();
    NoFiles.remove("a").unwrap();
    assert_eq!(NoFiles.read("a").unwrap(), None);
}

const NAMES: [&str; 3] = ["a", "b", "c"];

#[derive(Clone, Debug)]
enum Step {
    Replace(&'static str, Vec<u8>),
    Append(&'static str, Vec<u8>),
    Remove(&'static str),
}

fn script(seed: u64, count: usize) -> Vec<Step> {
    let mut source = Source::from_seed(seed);
    let step = |number: usize| {
        let name = source.pick(&NAMES).unwrap();
        let len = source.pick(&[0, 1, 50, 2_000]).unwrap();
        // Never zero, which is what torn bytes become.
        let bytes = vec![number as u8 % 255 + 1; len];
        match source.below(6).unwrap() {
            0 => Step::Remove(name),
            1 | 2 => Step::Replace(name, bytes),
            _ => Step::Append(name, bytes),
        }
    };
    (0..count).map(step).collect()
}

fn play(files: &impl Files, step: &Step) -> io::Result<()> {
    match step {
        Step::Replace(name, bytes) => files.replace(name, bytes),
        Step::Append(name, bytes) => files.append(name, bytes),
        Step::Remove(name) => files.remove(name),
    }
}

fn contents(files: &impl Files) -> BTreeMap<&'static str, Vec<u8>> {
    let read = |name| files.read(name).unwrap().map(|contents| (name, contents));
    NAMES.into_iter().filter_map(read).collect()
}

#[test]
fn lossy_files_are_like_those_of_a_directory() {
    let place = tempdir().unwrap();
    let directory = Directory::new(place.path()).unwrap();
    let lossy = LossyFiles::new(Cut::new());
    for step in script(1, 100) {
        play(&directory, &step).unwrap();
        play(&lossy, &step).unwrap();
        assert_eq!(contents(&lossy), contents(&directory));
        assert_eq!(contents(&lossy.restart(Survivors::All)), contents(&lossy));
    }
}

/// What may be under one name after the power failed: one of several files, of each of which
/// so many bytes are safe, and of the others any may be missing or zero.
#[derive(Clone, Debug, Default)]
struct Possible {
    /// `None` is no file at all.
    files: Vec<Option<(Vec<u8>, usize)>>,
}

impl Possible {
    fn now(&mut self) -> &mut Option<(Vec<u8>, usize)> {
        self.files.last_mut().expect("there is always one")
    }

    fn allows(&self, found: Option<&Vec<u8>>) -> bool {
        self.files.iter().any(|file| match (file, found) {
            (None, None) => true,
            (Some((bytes, safe)), Some(found)) => {
                let torn = |(i, byte): (usize, &u8)| *byte == bytes[i] || i >= *safe && *byte == 0;
                (*safe..=bytes.len()).contains(&found.len()) && found.iter().enumerate().all(torn)
            }
            _ => false,
        })
    }
}

/// Plays a script up to the first failure.
fn play_until_cut(files: &LossyFiles, script: &[Step]) -> BTreeMap<&'static str, Possible> {
    let none = Possible { files: vec![None] };
    let mut possible: BTreeMap<_, _> = NAMES.map(|name| (name, none.clone())).into();
    for step in script {
        let result = play(files, step);
        let (Step::Replace(name, _) | Step::Append(name, _) | Step::Remove(name)) = step;
        let of_name = possible.get_mut(name).unwrap();
        match step {
            Step::Replace(_, bytes) => {
                of_name.files.push(Some((bytes.clone(), bytes.len())));
                if result.is_ok() {
                    // All names are safe now, each as it is at this moment.
                    for other in possible.values_mut() {
                        let now = other.now().clone();
                        other.files = vec![now];
                    }
                }
            }
            Step::Append(_, bytes) => {
                if of_name.now().is_none() {
                    of_name.files.push(Some((Vec::new(), 0)));
                }
                let (all, _) = of_name.now().as_mut().unwrap();
                all.extend_from_slice(bytes);
            }
            Step::Remove(_) => of_name.files.push(None),
        }
        if result.is_err() {
            break;
        }
    }
    possible
}

#[test]
fn files_survive_every_cut_as_promised() {
    let cut = Cut::new();
    for seed in 0..10 {
        let script = script(seed, 30);
        cut.never();
        play_until_cut(&LossyFiles::new(cut.clone()), &script);
        for k in 0..=cut.operations() {
            let files = LossyFiles::new(cut.clone());
            cut.from(k);
            let possible = play_until_cut(&files, &script);
            cut.never();
            let some = |n| Survivors::Some { seed: k * 8 + n };
            for survivors in [Survivors::None, Survivors::All, some(0), some(1), some(2)] {
                let found = contents(&files.restart(survivors));
                for (name, possible) in &possible {
                    let found = found.get(name);
                    let what = format!("seed {seed}, cut {k}, {survivors:?}, {name}");
                    assert!(possible.allows(found), "{what}: {found:?} of {possible:?}");
                }
            }
        }
    }
}

/// One failure, as on a full disk; the process goes on.
#[test]
fn a_failed_replace_leaves_the_old_or_the_new() {
    for k in 0..4 {
        let cut = Cut::new();
        let files = LossyFiles::new(cut.clone());
        files.replace("a", b"old").unwrap();
        cut.at(k);
        assert!(files.replace("a", b"newer").is_err());
        let expected: &[u8] = if k < 3 { b"old" } else { b"newer" };
        assert_eq!(files.read("a").unwrap().unwrap(), expected);
        files.replace("a", b"newest").unwrap();
        let left = files.restart(Survivors::None);
        assert_eq!(left.read("a").unwrap().unwrap(), b"newest");
    }
}

#[test]
fn the_worst_does_happen() {
    let cut = Cut::new();
    let files = LossyFiles::new(cut.clone());
    files.replace("a", b"base").unwrap();
    files.append("a", &[1; 100]).unwrap();
    files.append("b", b"never synced").unwrap();
    let none = files.restart(Survivors::None);
    assert_eq!(none.read("a").unwrap().unwrap(), b"base");
    assert_eq!(none.read("b").unwrap(), None);

    let (mut short, mut zeros) = (0, 0);
    for seed in 0..100 {
        let left = files.restart(Survivors::Some { seed });
        assert_eq!(
            contents(&left),
            contents(&files.restart(Survivors::Some { seed }))
        );
        let a = left.read("a").unwrap().unwrap();
        short += usize::from(a.len() < 104);
        zeros += usize::from(a.contains(&0));
    }
    assert!(
        short > 50 && zeros > 20,
        "{short} short, {zeros} with zeros"
    );

    // A removal that was not synced is undone; the next replace, of any name, makes it safe.
    files.remove("a").unwrap();
    assert!(files.restart(Survivors::None).read("a").unwrap().is_some());
    files.replace("c", b"").unwrap();
    assert!(files.restart(Survivors::None).read("a").unwrap().is_none());
}
