//! The tables of a store.

/// One of the tables that a store keeps in its engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Table {
    /// What the store knows of itself: version, layout, seeds, epochs. A few short entries.
    Meta,
    /// Records under their own keys, in the split layout.
    Records,
    /// What is in hash order, under `h0` + key: the records of the merged layout, the reverse
    /// map of the split one. A change of seed moves everything from one of these two tables to
    /// the other.
    Even,
    /// The other one.
    Odd,
}

impl Table {
    /// All of them.
    pub const ALL: [Table; 4] = [Table::Meta, Table::Records, Table::Even, Table::Odd];

    /// Its name in a database that names its tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Table::Meta => "meta",
            Table::Records => "records",
            Table::Even => "even",
            Table::Odd => "odd",
        }
    }

    /// Its place in [`ALL`](Self::ALL).
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }
}
