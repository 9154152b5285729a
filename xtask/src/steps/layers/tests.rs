//! The step on small crates of its own, and with a violation planted in the true one.

use std::fs;
use std::path::Path;

use toml::Value;

use super::Rules;
use super::scan::Crate;

/// A crate of these files, read.
fn scan(files: &[(&str, &str)]) -> Crate {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let file = folder.path().join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    Crate::read(&folder.path().join("lib.rs")).unwrap()
}

/// What a crate's modules name, as `from -> to`.
fn names(files: &[(&str, &str)]) -> Vec<String> {
    let found = scan(files);
    let line = |m: &super::Mention| format!("{} -> {}", m.from.join("::"), m.to.join("::"));
    let mut names: Vec<_> = found.mentions.iter().map(line).collect();
    names.sort();
    names
}

fn check(layers: &[&str], allowed: &[&str], files: &[(&str, &str)]) -> Vec<String> {
    let list = |lines: &[&str]| Value::Array(lines.iter().map(|&line| line.into()).collect());
    let table = [("layers", list(layers)), ("allowed", list(allowed))];
    let table = Value::Table(
        table
            .map(|(key, list)| (key.into(), list))
            .into_iter()
            .collect(),
    );
    Rules::new("house", &table).unwrap().check(&scan(files))
}

const ROOT: (&str, &str) = ("lib.rs", "mod roof; mod wall; mod floor;");

#[test]
fn paths_are_resolved() {
    let files = [
        (
            "lib.rs",
            "mod a; mod b; mod c; pub use b::{Thing, inner as renamed};",
        ),
        (
            "a/mod.rs",
            "mod deep; use super::b::{One, inner::{self, *}, Two as Three}; mod x { use super::super::c; }",
        ),
        (
            "a/deep.rs",
            "use crate::{c, b::D}; fn f() { super::super::c::g::<crate::Thing>(); self.x(); }",
        ),
        (
            "b.rs",
            "use crate::renamed::Q; macro_rules! m { () => { $crate::c::h() } }",
        ),
        ("c.rs", "pub(crate) fn g() {} pub(super) fn h() {}"),
    ];
    let expected = [
        "a -> b::One",
        "a -> b::Two",
        "a -> b::inner",
        "a -> b::inner",
        "a::deep -> b::D",
        "a::deep -> b::Thing",
        "a::deep -> c",
        "a::deep -> c::g",
        "a::x -> c",
        "b -> b::inner::Q",
        "b -> c::h",
    ];
    assert_eq!(names(&files), expected);
}

#[test]
fn text_and_tests_name_nothing() {
    let files = [
        ROOT,
        ("roof.rs", ""),
        ("wall.rs", ""),
        (
            "floor.rs",
            r##"
            //! See crate::roof.
            /// And [`crate::wall::Brick`].
            // use crate::roof;
            /* super::roof /* crate::wall */ */
            const TEXT: &str = "crate::roof";
            const RAW: &str = r#"" super::roof "#;
            const CHAR: (char, char) = ('"', 'c');
            #[cfg(test)]
            use crate::roof::Tile;
            #[cfg(all(test, unix))]
            fn only_here() { super::wall::f(); }
            #[cfg(test)]
            #[path = "x.rs"]
            mod tests;
            #[cfg(test)]
            mod more { use crate::roof; }
            #[cfg(not(test))]
            use crate::wall;
            "##,
        ),
    ];
    assert_eq!(names(&files), ["floor -> wall"]);
}

#[test]
fn names_below_are_fine() {
    let files = [
        ROOT,
        ("roof.rs", "use crate::wall::Brick; use super::floor;"),
        ("wall.rs", "use crate::floor::Board;"),
        ("floor.rs", ""),
    ];
    assert!(check(&["roof", "wall floor"], &[], &files).is_empty());
}

#[test]
fn a_name_that_goes_up_is_a_fault() {
    let files = [
        ROOT,
        ("roof.rs", ""),
        ("wall.rs", "\nfn f() { crate::roof::tiles() }"),
        ("floor.rs", ""),
    ];
    let layers = ["roof", "wall floor"];
    let faults = check(&layers, &[], &files);
    assert_eq!(faults.len(), 1, "{faults:?}");
    assert!(
        faults[0].contains("wall.rs:2: house's wall names roof, above it"),
        "{faults:?}"
    );
    // An exception for it is taken, and one that nothing needs is not.
    assert!(check(&layers, &["wall -> roof"], &files).is_empty());
    let faults = check(&layers, &["wall -> roof", "floor -> roof"], &files);
    assert_eq!(
        faults,
        ["house: nothing needs the exception `floor -> roof`"]
    );
}

#[test]
fn a_circle_is_a_fault() {
    let files = [
        ("lib.rs", "mod roof; mod wall; mod floor; mod door;"),
        ("roof.rs", "use crate::wall;"),
        ("wall.rs", "use crate::floor;"),
        ("floor.rs", "use crate::roof; use crate::door;"),
        ("door.rs", ""),
    ];
    let faults = check(&["roof wall floor door"], &[], &files);
    assert_eq!(faults.len(), 1, "{faults:?}");
    for step in ["floor -> roof (", "roof -> wall (", "wall -> floor ("] {
        assert!(faults[0].contains(step), "{faults:?}");
    }
    assert!(!faults[0].contains("door"), "{faults:?}");
}

#[test]
fn parts_have_layers_of_their_own_but_the_root_has_no_circle() {
    let files = [
        ("lib.rs", "mod house; mod wall;"),
        ("house/mod.rs", "mod cellar; mod roof;"),
        ("house/cellar.rs", ""),
        ("house/roof.rs", "use crate::wall;"),
        ("wall.rs", "use crate::house::cellar;"),
    ];
    let faults = check(&["house", "wall", "house::cellar"], &[], &files);
    assert_eq!(faults.len(), 1, "{faults:?}");
    assert!(faults[0].contains("circle"), "{faults:?}");
    let faults = check(&["house::cellar", "wall", "house"], &[], &files);
    assert!(
        faults
            .iter()
            .any(|fault| fault.contains("wall names house::cellar")),
        "{faults:?}"
    );
}

#[test]
fn every_module_is_listed_and_every_listed_one_is_there() {
    let files = [
        ROOT,
        ("roof.rs", ""),
        ("wall.rs", ""),
        ("floor.rs", "use super::Helper;"),
    ];
    let expected = [
        "house: no layer lists the module floor",
        "house: there is no module door, which a layer lists",
    ];
    let faults = check(&["roof", "door wall"], &[], &files);
    assert_eq!(faults[..2], expected);
    assert!(
        faults[2].ends_with("floor.rs:1: `crate::Helper` is the root's own"),
        "{faults:?}"
    );
}

/// The layers of the library are those that the step checks, and a name that goes up in its own
/// sources is found.
#[test]
fn a_planted_violation_is_found() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let text = fs::read_to_string(root.join(super::FILE)).unwrap();
    let table: toml::Table = text.parse().unwrap();
    let rules = Rules::new("twiceshy", &table["twiceshy"]).unwrap();
    let mut found = Crate::read(&root.join("crates/twiceshy/src/lib.rs")).unwrap();
    assert_eq!(rules.check(&found), [""; 0]);
    let mut planted = found.mentions[0].clone();
    planted.from = vec!["bits".into()];
    planted.to = vec!["filters".into(), "plain".into()];
    found.mentions.push(planted);
    let faults = rules.check(&found);
    assert_eq!(faults.len(), 1, "{faults:?}");
    assert!(
        faults[0].ends_with("twiceshy's bits names filters, above it"),
        "{faults:?}"
    );
}
