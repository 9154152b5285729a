//! What the operations on a minirun do to its fingerprints, as pure functions.
//!
//! Each takes the fingerprints and all keys of the minirun and gives the fingerprints as
//! they shall be. Surplus ones, which no key is left for, are dropped on the way.

use super::pairing::pair;
use super::print::{Print, Stream, common_digits};
use crate::error::Error;
use crate::outcome::{Adapted, Leave};

fn unpaired() -> Error {
    Error::mismatch("some key has no fingerprint here; give all keys of the minirun and no others")
}

/// Extends every fingerprint that matches `query` along its key until none does.
pub(crate) fn adapt<S: Stream>(
    prints: Vec<Print>,
    keys: &[S],
    query: &S,
) -> Result<(Vec<Print>, Adapted), Error> {
    let pairing = pair(&prints, keys).ok_or_else(unpaired)?;
    let mut report = Adapted::default();
    let mut after = Vec::with_capacity(prints.len());
    for (mut print, key) in prints.into_iter().zip(pairing.key_of) {
        match key {
            Some(key) if print.prefixes(query) => {
                print.extend(&keys[key], query)?;
                report.extended += 1;
            }
            None if !print.is_ghost() => {
                report.dropped += 1;
                continue;
            }
            _ => {}
        }
        after.push(print);
    }
    Ok((after, report))
}

/// Takes the fingerprint away that the other keys leave over.
///
/// Not the removed key's own partner: that can be the longer of two that would both do for
/// another key, and leave more false positives than need be.
pub(crate) fn remove<S: Stream + Clone>(
    prints: Vec<Print>,
    keys: &[S],
    removed: usize,
    leave: Leave,
) -> Result<Vec<Print>, Error> {
    pair(&prints, keys).ok_or_else(unpaired)?;
    let others: Vec<S> = [&keys[..removed], &keys[removed + 1..]].concat();
    let pairing = pair(&prints, &others).ok_or_else(unpaired)?;
    let is_left = |i: usize| pairing.key_of[i].is_none() && !prints[i].is_ghost();
    let ghost = (0..prints.len())
        .filter(|&i| leave == Leave::Ghost && is_left(i) && prints[i].prefixes(&keys[removed]))
        .max_by_key(|&i| prints[i].extension.len());
    let after = (0..prints.len()).filter_map(|i| {
        let mut print = prints[i].clone();
        if Some(i) == ghost {
            print.count = 0;
        } else if is_left(i) {
            return None;
        }
        Some(print)
    });
    Ok(after.collect())
}

/// Adds a fingerprint for `key` that is told apart from every other key's where they must
/// `part`, in both directions.
pub(crate) fn insert<S: Stream>(
    prints: Vec<Print>,
    keys: &[S],
    key: &S,
    mut new: Print,
    part: impl Fn(&Print, &Print) -> bool,
) -> Result<Vec<Print>, Error> {
    let pairing = pair(&prints, keys).ok_or_else(unpaired)?;
    let ghost = longest_ghost(&prints, key);
    if let Some(ghost) = ghost {
        new.extension.clone_from(&prints[ghost].extension);
    }
    let mut after = Vec::with_capacity(prints.len() + 1);
    for (i, (mut print, other)) in prints.into_iter().zip(pairing.key_of).enumerate() {
        match other {
            Some(other) if part(&print, &new) => {
                if print.prefixes(key) {
                    print.extend(&keys[other], key)?;
                }
                if new.prefixes(&keys[other]) {
                    new.extend(key, &keys[other])?;
                }
            }
            None if !print.is_ghost() || Some(i) == ghost => continue,
            _ => {}
        }
        after.push(print);
    }
    after.push(new);
    Ok(after)
}

/// Drops what of the extensions is not needed to keep fingerprints from matching any of
/// `against`, or to keep counts and values apart.
pub(crate) fn shorten<S: Stream>(
    prints: Vec<Print>,
    keys: &[S],
    against: &[S],
) -> Result<Vec<Print>, Error> {
    let pairing = pair(&prints, keys).ok_or_else(unpaired)?;
    let mut after = Vec::with_capacity(prints.len());
    for (i, print) in prints.iter().enumerate() {
        let Some(key) = pairing.key_of[i] else {
            if print.is_ghost() {
                after.push(print.clone());
            }
            continue;
        };
        let mut needed = 0;
        for other in against {
            needed = needed.max(common_digits(&keys[key], other)? + 1);
        }
        for (j, other) in prints.iter().enumerate() {
            if let Some(other_key) = pairing.key_of[j].filter(|_| j != i && must_part(print, other))
            {
                needed = needed.max(common_digits(&keys[key], &keys[other_key])? + 1);
            }
        }
        let mut print = print.clone();
        print.extension.truncate(needed);
        after.push(print);
    }
    Ok(after)
}

/// May not one of these match the other's key?
pub(crate) fn must_part(a: &Print, b: &Print) -> bool {
    a.value != b.value || a.count > 1 || b.count > 1
}

/// The ghost with the most to remember for `key`.
pub(crate) fn longest_ghost(prints: &[Print], key: &impl Stream) -> Option<usize> {
    (0..prints.len())
        .filter(|&i| prints[i].is_ghost() && prints[i].prefixes(key))
        .max_by_key(|&i| prints[i].extension.len())
}
