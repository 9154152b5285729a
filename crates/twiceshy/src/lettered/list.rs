//! The letters of a block, taken out of their code.

/// Up to 64 letters in the order of their slots.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Letters<L> {
    items: [(u32, L); 64],
    len: usize,
}

impl<L: Copy + Default> Letters<L> {
    #[inline(always)]
    pub(crate) fn new() -> Self {
        Letters {
            items: [(0, L::default()); 64],
            len: 0,
        }
    }

    /// Adds a letter behind the others.
    #[inline(always)]
    pub(crate) fn push(&mut self, slot: u32, letter: L) {
        debug_assert!(self.as_slice().last().is_none_or(|&(last, _)| last < slot));
        if let Some(item) = self.items.get_mut(self.len) {
            *item = (slot, letter);
            self.len += 1;
        }
    }

    #[inline(always)]
    pub(crate) fn as_slice(&self) -> &[(u32, L)] {
        &self.items[..self.len]
    }

    #[inline(always)]
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, L)> + '_ {
        self.as_slice().iter().copied()
    }

    /// Keeps the letters of some slots.
    pub(crate) fn retain(&mut self, keep: impl Fn(u32) -> bool) {
        let mut kept = Letters::new();
        for (slot, letter) in self.iter().filter(|&(slot, _)| keep(slot)) {
            kept.push(slot, letter);
        }
        *self = kept;
    }

    /// The first slot behind `slot`, around the end, that has a letter and may lose it.
    pub(crate) fn victim(&self, slot: u32, may: impl Fn(u32) -> bool) -> Option<u32> {
        let slots = || self.iter().map(|(slot, _)| slot).filter(|&slot| may(slot));
        slots().find(|&next| next > slot).or_else(|| slots().next())
    }
}
