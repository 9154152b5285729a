//! Lookups that miss, for tools that count instructions.

use anyhow::Result;
use twiceshy_store::StoreBuilder;
use twiceshy_store::engine::{Counting, InMemory};
use twiceshy_store::files::NoFiles;

use super::data::Data;
use super::subject::{Subject, Write, Writes};

/// Fills a store in memory and looks so many strangers up.
pub(crate) fn run(keys: u64, value_bytes: usize, count: u64) -> Result<()> {
    let data = Data { keys, value_bytes };
    let builder = StoreBuilder::new().shards(data.shards());
    let builder = builder.capacity(data.capacity());
    let store = builder.open(Counting::new(InMemory::new()), NoFiles)?;
    Writes::insert(&store, data, 0..data.keys, 1000, Write::Put)?;
    // All that can be learnt of them is learnt.
    let keys = data.strangers(0..1 << 16);
    store.ask(&keys)?;
    let before = store.counts().reads();
    let mut left = usize::try_from(count)?;
    while left > 0 {
        let some = left.min(keys.len());
        store.ask(&keys[..some])?;
        left -= some;
    }
    let reads = store.counts().reads() - before;
    println!("{count} lookups that miss, {reads} engine reads");
    Ok(())
}
