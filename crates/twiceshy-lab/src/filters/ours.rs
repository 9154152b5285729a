//! Our filters, by name.

use anyhow::Result;
use twiceshy::bloom::{BitFilter, OneLine, Planned, Scattered};
use twiceshy::bulk::BulkLoad;
use twiceshy::cuckoo::{
    AdaptiveCuckooFilter, Alternate, Anywhere, Bins, MemoryCells, Near, PartialKeyFilter, Scheme,
};
use twiceshy::hash::{Sip13, StreamHash, Xxh3};
use twiceshy::sets::{Counted, Learner, MemoryMap, Policy};
use twiceshy::{
    AdaptiveFilter, Buildable, Builder, CountingFilter, Error, ExtensionFilter, Insert,
    PlainTelescopingFilter, QuotientFilter, TelescopingFilter,
};

use super::alone::{Alone, Can, count};
use super::keyed::Keyed;
use super::members::Among;
use super::{Contender, Entry, Order, Set, Shape};

pub(super) const ADAPTIVE: Entry = Entry {
    name: "adaptive",
    about: "adaptive quotient filter; adapts to every mistake; XXH3",
    learns: true,
    with_keys: Some(|shape| keyed::<AdaptiveFilter<Xxh3>>(shape, Policy::Always)),
    alone: Some(adaptive::<Xxh3>),
};

pub(super) const ADAPTIVE_SIP: Entry = Entry {
    name: "adaptive/sip",
    about: "the same with SipHash-1-3, the default",
    learns: true,
    with_keys: Some(|shape| keyed::<AdaptiveFilter<Sip13>>(shape, Policy::Always)),
    alone: Some(adaptive::<Sip13>),
};

pub(super) const ADAPTIVE_2ND: Entry = Entry {
    name: "adaptive, 2nd mistake",
    about: "adaptive quotient filter; adapts at the second mistake of a minirun",
    learns: true,
    with_keys: Some(|shape| keyed::<AdaptiveFilter<Xxh3>>(shape, Policy::AfterRepeats(2))),
    alone: None,
};

pub(super) const ADAPTIVE_8TH: Entry = Entry {
    name: "adaptive, 8th mistake",
    about: "adaptive quotient filter; adapts at the eighth mistake of a minirun",
    learns: true,
    with_keys: Some(|shape| keyed::<AdaptiveFilter<Xxh3>>(shape, Policy::AfterRepeats(8))),
    alone: None,
};

pub(super) const QUOTIENT: Entry = Entry {
    name: "quotient",
    about: "quotient filter (QF, RSQF); XXH3",
    learns: false,
    with_keys: Some(|shape| Ok(Box::new(quotient::<Xxh3>(shape)?))),
    alone: Some(|shape| Ok(Box::new(quotient::<Xxh3>(shape)?))),
};

pub(super) const QUOTIENT_SIP: Entry = Entry {
    name: "quotient/sip",
    about: "the same with SipHash-1-3, the default",
    learns: false,
    with_keys: Some(|shape| Ok(Box::new(quotient::<Sip13>(shape)?))),
    alone: Some(|shape| Ok(Box::new(quotient::<Sip13>(shape)?))),
};

pub(super) const COUNTING: Entry = Entry {
    name: "counting",
    about: "counting quotient filter; each key once; XXH3",
    learns: false,
    with_keys: Some(|shape| Ok(Box::new(counting(shape)?))),
    alone: Some(|shape| Ok(Box::new(counting(shape)?))),
};

pub(super) const TELESCOPING: Entry = Entry {
    name: "telescoping",
    about: "telescoping filter (TAF, TQF): hash selectors in an arithmetic code",
    learns: true,
    with_keys: Some(|shape| keyed::<TelescopingFilter<Xxh3>>(shape, Policy::Always)),
    alone: Some(coded::<TelescopingFilter<Xxh3>>),
};

pub(super) const TELESCOPING_UNCODED: Entry = Entry {
    name: "telescoping, uncoded",
    about: "telescoping filter with three bits a slot (uTAF)",
    learns: true,
    with_keys: Some(|shape| keyed::<PlainTelescopingFilter<Xxh3>>(shape, Policy::Always)),
    alone: Some(coded::<PlainTelescopingFilter<Xxh3>>),
};

pub(super) const EXTENSION: Entry = Entry {
    name: "extension",
    about: "extension filter (exAF): coded extensions, fixed space",
    learns: true,
    with_keys: Some(|shape| keyed::<ExtensionFilter<Xxh3>>(shape, Policy::Always)),
    alone: Some(coded::<ExtensionFilter<Xxh3>>),
};

const CYCLIC: &str = "adaptive cuckoo filter with so many selector bits beside each fingerprint";

