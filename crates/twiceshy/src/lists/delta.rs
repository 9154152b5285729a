//! From one day's list to the next in a few bits a change.
//!
//! # The idea
//!
//! Two versions of a [`StaticYesNo`] with one seed and one geometry are two
//! sorted sequences of fingerprints, and their files are functions of these. So a delta is what
//! must be dropped from the one sequence and added to it to make the other. Both come in hash
//! order, hashes are random, and the gaps between random numbers are coded in as many bits as
//! their entropy:
//!
//! ```text
//!   dropped    its place among the old fingerprints:     log2(n / dropped) + 1.5 bits
//!   added      its minirun among all n 2^r of them:       log2(n / added) + r + 1.5 bits
//!   extended   its place among the added ones, its digits
//! ```
//!
//! One key in a thousand changed is 11.5 bits for each that goes, and 11.5 + r for each that comes.
//! A NO key that comes or goes costs nothing, unless a YES key's fingerprint matches it.
//!
//! The new version must be built with [`build_like`](super::StaticYesNo::build_like), or be a
//! later snapshot of the same dynamic list. Where seed or geometry differ, the delta is the whole
//! new file, and says so.
//!
//! # The file
//!
//! ```text
//! byte   0          8     10     11    16       24        32         40
//!        | twsdelta | u16 |  u8  |  0  |  u64   |   u64   |   u64    | content …
//!        |  magic   | ver | form |     |  base  |  target | checksum |
//! ```
//!
//! *Form* is 0 for changes, 1 for a whole file. *Base* and *target* are the checksums of the two
//! list files, so a delta fits one base only, and what it makes is known to be right. *Checksum* is
//! that of the delta itself. The content of form 0: as LEB128 numbers the length of the new NO
//! list, how many fingerprints are dropped, added, and of these extended; then their codes.
//!
//! ```
//! use twiceshy::lists::{StaticYesNo, delta};
//!
//! let mut yes: Vec<u64> = (0..100_000).collect();
//! let old = StaticYesNo::builder().fpr(1.0 / 512.0).headroom(0.03).build(&yes, &["no"])?;
//! yes.drain(..50);
//! yes.extend(200_000..200_050);
//! let (new, _) = old.build_like(&yes, &["no"], 1.0 / 512.0)?;
//!
//! let (old, new) = (old.to_bytes(), new.to_bytes());
//! let delta = delta::diff(&old, &new)?;
//! assert!(delta.as_bytes().len() < 300); // of 160,000
//! assert!(delta::apply(&old, delta.as_bytes())? == new);
//! assert!(delta::apply(&new, delta.as_bytes()).is_err());
//! # Ok::<(), twiceshy::Error>(())
//! ```

use std::cmp::Ordering;

use super::StaticYesNo;
use super::golomb::{BitReader, BitWriter};
use super::static_file;
use crate::error::Error;
use crate::file::{HEADER_BYTES, Header, read, write};
use crate::filters::core::Core;
use crate::filters::core::fill::Fill;
use crate::hash::Sip13;
use crate::mem::Memory;
use crate::prints::{Print, max_digits};
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

const MAGIC: [u8; 8] = *b"twsdelta";
const VERSION: u16 = 1;
/// Bytes before the content.
const START: usize = 40;
/// Where the checksum stands.
const CHECKSUM: usize = 32;

/// A file that turns one version of a list into another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delta {
    bytes: Vec<u8>,
    ships: Ships,
}

/// What a delta contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ships {
    /// Fingerprints that go and come.
    Changes {
        /// How many are dropped.
        dropped: u64,
        /// How many are added. One that becomes longer or shorter is dropped and added.
        added: u64,
    },
    /// The whole new file.
    Whole(Why),
}

/// Why a delta is a whole file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// The versions differ in seed, hash, or measures of their tables.
    Foreign,
    /// The changes would take more bytes.
    Smaller,
}

impl Delta {
    /// The file.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The file, without a copy.
    #[must_use]
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// What it contains.
    #[must_use]
    pub fn ships(&self) -> Ships {
        self.ships
    }

    fn new(form: u8, content: &[u8], old: &[u8], new: &[u8], ships: Ships) -> Self {
        let mut bytes = Vec::with_capacity(START + content.len());
        bytes.extend_from_slice(&MAGIC);
        bytes.extend_from_slice(&VERSION.to_le_bytes());
        bytes.push(form);
        bytes.extend_from_slice(&[0; 5]);
        bytes.extend_from_slice(&sum_of(old));
        bytes.extend_from_slice(&sum_of(new));
        let checksum = xxh3_64_with_seed(content, xxh3_64(&bytes));
        bytes.extend_from_slice(&checksum.to_le_bytes());
        bytes.extend_from_slice(content);
        Delta { bytes, ships }
    }
}

