//! Tests of the tests: the suite passes what is right and notices what is wrong.

#![allow(clippy::unwrap_used)] // here, a panic is the message

use std::cell::RefCell;
use std::rc::Rc;

use twiceshy::batch::Interrupted;
use twiceshy::hash::{Hashed, Key, Seed, Sip13};
use twiceshy::{Error, Filter, Geometry, Insert, Inserted, QuotientFilter, Removed, Stats};
use twiceshy_testing::{Exactness, Kind, Report, Shape, Source, Subject, run, run_shaped};

fn filter(slots: u64, remainder_bits: u32) -> QuotientFilter {
    QuotientFilter::builder()
        .slots(slots)
        .remainder_bits(remainder_bits)
        .seed(Seed::from_u64(0))
        .build()
        .unwrap()
}

/// An error that is not [`Error::Full`].
fn another() -> Error {
    let reason = "none".to_owned();
    Error::Geometry { reason }
}

/// What is wrong with a [`Broken`] filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Defect {
    None,
    LosesAnInsertion,
    InsertsTwice,
    IsFullTooEarly,
    IsFullOfWrongFigures,
    FailsForAnotherReason,
    ChangesWhenFull,
    KeepsWhatIsRemoved,
    RemovesTwo,
    RemovesSomethingElse,
    RemovesWhatIsMissing,
    CannotRemove,
    SaysNoToAMember,
    SaysMaybeToAnOutsider,
    KeepsTwoOfOne,
    CallsThePresentNew,
    ClearsNothing,
    SharesWithItsCopy,
    SkipsInIteration,
    IsDisorderly,
    HasAWrongLength,
    HasWrongStats,
    HasAWrongCluster,
    LosesTheLastOfABatch,
    LoadsSomethingElse,
    LoadsDamagedFiles,
    SaysNoInAView,
    LosesOneOnDoubling,
    RefusesToHalve,
    HalvesWithoutChange,
    LosesOneInAMerge,
    LosesOneInABulkLoad,
}

/// All of them, and what the suite says.
const ALL: [(Defect, &str); 31] = [
    (Defect::LosesAnInsertion, "its membership is false"),
    (Defect::InsertsTwice, "the length is"),
    (Defect::IsFullTooEarly, "there was room for it"),
    (Defect::IsFullOfWrongFigures, "`Full { used, slots }` is"),
    (Defect::FailsForAnotherReason, "the error is not `Full`"),
    (Defect::ChangesWhenFull, "the list of minirun ids is"),
    (Defect::KeepsWhatIsRemoved, "its membership is true"),
    (Defect::RemovesTwo, "the length is"),
    (Defect::RemovesSomethingElse, "its membership is true"),
    (Defect::RemovesWhatIsMissing, "removed is true, not false"),
    (Defect::CannotRemove, "a removal failed"),
    (Defect::SaysNoToAMember, "its membership is false"),
    (Defect::SaysMaybeToAnOutsider, "its membership is true"),
    (Defect::KeepsTwoOfOne, "new is true, not false"),
    (Defect::CallsThePresentNew, "new is true, not false"),
    (Defect::ClearsNothing, "the length is"),
    (Defect::SharesWithItsCopy, "the length is 0"),
    (Defect::SkipsInIteration, "the list of minirun ids is"),
    (Defect::IsDisorderly, "disorder"),
    (Defect::HasAWrongLength, "the length is"),
    (Defect::HasWrongStats, "items in the statistics"),
    (Defect::HasAWrongCluster, "the longest cluster is"),
    (Defect::LosesTheLastOfABatch, "the length is"),
    (
        Defect::LoadsSomethingElse,
        "has other bytes than what was saved",
    ),
    (Defect::LoadsDamagedFiles, "a file was loaded whose bit"),
    (Defect::SaysNoInAView, "what an unverified view says is"),
    (Defect::LosesOneOnDoubling, "the resized filter is"),
    (Defect::RefusesToHalve, "room for all is true"),
    (Defect::HalvesWithoutChange, "the new geometry is"),
    (Defect::LosesOneInAMerge, "the merged filter is"),
    (Defect::LosesOneInABulkLoad, "the loaded filter is"),
];

/// A quotient filter that goes wrong now and then.
struct Broken {
    inner: Rc<RefCell<QuotientFilter>>,
    defect: Defect,
}

impl Broken {
    fn new(defect: Defect) -> Self {
        Broken {
            inner: Rc::new(RefCell::new(filter(100, 5))),
            defect,
        }
    }

    /// Is this the moment to go wrong?
    fn wrong(&self, defect: Defect) -> bool {
        self.defect == defect && self.inner.borrow().len() % 8 == 5
    }

