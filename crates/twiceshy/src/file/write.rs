//! From filters to bytes.

use std::io::{self, Write};

use super::FileFilter;
use super::header::{HEADER_BYTES, Header};

pub(crate) fn to_bytes<M, F: FileFilter<M>>(filter: &F) -> Vec<u8> {
    file(&filter.header(), filter.table())
}

/// The file of a header and its table.
pub(crate) fn file(header: &Header, table: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HEADER_BYTES + table.len());
    bytes.extend_from_slice(&header.encode(table));
    bytes.extend_from_slice(table);
    bytes
}

pub(crate) fn write_to<M, F: FileFilter<M>>(filter: &F, mut writer: impl Write) -> io::Result<()> {
    let table = filter.table();
    writer.write_all(&filter.header().encode(table))?;
    writer.write_all(table)
}