/// The checksum of a list file that was opened, which is the last word of its header.
fn sum_of(file: &[u8]) -> [u8; 8] {
    let mut sum = [0; 8];
    sum.copy_from_slice(&file[HEADER_BYTES - 8..HEADER_BYTES]);
    sum
}

/// A list file of any hash, verified.
fn open(file: &[u8]) -> Result<(Header, Core<&[u8]>), Error> {
    let (header, list) = read::view_any_hash::<StaticYesNo<Sip13, &[u8]>>(file)?;
    Ok((header, list.filter.into_core()))
}

/// All fingerprints of a list, in hash order: the minirun and what is behind it.
fn prints<'c>(core: &'c Core<&[u8]>) -> impl Iterator<Item = (u64, Print)> + 'c {
    let geometry = core.table.geometry();
    core.iter()
        .map(move |(fingerprint, print)| (geometry.id_of(fingerprint), print))
}

/// The delta that turns the file `old` into the file `new`, both of a
/// [`StaticYesNo`].
///
/// # Errors
/// [`Error::Format`] or [`Error::Corrupt`] if one of them is no sound file of a list.
pub fn diff(old: &[u8], new: &[u8]) -> Result<Delta, Error> {
    let ((old_header, old_core), (new_header, new_core)) = (open(old)?, open(new)?);
    let whole = |why| Ok(Delta::new(1, new, old, new, Ships::Whole(why)));
    let measures = |header: &Header| {
        let blocks = header.total >> 64;
        (header.hash, header.seed, header.geometry, blocks)
    };
    if measures(&old_header) != measures(&new_header) {
        return whole(Why::Foreign);
    }
    let (mut dropped, mut added) = (Vec::new(), Vec::new());
    let mut old_prints = (0_u64..).zip(prints(&old_core)).peekable();
    let mut new_prints = prints(&new_core).peekable();
    loop {
        let order = match (old_prints.peek(), new_prints.peek()) {
            (Some((_, old)), Some(new)) => old.cmp(new),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => break,
        };
        if order != Ordering::Greater {
            let gone = old_prints.next().filter(|_| order == Ordering::Less);
            dropped.extend(gone.map(|(place, _)| place));
        }
        if order != Ordering::Less {
            let come = new_prints.next().filter(|_| order == Ordering::Greater);
            added.extend(come);
        }
    }
    let content = encode(&old_header, &new_header, &dropped, &added);
    if content.len() >= new.len() {
        return whole(Why::Smaller);
    }
    let ships = Ships::Changes {
        dropped: dropped.len() as u64,
        added: added.len() as u64,
    };
    Ok(Delta::new(0, &content, old, new, ships))
}

fn encode(old: &Header, new: &Header, dropped: &[u64], added: &[(u64, Print)]) -> Vec<u8> {
    let ids: Vec<u64> = added.iter().map(|&(id, _)| id).collect();
    let prints = (0_u64..).zip(added.iter().map(|(_, print)| print));
    let (places, extended): (Vec<u64>, Vec<&Print>) = prints
        .filter(|(_, print)| !print.extension.is_empty())
        .unzip();
    let counts = [dropped.len(), ids.len(), places.len()].map(|count| count as u64);
    let mut content = Vec::new();
    leb128(&mut content, new.total as u64);
    counts.iter().for_each(|&count| leb128(&mut content, count));

    let mut bits = BitWriter::default();
    bits.sorted(old.live, dropped);
    bits.sorted(new.geometry.ids(), &ids);
    bits.sorted(counts[1], &places);
    let width = new.geometry.remainder_bits();
    for print in extended {
        bits.unary(print.extension.len() as u64 - 1);
        for &digit in &print.extension {
            bits.bits(digit, width);
        }
    }
    content.extend(bits.into_bytes());
    content
}

/// The new file, made of the old one and a delta.
///
/// # Errors
/// [`Error::Delta`] if the delta was made for another base; [`Error::Format`] or
/// [`Error::Corrupt`] if base or delta are damaged or something else.
pub fn apply(old: &[u8], delta: &[u8]) -> Result<Vec<u8>, Error> {
    let (form, content) = check(delta)?;
    let (header, core) = open(old)?;
    if delta[16..24] != sum_of(old) {
        return Err(Error::Delta {
            reason: "it was made for another version of the list than this one".to_owned(),
        });
    }
    let new = match form {
        0 => patch(&header, &core, content)?,
        _ => {
            open(content)?;
            content.to_vec()
        }
    };
    if delta[24..32] != sum_of(&new) {
        return Err(damaged("what it makes is not what it was made from"));
    }
    Ok(new)
}

