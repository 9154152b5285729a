//! What a reverse map says about a minirun, and what its fingerprints must be.

use crate::error::Error;
use crate::hash::{Hashed, Seed, StreamHash};
use crate::prints::{Digits, Print, Stream, common_digits};

use super::List;
use super::dynamic::Form;

/// The byte before a key in the reverse map says which list it is on.
const YES: u8 = b'Y';
const NO: u8 = b'N';

/// What stands in the reverse map for a key.
pub(super) fn entry(list: List, key: &[u8]) -> Vec<u8> {
    let mut entry = Vec::with_capacity(1 + key.len());
    entry.push(match list {
        List::Yes => YES,
        List::No => NO,
    });
    entry.extend_from_slice(key);
    entry
}

/// The list and the key of an entry, if it is one.
pub(super) fn parse(entry: &[u8]) -> Option<(List, &[u8])> {
    match entry.split_first()? {
        (&YES, key) => Some((List::Yes, key)),
        (&NO, key) => Some((List::No, key)),
        _ => None,
    }
}

/// The reverse map has something in it that no list wrote.
pub(super) fn foreign() -> Error {
    Error::mismatch(
        "the reverse map holds an entry that does not start with `Y` or `N`; give the list a map \
         of its own",
    )
}

/// The keys of some miniruns, one behind the other in one piece of memory.
#[derive(Clone, Debug, Default)]
pub(super) struct Members {
    bytes: Vec<u8>,
    members: Vec<Member>,
    foreign: bool,
}

#[derive(Clone, Copy, Debug)]
struct Member {
    h0: u64,
    list: List,
    start: usize,
    end: usize,
}

impl Members {
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.members.clear();
        self.foreign = false;
    }

    /// Takes an entry of the reverse map.
    pub(super) fn read(&mut self, h0: u64, entry: &[u8]) {
        match parse(entry) {
            Some((list, key)) => self.push(h0, list, key),
            None => self.foreign = true,
        }
    }

    /// Adds a key.
    fn push(&mut self, h0: u64, list: List, key: &[u8]) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(key);
        self.members.push(Member {
            h0,
            list,
            start,
            end: self.bytes.len(),
        });
    }

    /// Was everything that was read an entry?
    pub(super) fn check(&self) -> Result<(), Error> {
        if self.foreign {
            return Err(foreign());
        }
        Ok(())
    }

    /// Takes a key off its list and puts it on another, or on none.
    pub(super) fn relist(&mut self, h0: u64, key: &[u8], list: Option<List>) {
        let bytes = &self.bytes;
        (self.members).retain(|member| bytes[member.start..member.end] != *key);
        if let Some(list) = list {
            self.push(h0, list, key);
        }
    }

    /// The list of a key.
    pub(super) fn find(&self, key: &[u8]) -> Option<List> {
        let mut members = self.members.iter();
        let found = members.find(|member| self.bytes[member.start..member.end] == *key);
        found.map(|member| member.list)
    }

    /// Is any key on this list?
    pub(super) fn any(&self, list: List) -> bool {
        self.members.iter().any(|member| member.list == list)
    }

    /// How many keys are on a list.
    pub(super) fn count(&self, list: List) -> u64 {
        let members = self.members.iter();
        members.filter(|member| member.list == list).count() as u64
    }

    /// Calls `each` with the number and the fingerprints of every minirun that has some, in
    /// hash order.
    pub(super) fn miniruns<F: Form, H: StreamHash>(
        &mut self,
        seed: &Seed,
        width: u32,
        id: impl Fn(u64) -> u64,
        mut each: impl FnMut(u64, Vec<Print>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.members.sort_unstable_by_key(|member| member.h0);
        let minirun = |a: &Member, b: &Member| id(a.h0) == id(b.h0);
        for members in self.members.chunk_by(minirun) {
            let prints = prints_of::<F, H>(&self.bytes, members, seed, width)?;
            if !prints.is_empty() {
                each(id(members[0].h0), prints)?;
            }
        }
        Ok(())
    }

    /// The fingerprints of all keys, which are of one minirun.
    pub(super) fn prints<F: Form, H: StreamHash>(
        &self,
        seed: &Seed,
        width: u32,
    ) -> Result<Vec<Print>, Error> {
        prints_of::<F, H>(&self.bytes, &self.members, seed, width)
    }
}

/// Each stored key's fingerprint is as long as it takes to match no key of the other list, and
/// no longer: what the fingerprints are depends on the lists and on nothing that happened
/// before.
fn prints_of<F: Form, H: StreamHash>(
    bytes: &[u8],
    members: &[Member],
    seed: &Seed,
    width: u32,
) -> Result<Vec<Print>, Error> {
    let keys = members.iter().map(|member| {
        let key = Hashed::from_bytes::<H>(seed, &bytes[member.start..member.end]);
        (member.list, key)
    });
    let keys: Vec<(List, Hashed<'_>)> = keys.collect();
    let mut prints = Vec::new();
    for (list, key) in &keys {
        let Some(value) = F::value(*list) else {
            continue;
        };
        let stream = Digits { key, width };
        let mut digits = 0;
        for (_, key) in keys.iter().filter(|(other, _)| other != list) {
            digits = digits.max(common_digits(&stream, &Digits { key, width })? + 1);
        }
        let mut print = Print::new(1, value);
        print.extension.extend((0..digits).map(|k| stream.digit(k)));
        prints.push(print);
    }
    prints.sort_unstable();
    Ok(prints)
}
