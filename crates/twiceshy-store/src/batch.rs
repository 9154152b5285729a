//! Writes that happen together.

use std::collections::BTreeMap;

use crate::engine::Durability;

/// Writes that happen together or not at all. The last word on a key counts.
///
/// ```
/// use twiceshy_store::{Batch, Store, engine::InMemory};
///
/// let store = Store::in_memory()?;
/// let mut batch = Batch::new();
/// batch.put("otto", "1");
/// batch.put("anna", "2");
/// batch.delete("emma");
/// store.write(batch)?;
/// assert_eq!(store.get("anna")?, Some(b"2".to_vec()));
/// # Ok::<(), twiceshy_store::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Batch {
    pub(crate) deeds: BTreeMap<Vec<u8>, Deed>,
    pub(crate) durability: Option<Durability>,
}

/// What shall happen to a key.
#[derive(Clone, Debug)]
pub(crate) enum Deed {
    Put(Vec<u8>),
    /// As the caller says, the key is not there yet.
    InsertNew(Vec<u8>),
    Delete,
}

impl Batch {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Batch::default()
    }

    /// Writes a record, whether there is one under this key or not.
    pub fn put(&mut self, key: impl AsRef<[u8]>, value: impl Into<Vec<u8>>) -> &mut Self {
        self.set(key, Deed::Put(value.into()))
    }

    /// Writes a record under a key that is not there yet: **the caller vouches for that.** The
    /// filter is not asked and nothing is read. If it is there after all, its value is replaced,
    /// a surplus fingerprint costs a slot until the next adaptation near it, and
    /// [`len`](crate::Store::len) counts it twice until the store is built anew.
    pub fn insert_new(&mut self, key: impl AsRef<[u8]>, value: impl Into<Vec<u8>>) -> &mut Self {
        self.set(key, Deed::InsertNew(value.into()))
    }

    /// Deletes a record, if it is there.
    pub fn delete(&mut self, key: impl AsRef<[u8]>) -> &mut Self {
        self.set(key, Deed::Delete)
    }

    /// When this batch is safe. Default: what the store was opened with.
    pub fn durability(&mut self, durability: Durability) -> &mut Self {
        self.durability = Some(durability);
        self
    }

    /// Different keys in it.
    #[must_use]
    pub fn len(&self) -> usize {
        self.deeds.len()
    }

    /// Is there nothing to do?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.deeds.is_empty()
    }

    fn set(&mut self, key: impl AsRef<[u8]>, deed: Deed) -> &mut Self {
        let key = key.as_ref().to_vec();
        // "It is new" and "it may be there" together mean: it may be there.
        let deed = match (deed, self.deeds.get(&key)) {
            (Deed::InsertNew(value), Some(_)) => Deed::Put(value),
            (deed, _) => deed,
        };
        self.deeds.insert(key, deed);
        self
    }
}
