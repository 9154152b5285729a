//! What a commit does.

use super::Table;

/// One change of one entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// Writes a value, whether there is one or not.
    Put {
        /// Where.
        table: Table,
        /// Under which key.
        key: Vec<u8>,
        /// What.
        value: Vec<u8>,
    },
    /// Removes an entry, if it is there.
    Delete {
        /// Where.
        table: Table,
        /// Which.
        key: Vec<u8>,
    },
}

/// Changes that are made together, in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    list: Vec<Change>,
}

impl Changes {
    /// None yet.
    #[must_use]
    pub fn new() -> Self {
        Changes::default()
    }

    /// Writes a value, whether there is one or not.
    pub fn put(&mut self, table: Table, key: impl Into<Vec<u8>>, value: impl Into<Vec<u8>>) {
        self.list.push(Change::Put {
            table,
            key: key.into(),
            value: value.into(),
        });
    }

    /// Removes an entry, if it is there.
    pub fn delete(&mut self, table: Table, key: impl Into<Vec<u8>>) {
        let key = key.into();
        self.list.push(Change::Delete { table, key });
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Is there none?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Change> {
        self.list.iter()
    }
}
