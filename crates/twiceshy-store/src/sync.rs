//! The locks, in one place, so that a model checker can put its own in theirs.
//!
//! A panic while one of them is held leaves nothing half done that another thread could not go
//! on from (the engine is the truth and filters only ever say "maybe" too often), so
//! poisoning is ignored. Only an engine that panics in the middle of a step of a rotation leaves
//! a store that has to be opened again.

#[cfg(not(twiceshy_shuttle))]
use std::sync as imp;
use std::sync::PoisonError;

#[cfg(twiceshy_shuttle)]
use shuttle::sync as imp;

pub(crate) use imp::{MutexGuard, RwLockReadGuard, RwLockWriteGuard};

/// A mutex that knows no poison.
#[derive(Debug, Default)]
pub(crate) struct Mutex<T>(imp::Mutex<T>);

impl<T> Mutex<T> {
    pub(crate) fn new(value: T) -> Self {
        Mutex(imp::Mutex::new(value))
    }

    pub(crate) fn into_inner(self) -> T {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A readers-writer lock that knows no poison.
#[derive(Debug, Default)]
pub(crate) struct RwLock<T>(imp::RwLock<T>);

impl<T> RwLock<T> {
    pub(crate) fn new(value: T) -> Self {
        RwLock(imp::RwLock::new(value))
    }

    #[inline]
    pub(crate) fn read(&self) -> RwLockReadGuard<'_, T> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn write(&self) -> RwLockWriteGuard<'_, T> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a [`Shared`] is made of: on a real machine a lock for each few threads, of which a reader takes its
/// own and a writer all.
#[cfg(not(twiceshy_shuttle))]
mod shared_imp {
    pub(crate) use crossbeam_utils::sync::{
        ShardedLock as Lock, ShardedLockReadGuard as ReadGuard, ShardedLockWriteGuard as WriteGuard,
    };
}
#[cfg(twiceshy_shuttle)]
mod shared_imp {
    pub(crate) use shuttle::sync::{
        RwLock as Lock, RwLockReadGuard as ReadGuard, RwLockWriteGuard as WriteGuard,
    };
}

/// A readers-writer lock for what is read all the time: two readers on two cores do not pass a
/// cache line to and fro. Writers pay for that, some 100 ns.
#[derive(Debug)]
pub(crate) struct Shared<T>(shared_imp::Lock<T>);

impl<T> Shared<T> {
    pub(crate) fn new(value: T) -> Self {
        Shared(shared_imp::Lock::new(value))
    }

    #[inline]
    pub(crate) fn read(&self) -> shared_imp::ReadGuard<'_, T> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn write(&self) -> shared_imp::WriteGuard<'_, T> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A condition variable that knows no poison.
#[derive(Debug, Default)]
pub(crate) struct Condvar(imp::Condvar);

impl Condvar {
    pub(crate) fn wait<'g, T>(&self, guard: MutexGuard<'g, T>) -> MutexGuard<'g, T> {
        self.0.wait(guard).unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn notify_one(&self) {
        self.0.notify_one();
    }
}

/// A lock without a guard: for those who hold it longer than a scope, or would rather skip than wait.
#[derive(Debug, Default)]
pub(crate) struct Latch {
    state: Mutex<LatchState>,
    given_back: Condvar,
}

#[derive(Debug, Default)]
struct LatchState {
    is_taken: bool,
    /// Those who wait for it: waking nobody would be a call of the system for nothing.
    waiting: usize,
}

impl Latch {
    /// Waits for it.
    pub(crate) fn wait(&self) {
        let mut state = self.state.lock();
        while state.is_taken {
            state.waiting += 1;
            state = self.given_back.wait(state);
            state.waiting -= 1;
        }
        state.is_taken = true;
    }

    /// Takes it, if nobody has it.
    pub(crate) fn take(&self) -> bool {
        !std::mem::replace(&mut self.state.lock().is_taken, true)
    }

    pub(crate) fn give_back(&self) {
        let mut state = self.state.lock();
        state.is_taken = false;
        let somebody_waits = state.waiting > 0;
        drop(state);
        if somebody_waits {
            self.given_back.notify_one();
        }
    }
}

/// What one thread at a time does, for those that would rather skip it than wait.
#[derive(Debug, Default)]
pub(crate) struct Busy {
    busy: Mutex<bool>,
    done: Condvar,
}

impl Busy {
    /// Runs `work` unless another thread is at it.
    pub(crate) fn unless_busy<T>(&self, work: impl FnOnce() -> T) -> Option<T> {
        if std::mem::replace(&mut *self.busy.lock(), true) {
            return None;
        }
        let _done = Done(self);
        Some(work())
    }

    /// Runs `work` when no other thread is at it.
    pub(crate) fn when_free<T>(&self, work: impl FnOnce() -> T) -> T {
        let mut busy = self.busy.lock();
        while *busy {
            busy = self.done.wait(busy);
        }
        *busy = true;
        drop(busy);
        let _done = Done(self);
        work()
    }
}

/// Marks the work as done, also if it panicked.
struct Done<'b>(&'b Busy);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        *self.0.busy.lock() = false;
        self.0.done.notify_one();
    }
}