    fn with(&self, inner: QuotientFilter) -> Self {
        Broken {
            inner: Rc::new(RefCell::new(inner)),
            ..*self
        }
    }

    /// The same, or one item less if that is the defect.
    fn less(self, defect: Defect) -> Self {
        if self.defect == defect {
            self.remove_any();
        }
        self
    }

    fn remove_any(&self) {
        let mut inner = self.inner.borrow_mut();
        let geometry = inner.geometry();
        let Some(first) = inner.iter().next() else {
            return;
        };
        let h0 = *geometry.hash_range(geometry.id_of(first)).start();
        assert_eq!(inner.remove_hashed(&Hashed::from_h0(h0)), Ok(Removed::One));
    }
}

impl Clone for Broken {
    fn clone(&self) -> Self {
        let inner = if self.defect == Defect::SharesWithItsCopy {
            Rc::clone(&self.inner)
        } else {
            Rc::new(RefCell::new(self.inner.borrow().clone()))
        };
        Broken { inner, ..*self }
    }
}

impl Filter for Broken {
    fn hash<'k, K: Key + ?Sized>(&self, key: &'k K) -> Hashed<'k> {
        self.inner.borrow().hash(key)
    }

    fn contains_hashed(&self, key: &Hashed<'_>) -> bool {
        let found = self.inner.borrow().contains_hashed(key);
        if found {
            !self.wrong(Defect::SaysNoToAMember)
        } else {
            self.wrong(Defect::SaysMaybeToAnOutsider)
        }
    }

    fn len(&self) -> u64 {
        let wrong = self.wrong(Defect::HasAWrongLength);
        self.inner.borrow().len() + u64::from(wrong)
    }

    fn stats(&self) -> Stats {
        let mut stats = self.inner.borrow().stats();
        stats.items += u64::from(self.wrong(Defect::HasWrongStats));
        stats.longest_cluster += u64::from(self.wrong(Defect::HasAWrongCluster));
        stats
    }
}

impl Insert for Broken {
    fn insert_hashed(&mut self, key: &Hashed<'_>) -> Result<(), Error> {
        if self.wrong(Defect::LosesAnInsertion) {
            return Ok(());
        }
        if self.wrong(Defect::InsertsTwice) {
            self.inner.borrow_mut().insert_hashed(key)?;
        }
        if self.wrong(Defect::IsFullTooEarly) {
            return Err(Error::Full {
                used: self.len(),
                slots: self.slots().unwrap_or(0),
            });
        }
        let result = self.inner.borrow_mut().insert_hashed(key);
        match (result, self.defect) {
            (Err(Error::Full { used, slots }), Defect::IsFullOfWrongFigures) => Err(Error::Full {
                used: used + 1,
                slots,
            }),
            (Err(_), Defect::FailsForAnotherReason) => Err(another()),
            (Err(error), Defect::ChangesWhenFull) => {
                // As many as before, but others.
                self.remove_any();
                let other = Hashed::from_h0(key.h0() ^ 1 << 63);
                let _ = self.inner.borrow_mut().insert_hashed(&other);
                Err(error)
            }
            (result, _) => result,
        }
    }

    fn insert_batch<K: Key>(
        &mut self,
        keys: impl IntoIterator<Item = K>,
    ) -> Result<(), Interrupted> {
        let mut keys: Vec<K> = keys.into_iter().collect();
        if self.defect == Defect::LosesTheLastOfABatch {
            keys.pop();
        }
        for (inserted, key) in (0..).zip(keys) {
            let hashed = self.hash(&key);
            let result = self.insert_hashed(&hashed);
            result.map_err(|error| Interrupted { inserted, error })?;
        }
        Ok(())
    }
}

impl Subject for Broken {
    fn geometry(&self) -> Geometry {
        self.inner.borrow().geometry()
    }

    fn check(&self) -> Result<(), String> {
        if self.wrong(Defect::IsDisorderly) {
            return Err("disorder".to_owned());
        }
        self.inner.borrow().check()
    }

    fn ids(&self) -> Option<Vec<u64>> {
        let skip = usize::from(self.wrong(Defect::SkipsInIteration));
        Some(self.inner.borrow().ids()?.into_iter().skip(skip).collect())
    }

    fn slots(&self) -> Option<u64> {
        self.inner.borrow().slots()
    }

    fn insert_once(&mut self, key: &Hashed<'_>) -> Option<Result<Inserted, Error>> {
        if self.wrong(Defect::KeepsTwoOfOne) && self.insert_hashed(key).is_ok() {
            return Some(Ok(Inserted::New));
        }
        let result = self.inner.borrow_mut().insert_unique_hashed(key);
        if self.wrong(Defect::CallsThePresentNew) {
            return Some(result.and(Ok(Inserted::New)));
        }
        Some(result)
    }

