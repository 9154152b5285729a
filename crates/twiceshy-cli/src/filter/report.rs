//! What there is to say about a filter's file.

use std::path::Path;

use indicatif::HumanBytes;
use serde::Serialize;
use twiceshy::any::AnyFilter;

use crate::exit::Outcome;
use crate::numbers::{count, one_in};
use crate::shell::Shell;

/// What a filter's file holds, for machines.
#[derive(Debug, Serialize)]
pub(super) struct Figures {
    pub(super) kind: String,
    pub(super) kind_code: u8,
    pub(super) hash: String,
    pub(super) version: u16,
    pub(super) items: u64,
    pub(super) fingerprints: u64,
    pub(super) ghosts: u64,
    pub(super) slots: u64,
    pub(super) used_slots: u64,
    pub(super) load: f64,
    pub(super) remainder_bits: u32,
    pub(super) value_bits: u32,
    pub(super) bytes: u64,
    pub(super) bits_per_item: Option<f64>,
    pub(super) expected_fpr: f64,
}

impl Figures {
    pub(super) fn of(filter: &AnyFilter) -> Self {
        let (info, stats) = (filter.info(), filter.stats());
        let bits = stats.bits_per_item;
        Figures {
            kind: info.kind.to_string(),
            kind_code: info.kind.code(),
            hash: info.hash.to_string(),
            version: info.version,
            items: stats.items,
            fingerprints: info.fingerprints,
            ghosts: info.ghosts,
            slots: stats.slots,
            used_slots: stats.used_slots,
            load: stats.load,
            remainder_bits: stats.remainder_bits,
            value_bits: info.value_bits,
            bytes: info.file_bytes,
            bits_per_item: bits.is_finite().then_some(bits),
            expected_fpr: stats.expected_fpr,
        }
    }
}

/// What a filter was made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// So many keys, copies included.
    Keys(u64),
    /// Another filter.
    Filter,
    /// So many other filters.
    Filters(usize),
}

#[derive(Serialize)]
struct Written {
    out: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    keys: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    merged: Option<usize>,
    #[serde(flatten)]
    figures: Figures,
}

/// Says what was written to `out`.
pub(super) fn print(out: &Path, from: Source, filter: &AnyFilter, shell: &Shell) -> Outcome<()> {
    let (keys, merged) = match from {
        Source::Keys(keys) => (Some(keys), None),
        Source::Filter => (None, None),
        Source::Filters(filters) => (None, Some(filters)),
    };
    let written = Written {
        out: out.display().to_string(),
        keys,
        merged,
        figures: Figures::of(filter),
    };
    shell.print_written(out, &written, || {
        let figures = &written.figures;
        let members = match keys {
            Some(keys) => count(keys, "key"),
            None => count(figures.items, "item"),
        };
        format!(
            "wrote {}: {} filter of {members}, {}, wrong for {} other keys",
            written.out,
            figures.kind,
            HumanBytes(figures.bytes),
            one_in(figures.expected_fpr)
        )
    })
}
