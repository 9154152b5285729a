//! Bits per YES key at every ratio of the lists, without headers of files.
//!
//! Places are log₂ of the NO keys for each YES key. Panels: `rate`, where keys on neither list are answered
//! YES with at most the rate, and `bare`, where nothing is promised for them; `space` has both in one.
//! Of ours at the rate, `remainder bits`, `load`, and the exact `expected rate`.

use anyhow::Result;
use twiceshy::hash::Seed;
use twiceshy::lists::{Bloomier, BuildList, Cascade, IntegratedXor, StaticYesNo, YesNoList, plan};

use super::{keys, peers};
use crate::experiments::bench::Bench;

pub(super) fn run(bench: &mut Bench<'_>, total: u64, fpr: f64) -> Result<()> {
    (-8..=8).try_for_each(|log2| at(bench, total, log2, fpr))
}

fn at(bench: &mut Bench<'_>, total: u64, log2_ratio: i32, fpr: f64) -> Result<()> {
    let x = f64::from(log2_ratio);
    let ratio = x.exp2();
    let n = ((total as f64 / (1.0 + ratio)).round() as u64).max(1);
    let (yes, no) = keys(n, total - n);
    let seed = Seed::from_u64(1);
    let ours = |fpr| StaticYesNo::builder().fpr(fpr).seed(seed).build(&yes, &no);
    let cascade = |fpr| <Cascade>::build_seeded(&yes, &no, fpr, seed);
    let mut note = |panel: &str, list: &str, bits: f64| {
        let each = bits / n as f64;
        bench.note(panel, list, x, each);
        let promise = if panel == "rate" { "at rate" } else { "bare" };
        bench.note("space", &format!("{list}, {promise}"), x, each);
    };
    let bits = |bytes: u64| bytes as f64 * 8.0;
    let list = ours(fpr)?;
    note("rate", "yes/no list", bits(list.bytes()));
    note("rate", "bloom cascade", bits(cascade(fpr)?.bytes()));
    let ixor = <IntegratedXor>::build_seeded(&yes, &no, fpr, seed)?;
    note("rate", "integrated xor", bits(ixor.bytes()));
    let bloomier = <Bloomier>::build_seeded(&yes, &no, fpr, seed)?;
    note("rate", "bloomier", bits(bloomier.bytes()));
    note("rate", "lower bound", plan::lower_bound(n, total - n, fpr));
    note("bare", "yes/no list", bits(ours(1.0)?.bytes()));
    note("bare", "bloom cascade", bits(cascade(1.0)?.bytes()));
    // The other crates promise nothing for other keys.
    if let Some(bits) = peers::rust_cascade_bits(&yes, &no)? {
        note("bare", "rust_cascade", bits);
    }
    note("bare", "clubcard", peers::clubcard_bits(&yes, &no)?);

    let remainder_bits = f64::from(list.geometry().remainder_bits());
    bench.note("remainder bits", "yes/no list", x, remainder_bits);
    bench.note("load", "yes/no list", x, list.load());
    bench.note("expected rate", "yes/no list", x, list.expected_fpr());
    Ok(())
}
