//! How large a day's changes are, if one entry in a thousand changes. Places are the ways in which they do;
//! series say how many of the entries are on the YES list. Panels: `delta`, in bits per changed entry, and
//! `delta share`, of the whole file.

use anyhow::{Result, ensure};
use twiceshy::hash::Seed;
use twiceshy::lists::{StaticYesNo, delta};

use super::{key, keys};
use crate::experiments::bench::Bench;

pub(super) fn run(bench: &mut Bench<'_>, total: u64, fpr: f64) -> Result<()> {
    let changed = (total / 1_000) as usize;
    let new: Vec<u64> = (0..changed as u64).map(|i| key(i | 1 << 41)).collect();
    for (name, share) in [("all on the YES list", 1.0), ("half of them", 0.5)] {
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
        for (day, yes, no) in days {
            let (new, _) = old.build_like(&yes, &no, fpr)?;
            let (old, new) = (old.to_bytes(), new.to_bytes());
            let delta = delta::diff(&old, &new)?;
            ensure!(
                delta::apply(&old, delta.as_bytes())? == new,
                "a delta failed"
            );
            let bytes = delta.as_bytes().len() as f64;
            bench.note("delta", name, day, bytes * 8.0 / changed as f64);
            bench.note("delta share", name, day, bytes / new.len() as f64);
        }
    }
    Ok(())
}