    fn forget(&mut self, key: &Hashed<'_>) -> Option<Result<Removed, Error>> {
        let present = self.inner.borrow().contains_hashed(key);
        if present && self.wrong(Defect::KeepsWhatIsRemoved) {
            return Some(Ok(Removed::One));
        }
        if !present && self.wrong(Defect::RemovesWhatIsMissing) {
            return Some(Ok(Removed::One));
        }
        if self.wrong(Defect::CannotRemove) {
            return Some(Err(another()));
        }
        if present && self.wrong(Defect::RemovesSomethingElse) {
            self.remove_any();
            return Some(Ok(Removed::One));
        }
        let two = self.wrong(Defect::RemovesTwo);
        let result = self.inner.borrow_mut().remove_hashed(key);
        if two {
            self.remove_any();
        }
        Some(result)
    }

    fn forget_all(&mut self) -> Option<()> {
        if self.defect != Defect::ClearsNothing {
            self.inner.borrow_mut().clear();
        }
        Some(())
    }

    /// With the defect at the end, twice, as loading knows nothing else.
    fn save(&self) -> Option<Vec<u8>> {
        let mut bytes = self.inner.borrow().to_bytes();
        bytes.extend([self.defect as u8; 2]);
        Some(bytes)
    }

    fn load(bytes: &[u8]) -> Option<Result<Self, Error>> {
        let (bytes, defects) = bytes.split_last_chunk::<2>()?;
        let all = ALL.map(|(defect, _)| defect);
        let defect = all.into_iter().find(|&other| other as u8 == defects[0]);
        let new = Broken::new(defect.unwrap_or(Defect::None));
        let loaded = match QuotientFilter::from_bytes(bytes) {
            Ok(_) if defects[0] != defects[1] => Err(Error::Corrupt {
                reason: "the defect".to_owned(),
            }),
            Ok(loaded) => Ok(new.with(loaded).less(Defect::LoadsSomethingElse)),
            Err(_) if new.defect == Defect::LoadsDamagedFiles => Ok(new),
            Err(error) => Err(error),
        };
        Some(loaded)
    }