/// The form and the content of a delta with the right checksum.
fn check(delta: &[u8]) -> Result<(u8, &[u8]), Error> {
    let Some((start, content)) = delta.split_at_checked(START) else {
        return Err(Error::format("it is too short for a delta of a list"));
    };
    if start[..8] != MAGIC {
        return Err(Error::format("it does not start with \"twsdelta\""));
    }
    let version = u16::from_le_bytes([start[8], start[9]]);
    if version != VERSION {
        return Err(Error::format(format!(
            "its format has number {version}; this library reads number {VERSION}"
        )));
    }
    let checksum = xxh3_64_with_seed(content, xxh3_64(&start[..CHECKSUM]));
    if start[CHECKSUM..] != checksum.to_le_bytes() {
        return Err(damaged("its checksum is wrong"));
    }
    if start[10] > 1 || start[11..16].iter().any(|&byte| byte != 0) {
        return Err(damaged("its form is not known"));
    }
    Ok((start[10], content))
}

fn damaged(what: &str) -> Error {
    Error::corrupt(format!("the delta is damaged: {what}"))
}

/// The file of the base's fingerprints without those that are dropped, and with those added.
fn patch(header: &Header, core: &Core<&[u8]>, content: &[u8]) -> Result<Vec<u8>, Error> {
    let short = || damaged("it ends too soon, or counts what can't be");
    let mut content = content;
    let mut counts = [0; 4];
    for count in &mut counts {
        *count = read_leb128(&mut content).ok_or_else(short)?;
    }
    let [no, dropped, added, extended] = counts;
    // Each takes a bit at least, so no more than the content warrants is ever kept.
    let most = content.len() as u64 * 8;
    if dropped > header.live.min(most) || added > most || extended > added {
        return Err(short());
    }
    let mut reader = BitReader::new(content);
    let dropped = reader
        .sorted(header.live, dropped, true)
        .ok_or_else(short)?;
    let ids = reader.sorted(header.geometry.ids(), added, false);
    let ids = ids.ok_or_else(short)?;
    let places = reader.sorted(added, extended, true).ok_or_else(short)?;
    let width = header.geometry.remainder_bits();
    let mut added: Vec<(u64, Print)> = ids.into_iter().map(|id| (id, Print::new(1, 0))).collect();
    for place in places {
        let digits = reader.unary().ok_or_else(short)?;
        if digits >= max_digits(width) as u64 {
            return Err(short());
        }
        let print = &mut added[place as usize].1;
        for _ in 0..=digits {
            print.extension.push(reader.bits(width).ok_or_else(short)?);
        }
    }
    if !reader.is_done() || !added.is_sorted() {
        return Err(damaged("it has more than it says, or in another order"));
    }
    let core = merge(header, core, &dropped, added)?;
    let header = Header {
        hash: header.hash,
        ..static_file::header::<Memory, StaticYesNo>(&core, header.seed, no)
    };
    Ok(write::file(&header, core.table.as_bytes()))
}

/// A table of the same measures with other fingerprints.
fn merge(
    header: &Header,
    core: &Core<&[u8]>,
    dropped: &[u64],
    added: Vec<(u64, Print)>,
) -> Result<Core, Error> {
    let blocks = static_file::blocks(header);
    let mut fill = Fill::new(Core::of_blocks(header.geometry, blocks)?);
    let mut dropped = dropped.iter().copied().peekable();
    let kept = (0_u64..).zip(prints(core)).filter_map(|(place, print)| {
        let goes = dropped.next_if_eq(&place).is_some();
        (!goes).then_some(print)
    });
    let (mut kept, mut added) = (kept.peekable(), added.into_iter().peekable());
    loop {
        let from_old = match (kept.peek(), added.peek()) {
            (Some(old), Some(new)) => old <= new,
            (old, _) => old.is_some(),
        };
        let Some((id, print)) = (if from_old { kept.next() } else { added.next() }) else {
            return Ok(fill.finish());
        };
        fill.print(id, &print)
            .map_err(|_| damaged("what it makes does not fit"))?;
    }
}

fn leb128(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn read_leb128(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0_u64;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        let part = u64::from(byte & 0x7f);
        number |= part << shift;
        if byte < 0x80 {
            let canonical = (byte != 0 || shift == 0) && (part << shift) >> shift == part;
            return canonical.then_some(number);
        }
    }
    None
}
