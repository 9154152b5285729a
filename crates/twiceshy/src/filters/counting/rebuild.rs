//! Rebuilding with the keys: any size, any false-positive rate, any seed.

use super::CountingFilter;
use super::core::Counting;
use crate::bits::Bytes;
use crate::error::Error;
use crate::filters::core::fill::Fill;
use crate::hash::{Hashed, StreamHash};
use crate::merge::too_full;
use crate::prints::Print;

impl<H: StreamHash, M: Bytes> CountingFilter<H, M> {
    /// Builds this filter anew in `into`, another filter of any geometry and seed, from all
    /// its distinct keys: hashed with the seed of `into`, and in hash order. Each takes its
    /// count along, which stays as right as it was: never too low. Keys that shared a
    /// fingerprint each get the sum of their counts, as they answered before; where they share
    /// the new one too, it counts once. A key without a count gets one.
    ///
    /// What `into` held is forgotten. (A [`QuotientFilter`](crate::QuotientFilter) knows
    /// nothing but its keys: to rebuild one is to build one.)
    ///
    /// # Errors
    /// [`Error::Mismatch`] if the keys are not in hash order, [`Error::Full`] if the counts
    /// need more slots, [`Error::Overflow`] if one becomes too large.
    ///
    /// ```
    /// use twiceshy::CountingFilter;
    /// use twiceshy::hash::{Hashed, Seed, Sip13};
    ///
    /// let mut filter = CountingFilter::new(100, 0.01)?;
    /// filter.insert_count("anna", 700)?;
    /// filter.insert("otto")?;
    /// let seed = Seed::from_u64(2);
    /// let into = CountingFilter::builder().capacity(1_000).fpr(0.001).seed(seed).build()?;
    /// let mut keys = ["anna", "otto"].map(|key| Hashed::new::<Sip13, _>(&seed, key));
    /// keys.sort_by_key(Hashed::h0);
    /// let larger = filter.rebuild(into, keys)?;
    /// assert_eq!((larger.count("anna"), larger.count("otto")), (700, 1));
    /// # Ok::<(), twiceshy::Error>(())
    /// ```
    pub fn rebuild<'k>(
        &self,
        into: CountingFilter<H>,
        keys: impl IntoIterator<Item = Hashed<'k>>,
    ) -> Result<CountingFilter<H>, Error> {
        let used = self.core.marks.table.used();
        let mut fill = Fill::new(into.core.marks);
        let mut last = 0;
        // The new fingerprint being collected: its count, and the old ones in it.
        let mut id = 0;
        let mut count = 0_u64;
        let mut olds: Vec<u64> = Vec::new();
        let flush = |fill: &mut Fill, id, count| {
            if count == 0 {
                return Ok(());
            }
            fill.print(id, &Print::new(count, 0))
                .map_err(|error| too_full(error, used))
        };
        for key in keys {
            let h0 = key.h0();
            if h0 < last {
                return Err(Error::mismatch(
                    "the keys are not in hash order; sort them by `h0` under the new filter's \
                     seed",
                ));
            }
            last = h0;
            if fill.geometry().id(h0) != id {
                flush(&mut fill, id, count)?;
                id = fill.geometry().id(h0);
                count = 0;
                olds.clear();
            }
            let old = match key.key() {
                Some(bytes) if self.seed != into.seed => {
                    Hashed::from_bytes::<H>(&self.seed, bytes).h0()
                }
                _ => h0,
            };
            let old_id = self.core.marks.table.geometry().id(old);
            if !olds.contains(&old_id) {
                olds.push(old_id);
                let more = self.core.count(old).max(1);
                count = count.checked_add(more).ok_or(Error::Overflow)?;
            }
        }
        flush(&mut fill, id, count)?;
        Ok(CountingFilter {
            core: Counting::filled(fill),
            ..into
        })
    }
}
