//! Bits per YES key at every ratio of the lists.

use std::fmt::{self, Display};

use anyhow::Result;
use serde::Serialize;
use twiceshy::hash::Seed;
use twiceshy::lists::{Bloomier, BuildList, Cascade, IntegratedXor, StaticYesNo, YesNoList, plan};

use super::{keys, peers};

/// The lists at one ratio. Sizes are bits per YES key, without headers of files.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Row {
    /// log2 of NO keys for each YES key.
    pub(crate) log2_ratio: i32,
    pub(crate) yes: u64,
    pub(crate) no: u64,
    /// Ours, at the rate.
    pub(crate) ours: f64,
    pub(crate) remainder_bits: u32,
    pub(crate) load: f64,
    /// The exact rate of this list.
    pub(crate) fpr: f64,
    /// Ours, without a promise for other keys.
    pub(crate) ours_bare: f64,
    /// Our Bloom cascade, at the rate and without.
    pub(crate) cascade: f64,
    pub(crate) cascade_bare: f64,
    pub(crate) bloomier: f64,
    pub(crate) integrated_xor: f64,
    /// The other crates promise nothing for other keys.
    pub(crate) rust_cascade: Option<f64>,
    pub(crate) clubcard: f64,
    /// Theorem 7, at the rate.
    pub(crate) lower_bound: f64,
}

pub(crate) fn measure(total: u64, fpr: f64) -> Result<Vec<Row>> {
    (-8..=8).map(|log2| row(total, log2, fpr)).collect()
}

fn row(total: u64, log2_ratio: i32, fpr: f64) -> Result<Row> {
    let ratio = f64::from(log2_ratio).exp2();
    let n = ((total as f64 / (1.0 + ratio)).round() as u64).max(1);
    let (yes, no) = keys(n, total - n);
    let seed = Seed::from_u64(1);
    let each = |bits: f64| bits / n as f64;
    let bits = |list: &dyn Fn() -> Result<u64, twiceshy::Error>| -> Result<f64> {
        Ok(each(list()? as f64 * 8.0))
    };
    let ours = StaticYesNo::builder()
        .fpr(fpr)
        .seed(seed)
        .build(&yes, &no)?;
    let bare = StaticYesNo::builder()
        .fpr(1.0)
        .seed(seed)
        .build(&yes, &no)?;
    let cascade = |fpr| {
        move |yes: &[u64], no: &[u64]| -> Result<u64, twiceshy::Error> {
            Ok(<Cascade>::build_seeded(yes, no, fpr, seed)?.bytes())
        }
    };
    Ok(Row {
        log2_ratio,
        yes: n,
        no: total - n,
        ours: each(ours.bytes() as f64 * 8.0),
        remainder_bits: ours.geometry().remainder_bits(),
        load: ours.load(),
        fpr: ours.expected_fpr(),
        ours_bare: each(bare.bytes() as f64 * 8.0),
        cascade: bits(&|| cascade(fpr)(&yes, &no))?,
        cascade_bare: bits(&|| cascade(1.0)(&yes, &no))?,
        bloomier: bits(&|| Ok(<Bloomier>::build_seeded(&yes, &no, fpr, seed)?.bytes()))?,
        integrated_xor: bits(&|| Ok(<IntegratedXor>::build_seeded(&yes, &no, fpr, seed)?.bytes()))?,
        rust_cascade: peers::rust_cascade_bits(&yes, &no)?.map(each),
        clubcard: each(peers::clubcard_bits(&yes, &no)?),
        lower_bound: each(plan::lower_bound(n, total - n, fpr)),
    })
}

/// The rows on the screen.
pub(crate) struct Table<'r> {
    pub(crate) rows: &'r [Row],
    pub(crate) fpr: f64,
}

impl Display for Table<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "Bits per YES key, {} keys on both lists together. \"at rate\": at most {} of the keys on\n\
             neither list are answered YES; \"bare\": nothing is promised for them. \"vs\": ours by the\n\
             Bloom cascade with the same promise. Headers of files are not counted.\n",
            self.rows.first().map_or(0, |row| row.yes + row.no),
            self.fpr,
        )?;
        writeln!(
            f,
            "         ------------------ at rate ------------------------  ------------ bare ---------------------\n\
             {:>7}{:>8}{:>3}{:>7}{:>9}{:>7}{:>10}{:>8}{:>8}{:>9}{:>9}{:>7}{:>9}{:>9}",
            "no/yes",
            "ours",
            "r",
            "load",
            "cascade",
            "vs",
            "bloomier",
            "ixor",
            "bound",
            "ours",
            "cascade",
            "vs",
            "rust_c.",
            "clubcard"
        )?;
        for row in self.rows {
            writeln!(
                f,
                "{:>7}{:>8.2}{:>3}{:>6.1}%{:>9.2}{:>7.3}{:>10.2}{:>8.2}{:>8.2}{:>9.2}{:>9.2}{:>7.3}{:>9}{:>9.2}",
                format!("2^{}", row.log2_ratio),
                row.ours,
                row.remainder_bits,
                row.load * 100.0,
                row.cascade,
                row.ours / row.cascade,
                row.bloomier,
                row.integrated_xor,
                row.lower_bound,
                row.ours_bare,
                row.cascade_bare,
                row.ours_bare / row.cascade_bare,
                row.rust_cascade
                    .map_or("-".to_owned(), |bits| format!("{bits:.2}")),
                row.clubcard,
            )?;
        }
        Ok(())
    }
}
