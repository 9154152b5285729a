//! Both lists of keys: in memory, and in the file beside a list.
//!
//! ```text
//! block.list         the list: ship this
//! block.list.keys    {"twiceshy_list_keys":2,"list":"5f0e…","fpr":0.01}
//!                    Y<base64 of a key>
//!                    N<base64 of a key>
//!                    …
//!                    E<checksum of all lines before>
//! ```
//!
//! The first line names the list file that the keys belong to by its checksum: a list that was
//! changed by a delta, or replaced, is not taken for the one that these keys made. The last line
//! is the checksum of all bytes before it, so that keys which were lost or changed are noticed.

use std::collections::BTreeMap;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, bail};
use serde::{Deserialize, Serialize};
use twiceshy::file::HEADER_BYTES;
use twiceshy::lists::List;
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use crate::exit::{OrHint, Outcome};
use crate::files;
use crate::keys::Format;

/// The number of this format.
const NUMBER: u32 = 2;

/// How every file of keys begins.
const START: &[u8] = b"{\"twiceshy_list_keys\":";

/// The first line of a file of keys.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(super) struct Head {
    /// The number of this format.
    twiceshy_list_keys: u32,
    /// The checksum of the list file.
    list: String,
    /// The share of other keys that the list was built for.
    pub(super) fpr: f64,
}

/// Where the keys of a list are.
pub(super) fn path_of(list: &Path) -> PathBuf {
    let mut path = list.as_os_str().to_owned();
    path.push(".keys");
    path.into()
}

/// The checksum of a list file: the last word of its header.
fn checksum(list: &[u8]) -> String {
    hex(list.get(HEADER_BYTES - 8..HEADER_BYTES).unwrap_or_default())
}

/// The last line of a file of keys, for all bytes before it.
fn last_line(checksum: u64) -> String {
    format!("E{}\n", hex(&checksum.to_le_bytes()))
}

fn hex(bytes: &[u8]) -> String {
    let mut text = Vec::new();
    // Hexadecimal digits can write everything.
    let _ = Format::Hex.encode(bytes, &mut text);
    String::from_utf8_lossy(&text).into_owned()
}

/// Writes a list and the keys beside it.
pub(super) fn write<'k>(
    path: &Path,
    list: &[u8],
    fpr: f64,
    keys: impl Iterator<Item = (List, &'k [u8])>,
) -> Outcome<()> {
    let head = Head {
        twiceshy_list_keys: NUMBER,
        list: checksum(list),
        fpr,
    };
    let head = serde_json::to_string(&head)?;
    files::replace(&path_of(path), |file| {
        let mut file = BufWriter::new(file);
        let mut sum = Xxh3::new();
        let mut write = |line: &[u8]| {
            sum.update(line);
            file.write_all(line)
        };
        write(format!("{head}\n").as_bytes())?;
        let mut line = Vec::new();
        for (list, key) in keys {
            line.clear();
            line.push(if list == List::Yes { b'Y' } else { b'N' });
            // Base64 can write everything.
            let _ = Format::Base64.encode(key, &mut line);
            line.push(b'\n');
            write(&line)?;
        }
        file.write_all(last_line(sum.digest()).as_bytes())?;
        file.flush()
    })?;
    files::replace(path, |file| file.write_all(list))
}

/// The keys beside a list, if they are those that made it.
pub(super) fn read(path: &Path, list: &[u8]) -> Outcome<(Head, BTreeMap<Vec<u8>, List>)> {
    let keys_path = path_of(path);
    let name = keys_path.display();
    let again = || format!("build {} again with `twiceshy list build`", path.display());
    if !keys_path.exists() {
        bail!(
            "a list file has no keys, and the file beside it that has them, {name}, is not \
             there; update the list where it was built, or {}",
            again()
        );
    }
    let no_keys = || format!("{name} is no file of keys");
    let text = super::read(&keys_path, |start, _| match start.starts_with(START) {
        true => Ok(()),
        false => Err(anyhow!(no_keys())).or_hint(again),
    })?;
    let head: Head = text
        .split(|&byte| byte == b'\n')
        .next()
        .and_then(|line| serde_json::from_slice(line).ok())
        .with_context(no_keys)
        .or_hint(again)?;
    match head.twiceshy_list_keys {
        NUMBER => {}
        1 => bail!("{name} has number 1, which has no checksum; {}", again()),
        number => bail!(
            "{name} has number {number}, and this program reads number {NUMBER}; use a later \
             version"
        ),
    }
    let lines = verified(&text)
        .with_context(|| format!("{name} is damaged"))
        .or_hint(again)?;
    if head.list != checksum(list) {
        bail!(
            "the keys in {name} are of another version of the list, which was changed by a delta \
             or replaced; {}",
            again()
        );
    }
    let keys = lines.map(parse).collect::<Outcome<_>>();
    let keys = keys.with_context(|| name.to_string()).or_hint(again)?;
    Ok((head, keys))
}

/// The lines of the keys, if the checksum of the file is right.
fn verified(text: &[u8]) -> Outcome<impl Iterator<Item = &[u8]>> {
    let end = text.len().saturating_sub(last_line(0).len());
    let (lines, last) = text.split_at(end);
    if last != last_line(xxh3_64(lines)).as_bytes() {
        bail!("its checksum is not that of its lines");
    }
    let lines = lines.strip_suffix(b"\n").unwrap_or(lines);
    Ok(lines.split(|&byte| byte == b'\n').skip(1))
}

fn parse(line: &[u8]) -> Outcome<(Vec<u8>, List)> {
    let list = match line.first() {
        Some(b'Y') => List::Yes,
        Some(b'N') => List::No,
        _ => bail!("a line of it starts with neither Y nor N"),
    };
    let mut key = Vec::new();
    Format::Base64.decode(&line[1..], &mut key)?;
    Ok((key, list))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// Every cut, every bit that is flipped, and everything that is added.
    #[test]
    fn no_damage_of_the_keys_goes_unnoticed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("list");
        let list = [7; HEADER_BYTES];
        let keys = [
            (List::Yes, &b"phish"[..]),
            (List::No, b"bank"),
            (List::No, b""),
        ];
        write(&path, &list, 0.01, keys.into_iter()).unwrap();
        let read = || read(&path, &list);
        let (head, read_back) = read().unwrap();
        assert_eq!(head.fpr, 0.01);
        let expected = keys.map(|(list, key)| (key.to_vec(), list));
        assert_eq!(read_back, BTreeMap::from(expected));

        let good = fs::read(path_of(&path)).unwrap();
        let refused = |text: &[u8], what: &str| {
            fs::write(path_of(&path), text).unwrap();
            assert!(read().is_err(), "{what}");
        };
        for end in 0..good.len() {
            refused(&good[..end], &format!("cut after {end} bytes"));
        }
        for bit in 0..8 * good.len() {
            let mut bad = good.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            refused(&bad, &format!("bit {bit} flipped"));
        }
        refused(&[&good[..], b"\n"].concat(), "a line end added");
        refused(&[&good[..], &good[..]].concat(), "twice");
        // A checksum that is right does not make sense of nonsense.
        let nonsense = [
            good.split_inclusive(|&b| b == b'\n').next().unwrap(),
            b"?\n",
        ]
        .concat();
        let last = last_line(xxh3_64(&nonsense));
        refused(
            &[&nonsense[..], last.as_bytes()].concat(),
            "no line of a key",
        );
    }
}