pub(super) const CYCLIC_1: Entry = Entry {
    name: "cyclic-1",
    about: CYCLIC,
    learns: true,
    with_keys: Some(|shape| Ok(Box::new(moving::<Counted<MemoryCells>>(shape, cyclic(1))?))),
    alone: Some(|shape| Ok(Box::new(moving::<MemoryCells>(shape, cyclic(1))?))),
};

pub(super) const CYCLIC_2: Entry = Entry {
    name: "cyclic-2",
    about: CYCLIC,
    learns: true,
    with_keys: Some(|shape| Ok(Box::new(moving::<Counted<MemoryCells>>(shape, cyclic(2))?))),
    alone: Some(|shape| Ok(Box::new(moving::<MemoryCells>(shape, cyclic(2))?))),
};

pub(super) const CYCLIC_3: Entry = Entry {
    name: "cyclic-3",
    about: CYCLIC,
    learns: true,
    with_keys: Some(|shape| Ok(Box::new(moving::<Counted<MemoryCells>>(shape, cyclic(3))?))),
    alone: Some(|shape| Ok(Box::new(moving::<MemoryCells>(shape, cyclic(3))?))),
};

pub(super) const SWAPPING: Entry = Entry {
    name: "swapping",
    about: "adaptive cuckoo filter, buckets of four; to adapt, two keys change places",
    learns: true,
    with_keys: Some(|shape| {
        Ok(Box::new(moving::<Counted<MemoryCells>>(
            shape,
            Scheme::Swapping,
        )?))
    }),
    alone: Some(|shape| Ok(Box::new(moving::<MemoryCells>(shape, Scheme::Swapping)?))),
};

pub(super) const CUCKOOING: Entry = Entry {
    name: "cuckooing",
    about: "adaptive cuckoo filter; to adapt, a key moves to another place",
    learns: true,
    with_keys: Some(|shape| {
        Ok(Box::new(moving::<Counted<MemoryCells>>(
            shape,
            Scheme::Cuckooing,
        )?))
    }),
    alone: Some(|shape| Ok(Box::new(moving::<MemoryCells>(shape, Scheme::Cuckooing)?))),
};

pub(super) const CUCKOO: Entry = Entry {
    name: "cuckoo",
    about: "cuckoo filter (CF), buckets of four; XXH3",
    learns: false,
    with_keys: Some(|shape| Ok(Box::new(buckets::<Anywhere>(shape)?))),
    alone: Some(|shape| Ok(Box::new(buckets::<Anywhere>(shape)?))),
};

pub(super) const VACUUM: Entry = Entry {
    name: "vacuum",
    about: "vacuum filter, buckets of four; XXH3",
    learns: false,
    with_keys: Some(|shape| Ok(Box::new(buckets::<Near>(shape)?))),
    alone: Some(|shape| Ok(Box::new(buckets::<Near>(shape)?))),
};

pub(super) const BLOOM: Entry = Entry {
    name: "bloom",
    about: "Bloom filter; XXH3; can't remove",
    learns: false,
    with_keys: Some(|shape| Ok(Box::new(bits::<Scattered>(shape)?))),
    alone: Some(|shape| Ok(Box::new(bits::<Scattered>(shape)?))),
};

pub(super) const BLOCKED: Entry = Entry {
    name: "blocked bloom",
    about: "Bloom filter of one cache line a key; XXH3; can't remove",
    learns: false,
    with_keys: Some(|shape| Ok(Box::new(bits::<OneLine>(shape)?))),
    alone: Some(|shape| Ok(Box::new(bits::<OneLine>(shape)?))),
};

/// A filter of the quotient family with these slots.
pub(super) fn slots<F: Buildable>(shape: &Shape) -> Builder<F> {
    Builder::new()
        .slots(shape.slots)
        .remainder_bits(shape.bits)
        .seed(shape.hash_seed())
}

/// All keys at once.
fn load<F: Buildable + BulkLoad>(shape: &Shape, keys: &[u64], order: Order) -> Result<F> {
    Ok(match order {
        Order::Any => slots::<F>(shape).build_from(keys)?,
        Order::ByHash => slots::<F>(shape).build_from_sorted(keys)?,
    })
}

fn load_any<F: Buildable + BulkLoad>(shape: &Shape, keys: &[u64]) -> Result<F> {
    load(shape, keys, Order::Any)
}

fn adaptive<H: StreamHash>(shape: &Shape) -> Result<Box<dyn Contender>> {
    let can = Can::<AdaptiveFilter<H>>::only_the_usual()
        .inlined(
            |filter, keys| keys.iter().try_for_each(|key| filter.insert(key).map(drop)),
            |filter, keys| count(keys, |key| filter.contains(key)),
        )
        .remove_known()
        .batches()
        .file(AdaptiveFilter::to_bytes)
        .bulk_load::<H>(load)
        .merge(load_any, |one, other| AdaptiveFilter::merge([one, other]))
        .learn::<H>()
        .adapt();
    Ok(Box::new(Alone::new(slots(shape).build()?, shape, can)))
}

