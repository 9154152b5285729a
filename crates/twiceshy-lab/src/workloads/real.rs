//! Keys that people made: names of packages, words, paths of files.
//!
//! `cargo xtask data` fetches them into `data/`; nothing here needs them, and what would use them
//! says what to run ([`missing`]). Two sets can be had:
//!
//! | set | members | strangers, and how they are asked for |
//! | --- | --- | --- |
//! | `package-names` | names of npm's packages | words that are no package, by their frequency |
//! | `paths` | every other path of Debian's files | the paths between them, by Zipf's law |

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, ensure};

use super::random::Random;
use super::weighted::Weighted;
use super::zipf::Zipf;

/// A set's line in the list of sets.
struct Source {
    name: &'static str,
    /// The files that it is made of.
    files: &'static [&'static str],
    /// The sets of `cargo xtask data` that they come from.
    fetch: &'static str,
}

const SOURCES: [Source; 2] = [
    Source {
        name: "package-names",
        files: &["package-names.txt", "words.tsv"],
        fetch: "package-names words",
    },
    Source {
        name: "paths",
        files: &["paths.txt"],
        fetch: "paths",
    },
];

/// The exponent by which paths are asked for; Zipf's own.
const EXPONENT: f64 = 1.0;

/// Where `cargo xtask data` leaves its files.
pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data")
}

fn source(name: &str) -> Result<&'static Source> {
    let found = SOURCES.iter().find(|source| source.name == name);
    found.with_context(|| {
        let names = SOURCES.map(|source| source.name).join(", ");
        format!("there is no set of real keys `{name}`, only {names}")
    })
}

/// What to run first, if the keys of a set are not there.
///
/// # Errors
/// If there is no such set.
pub(crate) fn missing(name: &str) -> Result<Option<String>> {
    let source = source(name)?;
    let there = |file: &&str| folder().join(file).exists();
    Ok((!source.files.iter().all(there)).then(|| format!("cargo xtask data {}", source.fetch)))
}

/// Text, line by line, without a string for each.
struct Lines {
    text: Arc<str>,
    /// Where the wanted part of each line begins and ends.
    parts: Vec<(u32, u32)>,
}

impl Lines {
    fn new(text: &str) -> Result<Self> {
        ensure!(u32::try_from(text.len()).is_ok(), "a file of 4 GiB or more");
        let mut parts = Vec::new();
        let mut start = 0;
        for line in text.split('\n') {
            if !line.is_empty() {
                parts.push((start, start + line.len() as u32));
            }
            start += line.len() as u32 + 1;
        }
        Ok(Lines {
            text: text.into(),
            parts,
        })
    }

    fn get(&self, i: usize) -> &str {
        let (start, end) = self.parts[i];
        &self.text[start as usize..end as usize]
    }
}

/// Who asks for which stranger.
enum Popularity {
    Weighted(Weighted),
    Zipf(Zipf),
}

/// Members and strangers, all of them different.
pub(crate) struct RealSet {
    members: Lines,
    strangers: Lines,
    popularity: Popularity,
}

impl RealSet {
    /// Reads a set. Which members come first, and which of the paths are popular, is up to the
    /// seed.
    ///
    /// # Errors
    /// If there is no such set, its files are missing, or they have another form than expected.
    pub(crate) fn load(name: &str, seed: u64) -> Result<Self> {
        let source = source(name)?;
        let read = |file: &str| {
            let path = folder().join(file);
            fs::read_to_string(&path).with_context(|| {
                let fetch = source.fetch;
                format!(
                    "can't read {}; run `cargo xtask data {fetch}`",
                    path.display()
                )
            })
        };
        let mut set = match source.files {
            [names, words] => names_and_words(&read(names)?, &read(words)?)?,
            files => every_other(
                &files
                    .iter()
                    .map(|file| read(file))
                    .collect::<Result<String>>()?,
            )?,
        };
        let mut random = Random::new(seed, 0x7265_616c);
        shuffle(&mut set.members.parts, &mut random);
        if let Popularity::Zipf(_) = set.popularity {
            shuffle(&mut set.strangers.parts, &mut random);
        }
        Ok(set)
    }

    /// How many members, and how many strangers.
    pub(crate) fn sizes(&self) -> (u64, u64) {
        (
            self.members.parts.len() as u64,
            self.strangers.parts.len() as u64,
        )
    }

    /// The `i`-th member.
    pub(crate) fn member(&self, i: u64) -> &str {
        self.members.get(i as usize)
    }

    /// The stranger with a number that [`RealSet::queries`] asks for.
    pub(crate) fn stranger(&self, number: u64) -> &str {
        self.strangers.get(number as usize)
    }

