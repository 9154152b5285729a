//! Filters as serde values, in a format with a type for bytes and in one without.

use serde::{Deserialize, Serialize};
use twiceshy::hash::Seed;
use twiceshy::{AdaptiveFilter, CountingFilter, QuotientFilter};

#[derive(Serialize, Deserialize)]
struct Everything {
    name: String,
    plain: QuotientFilter,
    counting: CountingFilter,
    adaptive: AdaptiveFilter,
}

fn everything() -> Everything {
    let seed = Seed::from_u64(5);
    let plain = QuotientFilter::builder().slots(90).remainder_bits(4);
    let counting = CountingFilter::builder().slots(90).remainder_bits(4);
    let adaptive = AdaptiveFilter::builder().slots(90).remainder_bits(4);
    let mut all = Everything {
        name: "all".into(),
        plain: plain.seed(seed).build().expect("a small filter"),
        counting: counting.seed(seed).build().expect("a small filter"),
        adaptive: adaptive.seed(seed).build().expect("a small filter"),
    };
    for key in 0..60_u64 {
        all.plain.insert(&key).expect("room for it");
        all.counting.insert(&(key % 20)).expect("room for it");
        all.adaptive.insert(&key).expect("room for it");
    }
    all
}

fn assert_same(one: &Everything, two: &Everything) {
    assert_eq!(one.name, two.name);
    assert_eq!(one.plain.to_bytes(), two.plain.to_bytes());
    assert_eq!(one.counting.to_bytes(), two.counting.to_bytes());
    assert_eq!(one.adaptive.to_bytes(), two.adaptive.to_bytes());
}

#[test]
fn json_and_postcard_give_the_same_filters_back() {
    let all = everything();
    let json = serde_json::to_string(&all).unwrap();
    assert_same(&serde_json::from_str(&json).unwrap(), &all);
    let value = serde_json::to_value(&all).unwrap();
    assert_same(&serde_json::from_value(value).unwrap(), &all);
    let reader: Everything = serde_json::from_reader(json.as_bytes()).unwrap();
    assert_same(&reader, &all);
    let bytes = postcard::to_allocvec(&all).unwrap();
    assert_same(&postcard::from_bytes(&bytes).unwrap(), &all);
}

#[test]
fn a_view_is_serialised_like_its_filter() {
    let filter = everything().plain;
    let bytes = filter.to_bytes();
    let view = twiceshy::View::<QuotientFilter>::new(&bytes).unwrap();
    assert_eq!(
        postcard::to_allocvec(&*view).unwrap(),
        postcard::to_allocvec(&filter).unwrap()
    );
}

#[test]
fn what_is_damaged_is_refused() {
    let filter = everything().plain;
    let json = serde_json::to_string(&filter).unwrap();
    let error = serde_json::from_str::<CountingFilter>(&json).unwrap_err();
    assert!(
        error.to_string().contains("holds the plain filter"),
        "{error}"
    );
    let error = serde_json::from_str::<QuotientFilter>("7").unwrap_err();
    assert!(
        error
            .to_string()
            .contains("the bytes of a file with the plain filter"),
        "{error}"
    );
    let mut value = serde_json::to_value(&filter).unwrap();
    value[200] = if value[200] == 1 { 2 } else { 1 }.into();
    let error = serde_json::from_value::<QuotientFilter>(value).unwrap_err();
    assert!(error.to_string().contains("checksum"), "{error}");
    let bytes = postcard::to_allocvec(&filter).unwrap();
    assert!(postcard::from_bytes::<QuotientFilter>(&bytes[..300]).is_err());
}
