//! How large a day's changes are.

use anyhow::{Result, ensure};
use twiceshy::hash::Seed;
use twiceshy::lists::{StaticYesNo, delta};

use super::{key, keys};

/// One entry in a thousand changes, in different ways.
pub(super) fn run(total: u64, fpr: f64) -> Result<()> {
    let changed = (total / 1_000) as usize;
    println!(
        "\nDeltas: {changed} of {total} entries change, at a rate of {fpr}; bits per changed entry, and\n\
         the whole delta beside the whole file, in bytes"
    );
    let new: Vec<u64> = (0..changed as u64).map(|i| key(i | 1 << 41)).collect();
    for (name, share) in [("all entries on the YES list", 1.0), ("half of them", 0.5)] {
        let n = (total as f64 * share) as u64;
        let (yes, no) = keys(n, total - n);
        let builder = StaticYesNo::builder().fpr(fpr).seed(Seed::from_u64(1));
        let old = builder.headroom(0.03).build(&yes, &no)?;
        let half = changed / 2;
        let days = [
            ("YES keys come", [&yes[..], &new].concat(), no.clone()),
            ("YES keys go", yes[changed..].to_vec(), no.clone()),
            (
                "half of each",
                [&yes[half..], &new[..half]].concat(),
                no.clone(),
            ),
            ("NO keys come", yes.clone(), [&no[..], &new].concat()),
        ];
        println!("  {name}");
        for (day, yes, no) in days {
            let (new, _) = old.build_like(&yes, &no, fpr)?;
            let (old, new) = (old.to_bytes(), new.to_bytes());
            let delta = delta::diff(&old, &new)?;
            ensure!(
                delta::apply(&old, delta.as_bytes())? == new,
                "a delta failed"
            );
            let bytes = delta.as_bytes().len();
            println!(
                "    {day:<16}{:>6.2}{bytes:>9} of {}",
                bytes as f64 * 8.0 / changed as f64,
                new.len()
            );
        }
    }
    Ok(())
}