    fn view(bytes: &[u8], keys: &[Hashed<'_>]) -> Option<Result<[Vec<bool>; 2], Error>> {
        let loaded = match Self::load(bytes)? {
            Ok(loaded) => loaded,
            Err(error) => return Some(Err(error)),
        };
        let no = loaded.defect == Defect::SaysNoInAView;
        let found = |key| !no && loaded.inner.borrow().contains_hashed(key);
        let right = keys.iter().map(|key| loaded.contains_hashed(key));
        Some(Ok([right.collect(), keys.iter().map(found).collect()]))
    }

    fn double(&self) -> Option<Result<Self, Error>> {
        let doubled = self.inner.borrow().doubled();
        Some(doubled.map(|inner| self.with(inner).less(Defect::LosesOneOnDoubling)))
    }

    fn halve(&self) -> Option<Result<Self, Error>> {
        let inner = match self.defect {
            Defect::RefusesToHalve => Err(Error::Full { used: 0, slots: 0 }),
            Defect::HalvesWithoutChange => Ok(self.inner.borrow().clone()),
            _ => self.inner.borrow().halved(),
        };
        Some(inner.map(|inner| self.with(inner)))
    }

    fn unite(one: &Self, two: &Self) -> Option<Result<Self, Error>> {
        let merged = QuotientFilter::merge([&*one.inner.borrow(), &*two.inner.borrow()]);
        Some(merged.map(|inner| one.with(inner).less(Defect::LosesOneInAMerge)))
    }

    fn bulk_load(&self, geometry: Geometry, hashes: &[u64]) -> Option<Vec<Result<Self, Error>>> {
        let all = self.inner.borrow().bulk_load(geometry, hashes)?;
        let with = |loaded: Result<QuotientFilter, Error>| {
            let loaded = self.with(loaded?);
            Ok(match geometry == self.geometry() {
                true => loaded.less(Defect::LosesOneInABulkLoad),
                false => loaded,
            })
        };
        Some(all.into_iter().map(with).collect())
    }
}

fn run_broken(defect: Defect, seed: u64) -> Result<Report, String> {
    run(Broken::new(defect), &mut Source::from_seed(seed), 20_000)
}

#[test]
fn every_defect_is_noticed() {
    for (defect, message) in ALL {
        let noticed = |seed| {
            let error = run_broken(defect, seed).expect_err(&format!("{defect:?} is a defect"));
            assert!(error.starts_with("operation "), "{error}");
            error
        };
        // Some defects show in more than one way; the plainest is known.
        let mut errors = (0..4).map(noticed);
        let plain = errors.clone().any(|error| error.contains(message));
        assert!(plain, "{defect:?}: {:?}", errors.next());
    }
    for seed in 0..3 {
        assert!(run_broken(Defect::None, seed).is_ok());
    }
}

#[test]
fn a_run_does_everything_and_can_be_repeated() {
    let play = |seed| run(filter(65, 2), &mut Source::from_seed(seed), 60_000);
    let report = play(1).unwrap();
    assert_eq!(report.operations(), 60_000);
    assert_eq!(report.missing().collect::<Vec<_>>(), []);
    assert!(report.peak_len() > 100);
    assert_eq!(play(1), Ok(report));
    assert_ne!(play(2), Ok(report));

    let mut sum = Report::new();
    sum += report;
    sum += report;
    assert_eq!(sum.operations(), 120_000);
    assert_eq!(sum.peak_len(), report.peak_len());
    assert!(sum.to_string().starts_with("120000 operations: Insert "));
}

#[test]
fn a_run_on_bytes_ends_with_them() {
    let bytes: Vec<u8> = (0..4_000_u32).map(|i| ((i * i) >> 3) as u8).collect();
    let mut last = 0;
    for length in [0, 1, 10, 100, 4_000] {
        let mut source = Source::from_bytes(&bytes[..length]);
        let report = run(filter(65, 3), &mut source, u64::MAX).unwrap();
        assert!(report.operations() >= last);
        last = report.operations();
    }
    assert!(last > 300, "{last}");
}

#[test]
fn only_empty_filters_are_taken() {
    let mut filter = filter(10, 3);
    filter.insert("early").unwrap();
    let error = run(filter, &mut Source::from_seed(1), 1).unwrap_err();
    assert!(error.contains("must be empty"));
}

/// A small Bloom filter: neither exact, nor iterable, nor able to forget; `LOSSY` ones
/// are wrong.
#[derive(Clone)]
struct Bloom<const LOSSY: bool> {
    words: [u64; 16],
    len: u64,
}

impl<const LOSSY: bool> Bloom<LOSSY> {
    fn bits(key: &Hashed<'_>) -> [(usize, u64); 2] {
        [0, 1].map(|i| {
            let bit = key.word(i) >> 54;
            (bit as usize / 64, 1 << (bit % 64))
        })
    }
}

impl<const LOSSY: bool> Filter for Bloom<LOSSY> {
    fn hash<'k, K: Key + ?Sized>(&self, key: &'k K) -> Hashed<'k> {
        Hashed::new::<Sip13, K>(&Seed::from_u64(0), key)
    }

    fn contains_hashed(&self, key: &Hashed<'_>) -> bool {
        let set = |(at, bit): (usize, u64)| self.words[at] & bit != 0;
        Self::bits(key).into_iter().all(set)
    }

    fn len(&self) -> u64 {
        self.len
    }

    fn stats(&self) -> Stats {
        let mut stats = Stats::default();
        stats.items = self.len;
        stats
    }
}

impl<const LOSSY: bool> Insert for Bloom<LOSSY> {
    fn insert_hashed(&mut self, key: &Hashed<'_>) -> Result<(), Error> {
        for (at, bit) in Self::bits(key) {
            self.words[at] |= bit;
        }
        self.len += 1;
        if LOSSY && self.len == 300 {
            self.words[3] &= self.words[3] >> 32;
        }
        Ok(())
    }
}

impl<const LOSSY: bool> Subject for Bloom<LOSSY> {
    const EXACTNESS: Exactness = Exactness::OneSided;

    fn geometry(&self) -> Geometry {
        Geometry::new(1_024, 8).expect("a fine geometry")
    }

    fn check(&self) -> Result<(), String> {
        Ok(())
    }
}

#[test]
fn one_sided_filters_may_err_on_one_side_only() {
    let empty = [0; 16];
    let right = Bloom::<false> {
        words: empty,
        len: 0,
    };
    let report = run(right, &mut Source::from_seed(4), 5_000).unwrap();
    assert_eq!(report.operations(), 5_000);
    let done: Vec<Kind> = Kind::ALL
        .into_iter()
        .filter(|&kind| report.count(kind) > 0)
        .collect();
    let can = [
        Kind::Insert,
        Kind::Contains,
        Kind::ContainsNot,
        Kind::Compare,
        Kind::Clone,
    ];
    assert_eq!(done, can);

    let wrong = Bloom::<true> {
        words: empty,
        len: 0,
    };
    let shape = Shape::Uniform;
    let error = run_shaped(wrong, shape, &mut Source::from_seed(4), 5_000).unwrap_err();
    assert!(error.contains("not found") || error.contains("membership is false"));
}
