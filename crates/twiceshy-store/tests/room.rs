//! Room for fingerprints: a filter can be full in one place and empty elsewhere.

#![allow(clippy::unwrap_used)] // here, a panic is the message

mod support;

use support::front::Front;
use support::guarded::{Indexed, Listed};
use twiceshy::hash::{Hashed, Seed, Sip13};
use twiceshy_store::engine::InMemory;
use twiceshy_store::files::NoFiles;
use twiceshy_store::{Batch, Error, FilterChoice, Merged, Split, Store, StoreBuilder, WhenFull};
use twiceshy_store_testing::{Cut, FailedWrite, Failing};

/// Shards of some 1,300 slots.
const SHARDS: u64 = 2;

fn open<F: Front<Engine = InMemory>>(when_full: WhenFull) -> F {
    let builder = StoreBuilder::new()
        .capacity(1_000 * SHARDS)
        .shards(SHARDS as usize)
        .seed(Seed::from_u64(1))
        .when_full(when_full);
    F::open(builder, InMemory::new(), NoFiles).unwrap()
}

/// Keys whose hashes are among the highest: more of them than there are slots at the end of the last shard.
fn crowd() -> Vec<Vec<u8>> {
    let hash = |key: &Vec<u8>| Hashed::from_bytes::<Sip13>(&Seed::from_u64(1), key).h0();
    let keys = (0..).map(|number| format!("key{number}").into_bytes());
    keys.filter(|key| hash(key) > u64::MAX / 32 * 31)
        .take(450)
        .collect()
}

/// Slots are left, but not where one is needed: the filter grows.
#[test]
fn a_crowded_filter_grows() {
    fn run<F: Front<Engine = InMemory>>() {
        let front = open::<F>(WhenFull::Grow);
        for (number, key) in crowd().iter().enumerate() {
            front.put(key, b"value".to_vec()).unwrap();
            assert!(front.contains(key).unwrap());
            assert_eq!(front.counted(), Some(number as u64 + 1));
        }
        assert_eq!(front.verify().unwrap(), 450);
        let stats = front.stats();
        assert_eq!(stats.grows, 1, "{stats}");
        assert!(stats.load < 0.5, "{stats}");
    }
    run::<Store<InMemory, Merged>>();
    run::<Store<InMemory, Split>>();
    run::<Listed<InMemory>>();
    run::<Indexed<InMemory>>();
}

/// Where it may not grow, the crowd is refused, and others are not.
#[test]
fn a_crowded_filter_refuses_the_crowd_alone() {
    fn run<F: Front<Engine = InMemory>>() {
        let front = open::<F>(WhenFull::Refuse);
        let mut put = 0;
        let is_full = crowd().iter().any(|key| {
            let result = front.put(key, b"value".to_vec());
            put += u64::from(result.is_ok());
            matches!(result, Err(Error::Full { .. }))
        });
        assert!(is_full && put > 100, "{put}");
        front.put(b"low", b"value".to_vec()).unwrap();
        assert_eq!(front.counted(), Some(put + 1));
        assert_eq!(front.verify().unwrap(), put + 1);
    }
    run::<Store<InMemory, Merged>>();
    run::<Listed<InMemory>>();
    run::<Indexed<InMemory>>();
}

/// A batch that is refused in its last shard leaves no fingerprint in any.
#[test]
fn a_refused_batch_takes_its_fingerprints_back() {
    fn run<F: Front<Engine = InMemory>>() {
        let front = open::<F>(WhenFull::Refuse);
        front.put(b"there", b"value".to_vec()).unwrap();
        let before = front.stats().load;
        let others = (0..100).map(|number| format!("other{number}").into_bytes());
        let writes: Vec<_> = (crowd().into_iter().chain(others))
            .map(|key| (key, Some(b"value".to_vec())))
            .collect();
        let error = front.write(&writes, None).unwrap_err();
        assert!(matches!(error, Error::Full { .. }), "{error}");
        assert_eq!(front.stats().load, before);
        assert_eq!(front.counted(), Some(1));
        assert_eq!(front.verify().unwrap(), 1);
        let few: Vec<_> = writes.into_iter().rev().take(50).collect();
        front.write(&few, None).unwrap();
        assert_eq!(front.counted(), Some(51));
    }
    run::<Store<InMemory, Merged>>();
    run::<Store<InMemory, Split>>();
    run::<Listed<InMemory>>();
    run::<Indexed<InMemory>>();
}

/// A plain filter is crowded, begins to grow for a batch, and the engine fails on the way: whatever is taken
/// back, no record loses its fingerprint.
#[test]
fn a_batch_that_fails_while_a_plain_filter_grows_takes_nobodys_fingerprint() {
    let write = |keys: &[Vec<u8>]| {
        let mut batch = Batch::new();
        for key in keys {
            batch.put(key.clone(), b"value".to_vec());
        }
        batch
    };
    // First come some all over the filter, which growing passes; then more at its end than it has slots there.
    let batch: Vec<_> = (0..200)
        .map(|number| format!("all over{number}").into_bytes())
        .chain(crowd().into_iter().skip(60))
        .collect();
    let mut refused = 0;
    for fail_at in 0.. {
        let cut = Cut::new();
        // Many keys share a fingerprint.
        let builder = StoreBuilder::new()
            .capacity(1_000 * SHARDS)
            .shards(SHARDS as usize)
            .fpr(0.25)
            .seed(Seed::from_u64(1))
            .filter(FilterChoice::Plain);
        let engine = Failing::new(InMemory::new(), cut.clone(), FailedWrite::NotApplied);
        let store: Store<_, Merged> = builder.open(engine, NoFiles).unwrap();
        let spread = (0..1_200).map(|number| format!("low{number}").into_bytes());
        let there: Vec<_> = spread.chain(crowd().into_iter().take(60)).collect();
        store.write(write(&there)).unwrap();
        cut.at(fail_at);
        let result = store.write(write(&batch));
        let has_failed = cut.has_failed();
        cut.never();
        refused += u32::from(result.is_err());
        for key in &there {
            assert!(store.contains(key).unwrap(), "{fail_at}");
        }
        if !has_failed {
            break;
        }
    }
    assert!(refused > 10, "{refused}");
}