fn quotient<H: StreamHash>(shape: &Shape) -> Result<Alone<QuotientFilter<H>>> {
    let can = Can::<QuotientFilter<H>>::only_the_usual()
        .inlined(
            |filter, keys| keys.iter().try_for_each(|key| filter.insert(key)),
            |filter, keys| count(keys, |key| filter.contains(key)),
        )
        .remove()
        .batches()
        .file(|filter| filter.to_bytes())
        .bulk_load::<H>(load)
        .merge(load_any, |one, other| QuotientFilter::merge([one, other]));
    Ok(Alone::new(slots(shape).build()?, shape, can))
}

fn counting(shape: &Shape) -> Result<Alone<CountingFilter<Xxh3>>> {
    let can = Can::<CountingFilter<Xxh3>>::only_the_usual()
        .inlined(
            |filter, keys| keys.iter().try_for_each(|key| filter.insert(key)),
            |filter, keys| count(keys, |key| filter.contains(key)),
        )
        .remove()
        .batches()
        .file(|filter| filter.to_bytes())
        .bulk_load::<Xxh3>(load)
        .merge(load_any, |one, other| CountingFilter::merge([one, other]));
    Ok(Alone::new(slots(shape).build()?, shape, can))
}

/// They may forget a mistake when they learn another.
fn coded<F>(shape: &Shape) -> Result<Box<dyn Contender>>
where
    F: Buildable + Insert + Clone + Learner<Among, Error = Error> + 'static,
{
    let can = Can::<F>::only_the_usual().learn::<Xxh3>();
    Ok(Box::new(Alone::new(slots(shape).build()?, shape, can)))
}

/// Two buckets of four are compared: three bits more than a remainder for the same error.
fn buckets<A: Alternate>(shape: &Shape) -> Result<Alone<PartialKeyFilter<Xxh3, A>>> {
    let filter = Builder::<PartialKeyFilter<Xxh3, A>>::new()
        .buckets(shape.slots / 4)
        .fingerprint_bits(shape.bits + 3)
        .seed(shape.hash_seed())
        .build()?;
    let can = Can::<PartialKeyFilter<Xxh3, A>>::only_the_usual()
        .inlined(
            |filter, keys| keys.iter().try_for_each(|key| filter.insert(key)),
            |filter, keys| count(keys, |key| filter.contains(key)),
        )
        .remove()
        .batches()
        .file(PartialKeyFilter::to_bytes);
    Ok(Alone::new(filter, shape, can))
}

fn bits<P: Planned>(shape: &Shape) -> Result<Alone<BitFilter<Xxh3, P>>> {
    let can = Can::only_the_usual()
        .batches()
        .file(|filter: &BitFilter<Xxh3, P>| filter.to_bytes())
        .merge(bits_of, |one, other| {
            let mut both = one.try_clone()?;
            both.union(other)?;
            Ok(both)
        });
    Ok(Alone::new(bits_of(shape, &[])?, shape, can))
}

/// A Bloom filter planned for as many keys as all of this shape.
fn bits_of<P: Planned>(shape: &Shape, keys: &[u64]) -> Result<BitFilter<Xxh3, P>> {
    let builder = Builder::<BitFilter<Xxh3, P>>::new().capacity(shape.keys());
    let mut filter = builder.fpr(shape.fpr()).seed(shape.hash_seed()).build()?;
    keys.iter().for_each(|key| filter.insert(key));
    Ok(filter)
}

/// With its keys in memory, in the order of their hashes.
fn keyed<F>(shape: &Shape, policy: Policy) -> Result<Box<dyn Set>>
where
    F: Buildable + Learner<Counted<MemoryMap>, Error = Error> + 'static,
{
    let filter: F = slots(shape).build()?;
    Ok(Box::new(Keyed::<F, Counted<MemoryMap>>::new(
        filter, policy,
    )))
}

fn cyclic(selector_bits: u32) -> Scheme {
    Scheme::Cyclic { selector_bits }
}

/// An adaptive cuckoo filter with its keys in memory, in the cells of their fingerprints.
fn moving<S: Default>(
    shape: &Shape,
    scheme: Scheme,
) -> Result<Keyed<AdaptiveCuckooFilter<Xxh3>, S>> {
    let bins = match scheme {
        Scheme::Swapping => Bins::TwoOfFour,
        _ => Bins::FourOfOne,
    };
    // A query is compared with so many fingerprints.
    let compared = bins.slots() * bins.choices();
    let filter = AdaptiveCuckooFilter::builder(scheme)
        .hash::<Xxh3>()
        .layout(bins)
        .bins(shape.slots / u64::from(bins.slots()))
        .fingerprint_bits(shape.bits + compared.ilog2())
        .seed(shape.hash_seed())
        .build()?;
    Ok(Keyed::new(filter, Policy::Always))
}
