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
    pub(crate) ops: BTreeMap<Vec<u8>, Op>,
    pub(crate) durability: Option<Durability>,
}

/// What shall be done with a key.
#[derive(Clone, Debug)]
pub(crate) enum Op {
    Put(Vec<u8>),
    /// The key is not there yet, as the caller says.
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
        self.set(key, Op::Put(value.into()))
    }

    /// Writes a record under a key that is not there yet, **as the caller says**. The engine is
    /// asked only where the filter can't deny the key, for one new key in a few hundred, and the
    /// question is not counted among the lookups. If the key is there after all, its value is
    /// replaced, as by [`put`](Self::put). Without a filter ([`FilterChoice::None`](crate::FilterChoice::None))
    /// the caller is believed; records are counted anew at the next checkpoint then.
    pub fn insert_new(&mut self, key: impl AsRef<[u8]>, value: impl Into<Vec<u8>>) -> &mut Self {
        self.set(key, Op::InsertNew(value.into()))
    }

    /// Deletes a record, if it is there.
    pub fn delete(&mut self, key: impl AsRef<[u8]>) -> &mut Self {
        self.set(key, Op::Delete)
    }

    /// When this batch is safe. Default: what the store was opened with.
    pub fn durability(&mut self, durability: Durability) -> &mut Self {
        self.durability = Some(durability);
        self
    }

    /// Different keys in it.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ops.len()
    }

    /// Is there nothing to do?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ops.is_empty()
    }

    fn set(&mut self, key: impl AsRef<[u8]>, op: Op) -> &mut Self {
        let key = key.as_ref().to_vec();
        // "It is new" and "it may be there" together mean: it may be there.
        let op = match (op, self.ops.get(&key)) {
            (Op::InsertNew(value), Some(_)) => Op::Put(value),
            (op, _) => op,
        };
        self.ops.insert(key, op);
        self
    }
}
