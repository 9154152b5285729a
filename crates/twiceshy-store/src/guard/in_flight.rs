//! Keys whose commits are under way.

use std::ops::RangeInclusive;
use std::sync::Arc;

use crate::sync::Mutex;

/// Those of a shard. They count as members whether or not the reverse map lists them yet.
#[derive(Debug, Default)]
pub(super) struct InFlight(Mutex<Vec<Pending>>);

#[derive(Debug)]
struct Pending {
    h0: u64,
    key: Arc<[u8]>,
    /// Those who are about to commit it.
    tokens: usize,
    /// Nobody had it before them, and none of them has committed it yet.
    is_new: bool,
}

impl InFlight {
    /// Is somebody about to commit this key?
    pub(super) fn has(&self, key: &[u8]) -> bool {
        self.0.lock().iter().any(|pending| *pending.key == *key)
    }

    /// One more is about to commit a key, which is new if nobody has it.
    pub(super) fn add(&self, h0: u64, key: &[u8], is_new: bool) -> Arc<[u8]> {
        let mut list = self.0.lock();
        if let Some(pending) = list.iter_mut().find(|pending| *pending.key == *key) {
            pending.tokens += 1;
            return Arc::clone(&pending.key);
        }
        let key: Arc<[u8]> = key.into();
        list.push(Pending {
            h0,
            key: Arc::clone(&key),
            tokens: 1,
            is_new,
        });
        key
    }

    /// One of those has committed it, or not. Says whether nobody has it now.
    pub(super) fn land(&self, key: &[u8], committed: bool) -> bool {
        let mut list = self.0.lock();
        let Some(at) = list.iter().position(|pending| *pending.key == *key) else {
            return false;
        };
        let pending = &mut list[at];
        pending.tokens -= 1;
        pending.is_new &= !committed;
        if pending.tokens > 0 {
            return false;
        }
        list.swap_remove(at).is_new
    }

    /// All of them.
    pub(super) fn all(&self) -> Vec<Arc<[u8]>> {
        let list = self.0.lock();
        list.iter()
            .map(|pending| Arc::clone(&pending.key))
            .collect()
    }

    /// Those with hashes in a range, and the hashes.
    pub(super) fn in_range(&self, hashes: &RangeInclusive<u64>) -> Vec<(u64, Vec<u8>)> {
        let list = self.0.lock();
        let found = list.iter().filter(|pending| hashes.contains(&pending.h0));
        found
            .map(|pending| (pending.h0, pending.key.to_vec()))
            .collect()
    }
}
