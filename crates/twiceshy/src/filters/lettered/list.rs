//! The letters of a block, taken out of their code.

/// Up to 64 letters in the order of their slots.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Letters<L> {
    slots: [u8; 64],
    letters: [L; 64],
    len: usize,
}

impl<L: Copy + Default> Letters<L> {
    #[inline(always)]
    pub(crate) fn new() -> Self {
        Letters {
            slots: [0; 64],
            letters: [L::default(); 64],
            len: 0,
        }
    }

    #[inline(always)]
    pub(crate) fn clear(&mut self) {
        self.len = 0;
    }

    /// Adds a letter behind the others; there are never more than 64.
    #[inline(always)]
    pub(crate) fn push(&mut self, slot: u32, letter: L) {
        debug_assert!(self.len < 64 && self.iter().all(|(last, _)| last < slot));
        let at = self.len & 63;
        self.slots[at] = slot as u8;
        self.letters[at] = letter;
        self.len = at + 1;
    }

    #[inline(always)]
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, L)> + '_ {
        let len = self.len.min(64);
        let slots = self.slots[..len].iter().map(|&slot| u32::from(slot));
        slots.zip(self.letters[..len].iter().copied())
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
