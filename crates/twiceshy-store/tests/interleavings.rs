//! Interleavings that a random schedule hardly ever finds, played out on purpose: an engine that
//! stops a chosen call until the test lets it go on.

#![allow(clippy::unwrap_used)] // here, a panic is the message

mod support;

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;

use support::front::Front;
use support::guarded::{Indexed, Listed};
use twiceshy::hash::{Hashed, Seed, Sip13};
use twiceshy_store::engine::{Changes, EngineError, InMemory, InMemorySnapshot};
use twiceshy_store::files::NoFiles;
use twiceshy_store::{Durability, Engine, Merged, Split, Store, StoreBuilder};

/// Stops the next commit before it happens, or the next snapshot before or after it is taken.
#[derive(Default)]
struct Stopping {
    inner: InMemory,
    commits: Stop,
    before_snapshots: Stop,
    snapshots: Stop,
}

#[derive(Default)]
struct Stop(Mutex<Option<(Sender<()>, Receiver<()>)>>);

/// The test's end of a stop.
struct Held {
    reached: Receiver<()>,
    go_on: Sender<()>,
}

impl Stop {
    /// Stops the next call.
    fn next(&self) -> Held {
        let ((say_reached, reached), (go_on, wait)) = (channel(), channel());
        *self.0.lock().unwrap() = Some((say_reached, wait));
        Held { reached, go_on }
    }

    /// Waits, if it is this call's turn.
    fn here(&self) {
        let stop = self.0.lock().unwrap().take();
        if let Some((reached, wait)) = stop {
            reached.send(()).unwrap();
            wait.recv().unwrap();
        }
    }
}

impl Engine for Stopping {
    type Snapshot<'e> = InMemorySnapshot;

    fn snapshot(&self) -> Result<InMemorySnapshot, EngineError> {
        self.before_snapshots.here();
        let snapshot = self.inner.snapshot();
        self.snapshots.here();
        snapshot
    }

    fn write(&self, changes: &Changes, durability: Durability) -> Result<(), EngineError> {
        self.commits.here();
        self.inner.write(changes, durability)
    }

    fn sync(&self) -> Result<(), EngineError> {
        self.inner.sync()
    }

    fn max_key_len(&self) -> usize {
        self.inner.max_key_len()
    }

    fn name(&self) -> &'static str {
        "stopping"
    }
}

type InMerged = Store<Stopping, Merged>;
type InSplit = Store<Stopping, Split>;

fn open<F: Front<Engine = Stopping>>() -> Arc<F> {
    let builder = StoreBuilder::new().capacity(1).shards(1).fpr(0.5);
    let builder = builder.seed(Seed::from_u64(1));
    Arc::new(F::open(builder, Stopping::default(), NoFiles).unwrap())
}

/// Keys whose hashes start with the same byte: one minirun, in filters as small as these.
fn neighbours<const N: usize>() -> [Vec<u8>; N] {
    let first_byte = |key: &Vec<u8>| {
        let seed = Seed::from_u64(1);
        Hashed::from_bytes::<Sip13>(&seed, key).h0() >> 56
    };
    let found: Vec<_> = (0..)
        .map(|number| format!("neighbour{number}").into_bytes())
        .filter(|key| first_byte(key) == 77)
        .take(N)
        .collect();
    found.try_into().unwrap()
}

/// Runs `work` in a thread of its own.
fn start<F: Front, T: Send + 'static>(
    front: &Arc<F>,
    work: impl FnOnce(&F) -> T + Send + 'static,
) -> thread::JoinHandle<T> {
    let front = Arc::clone(front);
    thread::spawn(move || work(&front))
}

