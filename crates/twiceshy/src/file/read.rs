//! From bytes to filters, trusting none of them.

use std::io::{self, Read};

use super::header::{CHECKSUM, HEADER_BYTES, Header};
use super::{FileFilter, checksum};
use crate::error::Error;
use crate::hash::HashKind;
use crate::mem::{HugePages, Memory};

/// Memory for a table is taken in steps of so many bytes while it arrives: what a header says
/// about its length is worth nothing before that.
const STEP: usize = 1 << 20;

/// The header and the table of a file that is complete, of the kind and hash of `F`.
fn split<M, F: FileFilter<M>>(bytes: &[u8]) -> Result<(Header, &[u8]), Error> {
    let (header, table_bytes) = decode::<M, F>(bytes, Some(F::HASH))?;
    Ok((header, whole(bytes, table_bytes)?))
}

/// The table of a file, if it is as long as the header says.
fn whole(bytes: &[u8], table_bytes: usize) -> Result<&[u8], Error> {
    let table = &bytes[HEADER_BYTES..];
    if table.len() != table_bytes {
        return Err(Error::corrupt(format!(
            "it has {} bytes, where its header says {}",
            bytes.len(),
            HEADER_BYTES as u64 + table_bytes as u64
        )));
    }
    Ok(table)
}

/// A header of the kind of `F` and of this hash, or of any, and the bytes of its table.
fn decode<M, F: FileFilter<M>>(
    bytes: &[u8],
    hash: Option<HashKind>,
) -> Result<(Header, usize), Error> {
    let (header, table_bytes) = Header::decode(bytes)?;
    let hash = hash.unwrap_or(header.hash);
    if (header.kind, header.hash) != (F::KIND, hash) {
        return Err(Error::format(format!(
            "it holds the {} filter with the hash {}, not the {} filter with the hash {hash}",
            header.kind,
            header.hash,
            F::KIND,
        )));
    }
    header.check::<M, F>(table_bytes)?;
    // As many as `F` says that there are, which is a `usize`.
    Ok((header, table_bytes as usize))
}

/// The bytes are those that were written.
fn check_sum(header: &[u8], table: &[u8]) -> Result<(), Error> {
    let (header, stored) = header.split_at(CHECKSUM);
    if stored == checksum::of(header, table).to_le_bytes() {
        return Ok(());
    }
    Err(Error::corrupt(
        "its checksum is wrong: some byte is not what was written",
    ))
}

/// A filter that its table bears out.
fn verified<M, F: FileFilter<M>>(header: &Header, memory: M) -> Result<F, Error> {
    let mut filter = F::assemble(header, memory)?;
    match filter.verify() {
        Ok(()) => Ok(filter),
        Err(violation) => Err(Error::corrupt(format!(
            "its checksum is right, but its table is not one: {violation}"
        ))),
    }
}

/// A filter over the bytes of a file.
pub(super) fn view<'b, F: FileFilter<&'b [u8]>>(bytes: &'b [u8]) -> Result<F, Error> {
    let (header, table) = split::<&[u8], F>(bytes)?;
    check_sum(&bytes[..HEADER_BYTES], table)?;
    verified(&header, table)
}

/// The same whatever its hash is: for reading fingerprints, which needs no hash of a key.
pub(crate) fn view_any_hash<'b, F: FileFilter<&'b [u8]>>(
    bytes: &'b [u8],
) -> Result<(Header, F), Error> {
    let (header, table_bytes) = decode::<&'b [u8], F>(bytes, None)?;
    let table = whole(bytes, table_bytes)?;
    check_sum(&bytes[..HEADER_BYTES], table)?;
    Ok((header, verified(&header, table)?))
}

/// The same, believing the table.
pub(crate) fn view_unverified<'b, F: FileFilter<&'b [u8]>>(bytes: &'b [u8]) -> Result<F, Error> {
    let (header, table) = split::<&[u8], F>(bytes)?;
    F::assemble(&header, table)
}

/// A filter with memory of its own.
pub(crate) fn from_bytes<F: FileFilter<Memory>>(bytes: &[u8]) -> Result<F, Error> {
    let (header, table) = split::<Memory, F>(bytes)?;
    check_sum(&bytes[..HEADER_BYTES], table)?;
    let mut memory = Memory::zeroed(table.len(), HugePages::default())?;
    memory.as_mut().copy_from_slice(table);
    verified(&header, memory)
}

/// A filter from a stream, of which no byte behind the file is read.
pub(crate) fn read_from<F: FileFilter<Memory>>(mut reader: impl Read) -> Result<F, Error> {
    let start = read_header(&mut reader)?;
    let (header, bytes) = decode::<Memory, F>(&start, Some(F::HASH))?;
    let mut steps = Vec::new();
    let mut missing = bytes;
    while missing > 0 {
        let mut step = Vec::new();
        read_up_to(&mut reader, &mut step, missing.min(STEP))?;
        if step.is_empty() {
            return Err(Error::corrupt(format!(
                "it ends after {} bytes, where its header says {}",
                HEADER_BYTES + bytes - missing,
                HEADER_BYTES as u64 + bytes as u64
            )));
        }
        missing -= step.len();
        steps.push(step);
    }
    let mut memory = Memory::zeroed(bytes, HugePages::default())?;
    let mut rest = memory.as_mut();
    for step in steps {
        let (here, behind) = rest.split_at_mut(step.len());
        here.copy_from_slice(&step);
        rest = behind;
    }
    check_sum(&start, memory.as_ref())?;
    verified(&header, memory)
}

/// The bytes of a header, or as many as there are.
pub(crate) fn read_header(reader: &mut impl Read) -> Result<Vec<u8>, Error> {
    let mut start = Vec::new();
    read_up_to(reader, &mut start, HEADER_BYTES)?;
    Ok(start)
}

/// Reads `count` bytes, or as many as there are.
fn read_up_to(reader: &mut impl Read, bytes: &mut Vec<u8>, count: usize) -> Result<(), Error> {
    let io = |error: io::Error| Error::Io {
        kind: error.kind(),
        reason: error.to_string(),
    };
    reader.take(count as u64).read_to_end(bytes).map_err(io)?;
    Ok(())
}