    /// Somebody who asks for the strangers.
    pub(crate) fn queries(&self, seed: u64) -> impl Iterator<Item = u64> {
        Draws {
            popularity: &self.popularity,
            random: Random::new(seed, 0x776f_7264),
        }
    }
}

struct Draws<'s> {
    popularity: &'s Popularity,
    random: Random,
}

impl Iterator for Draws<'_> {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        Some(match self.popularity {
            Popularity::Weighted(weighted) => weighted.draw(&mut self.random).into(),
            Popularity::Zipf(zipf) => u64::from(zipf.draw(&mut self.random)) - 1,
        })
    }
}

/// Names, and the words of lines `frequency, tab, word` that are none.
fn names_and_words(names: &str, words: &str) -> Result<RealSet> {
    let members = Lines::new(names)?;
    let mut strangers = Lines::new(words)?;
    let known: HashSet<&str> = (0..members.parts.len()).map(|i| members.get(i)).collect();
    let (mut parts, mut weights) = (Vec::new(), Vec::new());
    for i in 0..strangers.parts.len() {
        let line = strangers.get(i);
        let (frequency, word) = line
            .split_once('\t')
            .with_context(|| format!("`{line}` should be a frequency, a tab and a word"))?;
        if !known.contains(word) {
            let end = strangers.parts[i].1;
            parts.push((end - word.len() as u32, end));
            weights.push(frequency.parse()?);
        }
    }
    drop(known);
    strangers.parts = parts;
    Ok(RealSet {
        members,
        strangers,
        popularity: Popularity::Weighted(Weighted::new(&weights)?),
    })
}

/// The lines with even numbers, and those with odd ones between them.
fn every_other(text: &str) -> Result<RealSet> {
    let all = Lines::new(text)?;
    let half = |first: usize| all.parts.iter().copied().skip(first).step_by(2).collect();
    let (members, strangers): (Vec<_>, Vec<_>) = (half(0), half(1));
    let count = u32::try_from(strangers.len())?;
    ensure!(count > 0, "a file without lines");
    Ok(RealSet {
        members: Lines {
            text: all.text.clone(),
            parts: members,
        },
        strangers: Lines {
            text: all.text.clone(),
            parts: strangers,
        },
        popularity: Popularity::Zipf(Zipf::new(EXPONENT, count)),
    })
}

fn shuffle<T>(items: &mut [T], random: &mut Random) {
    for i in (1..items.len()).rev() {
        items.swap(i, random.below(i as u64 + 1) as usize);
    }
}

#[cfg(test)]
mod tests {
    use super::super::random::assert_drawn;
    use super::*;

    #[test]
    fn words_that_are_names_are_not_asked_for() {
        let set = names_and_words(
            "left-pad\nthe\nwren\n",
            "3e-1\tfinch\n6e-1\tthe\n1e-1\trobin red\n",
        );
        let set = set.unwrap();
        assert_eq!(set.sizes(), (3, 2));
        assert_eq!((set.member(1), set.stranger(0)), ("the", "finch"));
        assert_eq!(set.stranger(1), "robin red");
        let mut queries = set.queries(1);
        let mut counts = [0; 2];
        (0..100_000).for_each(|_| counts[queries.next().unwrap() as usize] += 1);
        assert_drawn(&[0.75, 0.25], &counts);
    }

    #[test]
    fn every_other_line_is_a_member() {
        let set = every_other("a\nb\nc\nd\ne").unwrap();
        let members: Vec<&str> = (0..3).map(|i| set.member(i)).collect();
        let strangers: Vec<&str> = (0..2).map(|i| set.stranger(i)).collect();
        assert_eq!((members, strangers), (vec!["a", "c", "e"], vec!["b", "d"]));
        let mut queries = set.queries(2);
        let mut counts = [0; 2];
        (0..100_000).for_each(|_| counts[queries.next().unwrap() as usize] += 1);
        assert_drawn(&[2.0 / 3.0, 1.0 / 3.0], &counts);
    }

    #[test]
    fn files_of_another_form_are_errors() {
        assert!(names_and_words("a\n", "word\n").is_err());
        assert!(names_and_words("a\n", "often\tword\n").is_err());
        assert!(names_and_words("a\n", "1e-1\ta\n").is_err());
        assert!(every_other("a").is_err());
    }

    #[test]
    fn what_is_missing_is_said_with_what_to_run() {
        assert!(source("birds").is_err());
        for source in &SOURCES {
            if let Some(command) = missing(source.name).unwrap() {
                assert!(command.ends_with(source.fetch));
                let error = RealSet::load(source.name, 1).err().unwrap();
                assert!(error.to_string().contains(&command), "{error}");
            }
        }
    }
}
