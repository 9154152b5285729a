//! Build a filter in one go, keep it in a file, and ask the file where it lies.
//!
//! ```sh
//! cargo run --release -p twiceshy --example files
//! ```

use std::error::Error;
use std::fs::{self, File};

use twiceshy::any::peek;
use twiceshy::{AdaptiveFilter, Filter, View};

fn main() -> Result<(), Box<dyn Error>> {
    // A bulk load: the keys in any order, the table written from front to back.
    let names: Vec<String> = (0..200_000).map(|i| format!("user-{i}")).collect();
    let filter = AdaptiveFilter::builder().fpr(0.001).build_from(&names)?;
    println!("built   {}", filter.stats());

    let path = std::env::temp_dir().join(format!("twiceshy-example-{}.tws", std::process::id()));
    filter.write_to(File::create(&path)?)?;

    // Here the file is read into memory; a memory map of it would do as well.
    let bytes = fs::read(&path)?;
    fs::remove_file(&path)?;
    let info = peek(&bytes)?;
    println!(
        "wrote   {} bytes, version {}",
        info.file_bytes, info.version
    );

    // Verified: checksum and structure. Then it answers as the filter does, without a copy.
    let view = View::<AdaptiveFilter>::new(&bytes)?;
    let found = view.contains_batch(&names);
    println!(
        "found   {} of {}",
        found.iter().filter(|&&x| x).count(),
        names.len()
    );

    // Whatever happens to a file, the answer is an error, not a wrong filter.
    let mut damaged = bytes.clone();
    damaged[bytes.len() / 2] ^= 1;
    if let Err(error) = View::<AdaptiveFilter>::new(&damaged) {
        println!("refused {error}");
    }
    Ok(())
}
