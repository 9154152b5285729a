//! Moving a filter's members into another one, a minirun at a time.
//!
//! [`rebuild`](AdaptiveFilter::rebuild) makes a new filter in one pass, during which nobody can
//! ask it. Where the old filter serves on, a *frontier* goes through the hash order instead:
//! below it the new filter answers, above it the old one.
//!
//! ```text
//!   old   . . . . . . . . . | 18 | 19 | …           asked at and above the frontier
//!   new   34 35 36 37 …     |                       asked below it
//!                           frontier: 18 and its keys are handed over next
//! ```

use super::AdaptiveFilter;
use super::rebuild::{Carried, pair_up, prints_of};
use crate::bits::Bytes;
use crate::error::Error;
use crate::filters::core::Core;
use crate::hash::{Hashed, StreamHash};
use crate::minirun::Minirun;
use crate::prints::Print;

impl<H: StreamHash, M: Bytes> AdaptiveFilter<H, M> {
    /// Gives all members of a minirun to `into`, each with what it has learnt: a filter of
    /// the same seed whose number of ids is a multiple of this one's, so that no mistake that
    /// was fixed comes back. `keys` are all keys of the minirun. They are the truth, as in a
    /// [`rebuild`](Self::rebuild): one without a fingerprint gets one, fingerprints without a
    /// key, ghosts among them, stay behind. This filter is left as it is.
    ///
    /// The miniruns of `into` that the keys belong to must be empty.
    ///
    /// ```
    /// use twiceshy::AdaptiveFilter;
    /// use twiceshy::hash::Seed;
    ///
    /// let new = |slots| {
    ///     let builder = AdaptiveFilter::builder().seed(Seed::from_u64(1));
    ///     builder.slots(slots).remainder_bits(6).build()
    /// };
    /// let (mut old, mut into) = (new(100)?, new(200)?);
    /// old.insert("anna")?;
    /// let key = old.hash("anna");
    /// let minirun = old.lookup_hashed(&key).expect("just inserted");
    /// old.hand_over(minirun, std::slice::from_ref(&key), &mut into)?;
    /// assert!(into.contains("anna"));
    /// # Ok::<(), twiceshy::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Mismatch`] if the filters or the keys do not fit or the minirun was handed over
    /// before, [`Error::Full`] if `into` has too few slots. Nothing has changed then: a minirun
    /// that found no room can be handed over when there is some.
    pub fn hand_over(
        &self,
        minirun: Minirun,
        keys: &[Hashed<'_>],
        into: &mut AdaptiveFilter<H>,
    ) -> Result<(), Error> {
        let (old, new) = (&self.core, &mut into.core);
        if self.seed != into.seed || new.table.geometry().ids() % old.table.geometry().ids() != 0 {
            return Err(Error::mismatch(
                "only a filter of the same seed and a multiple of the ids takes over miniruns",
            ));
        }
        if old.widths.value_bits > new.widths.value_bits {
            return Err(Error::mismatch("the other filter has fewer value bits"));
        }
        if keys.iter().any(|key| old.minirun_of(key.h0()) != minirun) {
            return Err(Error::mismatch("a key belongs to another minirun"));
        }
        let (found, _) = pair_up(&old.contents_of(minirun).prints, keys, old.widths.width);
        let found = found.into_iter().map(Option::unwrap_or_default);
        let mut members: Vec<_> = keys.iter().cloned().zip(found).collect();
        members.sort_by_key(|(key, _)| key.h0());
        let id = |member: &(Hashed<'_>, Carried)| new.table.geometry().id(member.0.h0());
        let miniruns: Vec<_> = members.chunk_by(|a, b| id(a) == id(b)).collect();
        for (i, members) in miniruns.iter().enumerate() {
            if let Err(error) = admit(new, members) {
                for members in &miniruns[..i] {
                    send_back(new, members)?;
                }
                return Err(error);
            }
        }
        Ok(())
    }
}

/// Fills a new minirun with its members.
fn admit(new: &mut Core, members: &[(Hashed<'_>, Carried)]) -> Result<(), Error> {
    let minirun = new.minirun_of(members[0].0.h0());
    let contents = new.contents_of(minirun);
    if !contents.prints.iter().all(Print::is_ghost) {
        return Err(Error::mismatch("the minirun has been handed over before"));
    }
    let mut prints = prints_of(members, new.widths.width)?;
    prints.extend_from_slice(&contents.prints);
    new.replace(minirun, &contents, prints)
}

/// Empties a minirun that was just filled, but for its ghosts. That takes no slots.
fn send_back(new: &mut Core, members: &[(Hashed<'_>, Carried)]) -> Result<(), Error> {
    let minirun = new.minirun_of(members[0].0.h0());
    let contents = new.contents_of(minirun);
    let ghosts = contents.prints.iter().filter(|print| print.is_ghost());
    let ghosts = ghosts.cloned().collect();
    new.replace(minirun, &contents, ghosts)
}
