//! A map in memory.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};

use super::{Bounds, Change, Changes, Durability, Engine, EngineError, Snapshot, Table, is_empty};

type Tree = BTreeMap<Vec<u8>, Vec<u8>>;

/// Tables in memory, lost with the process. A snapshot shares the tables; the first commit after one copies
/// what it changes.
#[derive(Debug, Default)]
pub struct InMemory {
    tables: Mutex<[Arc<Tree>; Table::ALL.len()]>,
}

impl InMemory {
    /// Empty tables.
    #[must_use]
    pub fn new() -> Self {
        InMemory::default()
    }
}

/// A copy goes its own way. The two share each table until one of them changes it.
impl Clone for InMemory {
    fn clone(&self) -> Self {
        let tables = self.tables.lock().unwrap_or_else(PoisonError::into_inner);
        InMemory {
            tables: Mutex::new(tables.clone()),
        }
    }
}

impl Engine for InMemory {
    type Snapshot<'e> = InMemorySnapshot;

    fn snapshot(&self) -> Result<InMemorySnapshot, EngineError> {
        let tables = self.tables.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(InMemorySnapshot {
            tables: tables.clone(),
        })
    }

    fn write(&self, changes: &Changes, _durability: Durability) -> Result<(), EngineError> {
        let mut tables = self.tables.lock().unwrap_or_else(PoisonError::into_inner);
        for change in changes.iter() {
            match change {
                Change::Put { table, key, value } => {
                    let tree = Arc::make_mut(&mut tables[table.index()]);
                    tree.insert(key.clone(), value.clone());
                }
                Change::Delete { table, key } => {
                    Arc::make_mut(&mut tables[table.index()]).remove(key);
                }
            }
        }
        Ok(())
    }

    fn sync(&self) -> Result<(), EngineError> {
        Ok(())
    }

    fn max_key_len(&self) -> usize {
        usize::MAX
    }

    fn name(&self) -> &'static str {
        "memory"
    }
}

/// The tables of an [`InMemory`] at one moment.
#[derive(Debug)]
pub struct InMemorySnapshot {
    tables: [Arc<Tree>; Table::ALL.len()],
}

impl Snapshot for InMemorySnapshot {
    fn get<T>(
        &self,
        table: Table,
        key: &[u8],
        read: impl FnOnce(&[u8]) -> T,
    ) -> Result<Option<T>, EngineError> {
        Ok(self.tables[table.index()].get(key).map(|value| read(value)))
    }

    fn range(
        &self,
        table: Table,
        bounds: Bounds<'_>,
        mut each: impl FnMut(&[u8], &[u8]) -> ControlFlow<()>,
    ) -> Result<(), EngineError> {
        if is_empty(bounds) {
            return Ok(());
        }
        for (key, value) in self.tables[table.index()].range::<[u8], _>(bounds) {
            if each(key, value).is_break() {
                break;
            }
        }
        Ok(())
    }
}
