//! Both lists of keys: in memory, and in the file beside a list.
//!
//! ```text
//! block.list         the list: ship this
//! block.list.keys    {"twiceshy_list_keys":1,"list":"5f0e…","fpr":0.01}
//!                    Y<base64 of a key>
//!                    N<base64 of a key>
//!                    …
//! ```
//!
//! The first line names the list file that the keys belong to by its checksum: a list that was
//! changed by a delta, or replaced, is not taken for the one that these keys made.

use std::collections::BTreeMap;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};
use twiceshy::file::HEADER_BYTES;
use twiceshy::lists::List;

use crate::exit::{OrHint, Outcome};
use crate::files;
use crate::keys::{Format, Input};
use crate::shell::Shell;

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
    let mut text = Vec::new();
    let word = list.get(HEADER_BYTES - 8..HEADER_BYTES).unwrap_or_default();
    // Hexadecimal digits can write everything.
    let _ = Format::Hex.encode(word, &mut text);
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
        twiceshy_list_keys: 1,
        list: checksum(list),
        fpr,
    };
    let head = serde_json::to_string(&head)?;
    files::replace(&path_of(path), |file| {
        let mut file = BufWriter::new(file);
        writeln!(file, "{head}")?;
        let mut line = Vec::new();
        for (list, key) in keys {
            line.clear();
            line.push(if list == List::Yes { b'Y' } else { b'N' });
            // Base64 can write everything.
            let _ = Format::Base64.encode(key, &mut line);
            line.push(b'\n');
            file.write_all(&line)?;
        }
        file.flush()
    })?;
    files::replace(path, |file| file.write_all(list))
}

/// The keys beside a list, if they are those that made it.
pub(super) fn read(
    path: &Path,
    list: &[u8],
    shell: &Shell,
) -> Outcome<(Head, BTreeMap<Vec<u8>, List>)> {
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
    let mut lines = Input::open(&keys_path, shell)?.lines_with_bar("reading keys", shell);
    let head = lines
        .next_line()?
        .and_then(|line| serde_json::from_slice(line).ok());
    let head: Head = head
        .with_context(|| format!("{name} is no file of keys"))
        .or_hint(again)?;
    if head.twiceshy_list_keys != 1 {
        let number = head.twiceshy_list_keys;
        bail!("{name} has number {number}, and this program reads number 1; use a later version");
    }
    if head.list != checksum(list) {
        bail!(
            "the keys in {name} are of another version of the list, which was changed by a delta \
             or replaced; {}",
            again()
        );
    }
    let mut keys = BTreeMap::new();
    while let Some(line) = lines.next_line()? {
        let mut key = Vec::new();
        let list = match line.split_first() {
            Some((b'Y', rest)) => Format::Base64.decode(rest, &mut key).map(|()| List::Yes),
            Some((b'N', rest)) => Format::Base64.decode(rest, &mut key).map(|()| List::No),
            _ => Err(anyhow::anyhow!("it starts with neither Y nor N")),
        };
        let list = list.with_context(|| lines.place()).or_hint(again)?;
        keys.insert(key, list);
    }
    Ok((head, keys))
}