/// The filter is asked when the new fingerprint is in, the keys are read before the new key is
/// committed, and the lesson comes when all is over. With those keys, it would take the new
/// fingerprint for surplus.
#[test]
fn a_lesson_with_keys_from_before_a_commit() {
    fn run<F: Front<Engine = Stopping>>() {
        let store = open::<F>();
        let [member, new, stranger] = neighbours();
        store.put(&member, b"old".to_vec()).unwrap();

        let commit = store.engine().commits.next();
        let putting = start(&store, {
            let new = new.clone();
            move |store| store.insert_new(&new, b"new".to_vec()).unwrap()
        });
        commit.reached.recv().unwrap();
        let snapshot = store.engine().snapshots.next();
        let asking = start(&store, move |store| store.contains(&stranger).unwrap());
        snapshot.reached.recv().unwrap();
        commit.go_on.send(()).unwrap();
        putting.join().unwrap();
        snapshot.go_on.send(()).unwrap();
        assert!(!asking.join().unwrap());

        assert!(store.contains(&new).unwrap(), "a put is lost");
        assert!(store.contains(&member).unwrap(), "a member is lost");
        store.verify().unwrap();
    }
    run::<InMerged>();
    run::<InSplit>();
    run::<Listed<Stopping>>();
    run::<Indexed<Stopping>>();
}

/// The keys are read while a key is there that is deleted before the lesson comes.
#[test]
fn a_lesson_with_a_key_that_is_deleted() {
    fn run<F: Front<Engine = Stopping>>() {
        let store = open::<F>();
        let [member, gone, stranger] = neighbours();
        store.put(&member, b"old".to_vec()).unwrap();
        store.put(&gone, b"old".to_vec()).unwrap();

        let snapshot = store.engine().snapshots.next();
        let asking = start(&store, {
            let stranger = stranger.clone();
            move |store| store.contains(&stranger).unwrap()
        });
        snapshot.reached.recv().unwrap();
        assert!(store.delete(&gone).unwrap());
        snapshot.go_on.send(()).unwrap();
        assert!(!asking.join().unwrap());

        assert!(store.contains(&member).unwrap(), "a member is lost");
        assert!(!store.contains(&gone).unwrap());
        // It was learnt all the same, with the keys as they are now.
        let before = store.stats().false_positives;
        assert!(!store.contains(&stranger).unwrap());
        assert_eq!(store.stats().false_positives, before);
        store.verify().unwrap();
    }
    run::<InMerged>();
    run::<InSplit>();
    run::<Listed<Stopping>>();
    run::<Indexed<Stopping>>();
}

/// The filter is asked, the seed changes and all records move, once or twice, and then the engine
/// is read where the record was.
#[test]
fn a_get_whose_record_moves() {
    fn run<F: Front<Engine = Stopping>>(rotations: u32) {
        let store = open::<F>();
        let [member] = neighbours();
        store.put(&member, b"old".to_vec()).unwrap();
        let snapshot = store.engine().before_snapshots.next();
        let asking = start(&store, move |store| store.get(&member).unwrap());
        snapshot.reached.recv().unwrap();
        for _ in 0..rotations {
            store.rotate().unwrap();
            store.finish_rotation().unwrap();
        }
        snapshot.go_on.send(()).unwrap();
        assert_eq!(asking.join().unwrap(), Some(b"old".to_vec()));
    }
    for rotations in 1..=3 {
        run::<InMerged>(rotations);
        run::<InSplit>(rotations);
    }
}

/// A get does not wait for a commit, not even one that finds a false positive in the shard that
/// is being written; and the writer learns it.
#[test]
fn nobody_who_reads_waits_for_a_commit() {
    fn run<F: Front<Engine = Stopping>>() {
        let store = open::<F>();
        let [member, new, stranger] = neighbours();
        store.put(&member, b"old".to_vec()).unwrap();
        let commit = store.engine().commits.next();
        let putting = start(&store, {
            let new = new.clone();
            move |store| store.insert_new(&new, b"new".to_vec()).unwrap()
        });
        commit.reached.recv().unwrap();
        // All of this happens while the commit is held.
        assert!(!store.contains(&stranger).unwrap());
        assert!(!store.contains(&new).unwrap(), "not committed yet");
        assert!(store.contains(&member).unwrap());
        commit.go_on.send(()).unwrap();
        putting.join().unwrap();
        assert!(store.contains(&new).unwrap());
        let before = store.stats().false_positives;
        assert!(!store.contains(&stranger).unwrap());
        assert_eq!(
            store.stats().false_positives,
            before,
            "a mistake is made twice"
        );
    }
    run::<InMerged>();
    run::<InSplit>();
    // A guard commits nothing itself where the rows are their own index.
    run::<Indexed<Stopping>>();
}
