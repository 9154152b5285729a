//! Which certificates are revoked, exactly, for every certificate that there is.
//!
//! A browser that asks a server about each certificate tells it where its user goes, and one that
//! does not ask trusts stolen keys. The way out is a list of all revoked certificates, small
//! enough to be shipped every day. As every certificate is logged, those that are *not* revoked
//! are known as well: that is the NO list, and no good certificate is ever called revoked.
//!
//! Certificates here are made up, with the structure of the real ones: a key is the issuer and
//! a serial number, a few issuers have most certificates, some revoke more than others, 1% of all
//! are revoked. Every day some expire, some are issued, some are revoked.
//!
//! ```sh
//! cargo run --release -p twiceshy --example revocation
//! ```

use std::collections::BTreeMap;
use std::error::Error;

use twiceshy::hash::{Key, Seed};
use twiceshy::lists::static_::{HEADROOM, Like};
use twiceshy::lists::{Answer, StaticYesNo, delta};

/// One in 512 of the certificates that nobody logged, which there should not be.
const FPR: f64 = 1.0 / 512.0;

/// A certificate: the hash of its issuer's key, and its serial number.
type Certificate = ([u8; 32], [u8; 16]);

/// Certificates, and whether each is revoked.
struct World {
    certificates: BTreeMap<Certificate, bool>,
    state: u64,
}

impl World {
    fn new(count: usize) -> Self {
        let mut world = World {
            certificates: BTreeMap::new(),
            state: 1,
        };
        (0..count).for_each(|_| world.issue());
        world
    }

    /// A random number: SplitMix64.
    fn draw(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.state;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    /// One certificate more. Each issuer has half as many as the one before, and every third
    /// revokes five times as many.
    fn issue(&mut self) {
        let issuer = self.draw().trailing_zeros().min(40) as u8;
        let serial = u128::from(self.draw()) << 64 | u128::from(self.draw());
        let in_thousand = if issuer % 3 == 2 { 31 } else { 7 };
        let revoked = self.draw() % 1_000 < in_thousand;
        let certificate = ([issuer; 32], serial.to_le_bytes());
        self.certificates.insert(certificate, revoked);
    }

    /// One in a thousand expires and is replaced, one in a thousand of the good ones is revoked.
    fn day(&mut self) {
        let all: Vec<Certificate> = self.certificates.keys().copied().collect();
        for certificate in &all {
            match self.draw() % 1_000 {
                0 => {
                    self.certificates.remove(certificate);
                    self.issue();
                }
                1 if self.draw() % 100 == 0 => {
                    self.certificates.insert(*certificate, true);
                }
                _ => {}
            }
        }
    }

    /// The revoked ones, and the others.
    fn lists(&self) -> (Vec<Certificate>, Vec<Certificate>) {
        let (mut revoked, mut good) = (Vec::new(), Vec::new());
        for (&certificate, &is_revoked) in &self.certificates {
            if is_revoked { &mut revoked } else { &mut good }.push(certificate);
        }
        (revoked, good)
    }
}

fn all_right(list: &StaticYesNo, keys: &[impl Key], answer: Answer) -> bool {
    keys.iter().all(|key| list.answer(key) == answer)
}

/// What a week has cost.
struct Week {
    certificates: usize,
    revoked: usize,
    file_bytes: usize,
    delta_bytes: Vec<usize>,
}

fn week(count: usize) -> Result<Week, Box<dyn Error>> {
    let mut world = World::new(count);
    let (revoked, good) = world.lists();
    let builder = StaticYesNo::builder().fpr(FPR).headroom(HEADROOM);
    let mut list = builder.seed(Seed::from_u64(1)).build(&revoked, &good)?;
    let mut browser = list.to_bytes();
    let mut week = Week {
        certificates: count,
        revoked: revoked.len(),
        file_bytes: browser.len(),
        delta_bytes: Vec::new(),
    };
    for _ in 0..7 {
        world.day();
        let (revoked, good) = world.lists();
        let (new, like) = list.build_like(&revoked, &good, FPR)?;
        let delta = delta::diff(&browser, &new.to_bytes())?;
        if like == Like::Same {
            week.delta_bytes.push(delta.as_bytes().len());
        }
        browser = delta::apply(&browser, delta.as_bytes())?;
        list = StaticYesNo::from_bytes(&browser)?;
        assert!(
            all_right(&list, &revoked, Answer::Yes),
            "revoked, and said to be"
        );
        assert!(
            all_right(&list, &good, Answer::No),
            "good, and not called revoked"
        );
    }
    Ok(week)
}

fn main() -> Result<(), Box<dyn Error>> {
    let week = week(300_000)?;
    println!(
        "{} certificates, {} of them revoked: {} bytes, {:.1} bits a revoked one",
        week.certificates,
        week.revoked,
        week.file_bytes,
        week.file_bytes as f64 * 8.0 / week.revoked as f64
    );
    println!("the deltas of a week, in bytes: {:?}", week.delta_bytes);
    Ok(())
}

#[test]
fn no_good_certificate_is_called_revoked() {
    let week = week(20_000).unwrap();
    assert!(week.revoked > 100);
    assert!(week.delta_bytes.iter().all(|&bytes| bytes < 200));
    assert!(week.delta_bytes.len() >= 5);
}
