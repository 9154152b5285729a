//! Several tables read as one: a tree of two-way merges.
//!
//! ```text
//!   table 0 ─► buffer ─┐
//!                      ├─ smaller id first ─► buffer ─┐
//!   table 1 ─► buffer ─┘                              ├─ smaller id first ─► …
//!   table 2 ─► buffer ────────────────────────────────┘
//! ```
//!
//! Which side is smaller is as good as random, so the inner loop picks it without a branch.

use std::ops::{Range, RangeInclusive};

use crate::bits::Bytes;
use crate::error::Error;
use crate::table::{Buffer, HomeSlot, Scan, Sidecar, Table};

/// The homes of all tables, in the order of their ids.
pub(crate) struct Homes<'t, S: Sidecar, M> {
    tree: Tree<'t, S, M>,
    buffer: Buffer,
    /// The ids that may still come.
    expected: RangeInclusive<u64>,
    /// Where the slots of each table start.
    bases: Vec<u64>,
}

enum Tree<'t, S: Sidecar, M> {
    Leaf(Scan<'t, S, M>),
    Fork(Box<[Branch<'t, S, M>; 2]>),
}

struct Branch<'t, S: Sidecar, M> {
    tree: Tree<'t, S, M>,
    buffer: Buffer,
}

impl<'t, S: Sidecar, M: Bytes> Homes<'t, S, M> {
    /// Reads these tables, of which there is at least one, with ids below `ids`.
    pub(crate) fn new(tables: &[&'t Table<S, M>], ids: u64) -> Self {
        let mut slots = 0;
        let bases: Vec<_> = (tables.iter())
            .map(|table| {
                let base = slots;
                slots += table.slots();
                base
            })
            .collect();
        let mut homes = Homes {
            tree: Tree::new(tables, &bases),
            buffer: Buffer::new(),
            expected: 0..=ids - 1,
            bases,
        };
        homes.refill();
        homes
    }

    fn refill(&mut self) {
        let Homes { tree, buffer, .. } = self;
        buffer.refill(|out| tree.read(out));
    }

    /// The table that a home is in, and its slot there.
    pub(crate) fn place(&self, home: HomeSlot) -> (usize, u64) {
        let source = self.bases.partition_point(|&base| base <= home.at) - 1;
        (source, home.at - self.bases[source])
    }

    /// Takes the next ones: none only at the end.
    ///
    /// # Errors
    /// [`Error::Merge`] if they are out of order, which only a damaged table shows.
    #[inline]
    pub(crate) fn chunk(&mut self) -> Result<&[HomeSlot], Error> {
        if self.buffer.homes().is_empty() {
            self.refill();
        }
        let (mut last, end) = (*self.expected.start(), *self.expected.end());
        for &home in self.buffer.homes() {
            if home.id() < last || home.id() > end {
                return Err(self.damaged(home));
            }
            last = home.id();
        }
        self.expected = last..=end;
        let all = self.buffer.homes().len();
        Ok(self.buffer.take(all))
    }

    /// Takes the next ones as long as each is alone in its minirun and not continued: what
    /// nearly all are, without a look at each. There may be none, and more later.
    #[inline]
    pub(crate) fn bare(&mut self) -> &[HomeSlot] {
        let homes = self.buffer.homes();
        let is_bare = |pair: &[HomeSlot]| pair[0].is_bare_before(pair[1]);
        let count = homes.windows(2).take_while(|pair| is_bare(pair)).count();
        // Each id is below the next one; those ends are all that is left to check.
        let (start, end) = (*self.expected.start(), *self.expected.end());
        let fit = |home: &HomeSlot| (start..=end).contains(&home.id());
        if count == 0 || !fit(&homes[0]) || !fit(&homes[count - 1]) {
            return &[];
        }
        self.expected = homes[count - 1].id()..=end;
        self.buffer.take(count)
    }

    /// The next one, which stays where it is.
    #[inline]
    pub(crate) fn peek(&self) -> Option<HomeSlot> {
        self.buffer.homes().first().copied()
    }

    /// Takes the next one.
    ///
    /// # Errors
    /// [`Error::Merge`] if it is out of order, which only a damaged table shows.
    #[inline]
    pub(crate) fn next(&mut self) -> Result<Option<HomeSlot>, Error> {
        let Some(home) = self.peek() else {
            return Ok(None);
        };
        if !self.expected.contains(&home.id()) {
            return Err(self.damaged(home));
        }
        self.expected = home.id()..=*self.expected.end();
        self.buffer.consume(1);
        if self.buffer.homes().is_empty() {
            self.refill();
        }
        Ok(Some(home))
    }

    #[cold]
    fn damaged(&self, home: HomeSlot) -> Error {
        let (source, at) = self.place(home);
        Error::merge(format!(
            "filter {source} is damaged: its fingerprints are not in order at slot {at}"
        ))
    }
}

impl<'t, S: Sidecar, M: Bytes> Tree<'t, S, M> {
    fn new(tables: &[&'t Table<S, M>], bases: &[u64]) -> Self {
        if let ([table], [base]) = (tables, bases) {
            return Tree::Leaf(table.scan(*base));
        }
        let middle = tables.len() / 2;
        let branch = |range: Range<usize>| Branch {
            tree: Tree::new(&tables[range.clone()], &bases[range]),
            buffer: Buffer::new(),
        };
        Tree::Fork(Box::new([branch(0..middle), branch(middle..tables.len())]))
    }

    /// Writes the next homes to the front of `out` and gives how many: none only at the end.
    fn read(&mut self, out: &mut [HomeSlot]) -> usize {
        let [left, right] = match self {
            Tree::Leaf(scan) => return scan.read(out),
            Tree::Fork(both) => &mut **both,
        };
        let mut count = 0;
        while count < out.len() {
            left.fill();
            right.fill();
            let (lefts, rights) = (left.buffer.homes(), right.buffer.homes());
            let out = &mut out[count..];
            let (from_left, from_right) = match (lefts, rights) {
                ([], []) => return count,
                (rest, []) => (copy(rest, out), 0),
                ([], rest) => (0, copy(rest, out)),
                _ => merge(lefts, rights, out),
            };
            left.buffer.consume(from_left);
            right.buffer.consume(from_right);
            count += from_left + from_right;
        }
        count
    }
}

impl<S: Sidecar, M: Bytes> Branch<'_, S, M> {
    fn fill(&mut self) {
        if self.buffer.homes().is_empty() {
            let Branch { tree, buffer } = self;
            buffer.refill(|out| tree.read(out));
        }
    }
}

/// Copies until one of the two is at its end; gives how many.
fn copy(homes: &[HomeSlot], out: &mut [HomeSlot]) -> usize {
    let count = homes.len().min(out.len());
    out[..count].copy_from_slice(&homes[..count]);
    count
}

/// Merges until one of the three is at its end; gives how many come from each side.
fn merge(lefts: &[HomeSlot], rights: &[HomeSlot], out: &mut [HomeSlot]) -> (usize, usize) {
    let (mut i, mut j) = (0, 0);
    for slot in out {
        let (Some(left), Some(right)) = (lefts.get(i), rights.get(j)) else {
            break;
        };
        let take_right = right.is_before(*left);
        // An index where an `if` would be a branch.
        *slot = *[left, right][usize::from(take_right)];
        j += usize::from(take_right);
        i += usize::from(!take_right);
    }
    (i, j)
}
