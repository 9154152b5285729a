//! The package that would be published builds by itself and holds what it should.

use super::Outcome;
use crate::workspace::{LIBRARY, Workspace};
use crate::{Result, command};

/// Files that must be in the package.
const REQUIRED: [&str; 6] = [
    "Cargo.toml",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "README.md",
    "build.rs",
    "src/lib.rs",
];

/// Files that cargo adds on its own.
const FROM_CARGO: [&str; 3] = [".cargo_vcs_info.json", "Cargo.lock", "Cargo.toml.orig"];

pub(super) fn run(workspace: &Workspace) -> Result<Outcome> {
    command::run(&mut workspace.cargo(&format!("package -p {LIBRARY} --allow-dirty")))?;
    let mut list = workspace.cargo(&format!("package -p {LIBRARY} --allow-dirty --list"));
    command::announce(&list);
    let list = command::stdout(&mut list)?;
    let complaints = complaints(&list.lines().collect::<Vec<_>>());
    if !complaints.is_empty() {
        return Err(complaints.join("\n").into());
    }
    println!("{} files, none missing, none stray", list.lines().count());
    Ok(Outcome::Passed)
}

fn complaints(packaged: &[&str]) -> Vec<String> {
    let missing = REQUIRED.iter().filter(|file| !packaged.contains(file));
    let stray = packaged.iter().filter(|file| !belongs(file));
    missing
        .map(|file| format!("the package lacks `{file}`"))
        .chain(stray.map(|file| format!("the package has a stray file: `{file}`")))
        .collect()
}

/// Is this a file that readers or builders of the package need?
fn belongs(file: &str) -> bool {
    let source = |folder: &str| file.starts_with(folder) && file.ends_with(".rs");
    REQUIRED.contains(&file)
        || FROM_CARGO.contains(&file)
        || ["src/", "tests/", "benches/", "examples/"]
            .into_iter()
            .any(source)
        || file.starts_with("tests/golden/")
        || file.starts_with("examples/data/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_good_package_has_no_complaints() {
        let mut files = REQUIRED.to_vec();
        files.extend(FROM_CARGO);
        files.extend([
            "src/bits/select.rs",
            "tests/model.rs",
            "tests/golden/v1.bin",
            "examples/data/names.txt",
        ]);
        assert_eq!(complaints(&files), Vec::<String>::new());
    }

    #[test]
    fn missing_and_stray_files_are_named() {
        let mut files = REQUIRED.to_vec();
        files.retain(|file| *file != "LICENSE-MIT");
        files.extend(["notes.txt", "src/select.rs.orig"]);
        let complaints = complaints(&files);
        assert_eq!(complaints.len(), 3, "{complaints:?}");
        assert!(complaints[0].contains("lacks `LICENSE-MIT`"));
        assert!(complaints[1].contains("`notes.txt`"));
        assert!(complaints[2].contains("`src/select.rs.orig`"));
    }
}
