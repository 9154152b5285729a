//! Makes a list of the experiments' declarations, so that a new one is just a new file and the
//! program finds it wherever it is run.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let folder = Path::new("experiments");
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut files: Vec<PathBuf> = fs::read_dir(folder)?
        .map(|entry| Ok(entry?.path()))
        .collect::<io::Result<_>>()?;
    files.retain(|path| {
        path.extension()
            .is_some_and(|extension| extension == "toml")
    });
    files.sort();

    let mut list = String::from("&[\n");
    for path in files {
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let path = path.canonicalize()?;
        // Writing to a string can't fail.
        let _ = writeln!(list, "    ({name:?}, include_str!({path:?})),");
    }
    list.push_str("]\n");
    let out = env::var_os("OUT_DIR")
        .map(PathBuf::from)
        .unwrap_or_default();
    fs::write(out.join("experiments.rs"), list)
}
