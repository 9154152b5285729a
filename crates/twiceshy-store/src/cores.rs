//! Work on all cores.

use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;

/// As many threads at most: each has the keys of a shard in memory.
const MOST: usize = 16;

/// Gives each item to `work` on some core, and what becomes of it to `each`, in no order. Items are
/// taken, and results given, on the calling thread, so that neither has to be one that others may
/// use. The first error is the last of it.
pub(crate) fn on_all_cores<T, U, E, F>(
    items: impl ExactSizeIterator<Item = Result<T, E>>,
    work: impl Fn(T) -> Result<U, F> + Sync,
    mut each: impl FnMut(U),
) -> Result<(), E>
where
    T: Send,
    U: Send,
    F: Send,
    E: From<F>,
{
    let threads = cores().min(items.len());
    if threads <= 1 {
        for item in items {
            each(work(item?)?);
        }
        return Ok(());
    }
    thread::scope(|scope| {
        // No item is taken before a thread is free, so that there are few of them at a time.
        let (give, waiting) = mpsc::sync_channel(0);
        let (done, results) = mpsc::channel();
        let waiting = Arc::new(Mutex::new(waiting));
        let mut spawned = 0;
        for _ in 0..threads {
            let (waiting, done, work) = (Arc::clone(&waiting), done.clone(), &work);
            let thread = thread::Builder::new().spawn_scoped(scope, move || {
                let next = || (waiting.lock().unwrap_or_else(PoisonError::into_inner)).recv();
                // After an error, nobody takes results.
                while let Ok(item) = next()
                    && done.send(work(item)).is_ok()
                {}
            });
            // Where the system has no thread to give, fewer do.
            spawned += usize::from(thread.is_ok());
        }
        // Where all of them have panicked, there is nobody to wait for.
        drop((waiting, done));
        for item in items {
            if spawned == 0 {
                each(work(item?)?);
                continue;
            }
            if give.send(item?).is_err() {
                break;
            }
            for result in results.try_iter() {
                each(result?);
            }
        }
        drop(give);
        for result in results {
            each(result?);
        }
        Ok(())
    })
}

/// How many threads can work at the same time. The model checker knows only its own.
fn cores() -> usize {
    match cfg!(twiceshy_shuttle) {
        true => 1,
        false => thread::available_parallelism()
            .map_or(1, usize::from)
            .min(MOST),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::rc::Rc;

    use super::*;

    #[test]
    fn all_of_it_is_done_once() {
        // What is not for other threads stays on this one.
        let (taken, seen) = (Rc::new(()), Rc::new(()));
        let mut done = BTreeSet::new();
        let items = (0..1_000_u32).map(|item| {
            let _ = &taken;
            Ok::<_, u32>(item)
        });
        let result = on_all_cores(
            items,
            |item| Ok::<_, u32>(2 * item),
            |twice| {
                let _ = &seen;
                assert!(done.insert(twice));
            },
        );
        assert_eq!(result, Ok(()));
        assert!(done.into_iter().eq((0..1_000).map(|item| 2 * item)));
    }

    #[test]
    fn an_error_is_the_end() {
        let to_hundred = |item| if item == 100 { Err(item) } else { Ok(item) };
        let mut done = 0;
        let all = (0..10_000_u32).map(Ok::<_, u32>);
        assert_eq!(on_all_cores(all, to_hundred, |_| done += 1), Err(100));
        assert!(done < 10_000);
        let some = (0..10_000_u32).map(to_hundred);
        assert_eq!(on_all_cores(some, Ok::<_, u32>, |_| ()), Err(100));
    }

    #[test]
    fn a_panic_comes_through() {
        let work = |_| -> Result<(), ()> { panic!("as it should") };
        let all = || on_all_cores((0..100).map(Ok::<_, ()>), work, |()| ());
        assert!(catch_unwind(AssertUnwindSafe(all)).is_err());
    }
}
