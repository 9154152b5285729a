//! How an experiment is declared: the shape of `experiments/*.toml`.
//!
//! A declaration says everything but how to measure: what the paper says, which filters, sizes
//! and workloads, how often, how to draw it, and by which rules the outcome is judged. How to
//! measure is one word, its [kind](crate::kinds), which says what else it wants to know.
//!
//! | word | what it means, whatever the kind |
//! | --- | --- |
//! | `filters` | who is compared, by the names that the figures have |
//! | `workloads` | who asks; a scale may have others |
//! | `rounds`, `seeds` | how often what is timed is measured, and what chance begins with; what is only counted is counted once for each seed |
//! | `[common]`, `[scales.*]` | parameters of the kind: of all scales, of one |
//! | `each = ["a", "b"]` | of a panel or a claim: there is one for each, with the word in the place of `{}` |

use std::collections::BTreeMap;
use std::fmt;

use anyhow::{Context, Result, ensure};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use toml::{Table, Value};

use super::outcome::X;

/// How large everything is.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, clap::ValueEnum,
)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Scale {
    /// Seconds: does it still run? Nobody should read the figures.
    Tiny,
    /// Minutes, on filters that fit into a cache.
    Small,
    /// Hours, at the sizes of the papers.
    Paper,
}

impl Scale {
    pub(crate) const ALL: [Scale; 3] = [Scale::Tiny, Scale::Small, Scale::Paper];
}

impl fmt::Display for Scale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Scale::Tiny => "tiny",
            Scale::Small => "small",
            Scale::Paper => "paper",
        })
    }
}

/// An experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Experiment {
    /// The name of its file.
    #[serde(skip)]
    pub(crate) name: String,
    /// Whose, such as "Adaptive Quotient Filters".
    pub(crate) paper: String,
    /// Its number there.
    pub(crate) item: String,
    pub(crate) title: String,
    /// What the paper says.
    pub(crate) says: String,
    /// What we did, and where that differs from the paper.
    pub(crate) does: String,
    /// A sentence on why it comes out as it does.
    pub(crate) analysis: String,
    /// Which of the [kinds](crate::kinds).
    pub(crate) kind: String,
    /// Who is compared.
    #[serde(default)]
    pub(crate) filters: Vec<String>,
    /// Who asks.
    #[serde(default)]
    workloads: Vec<String>,
    pub(crate) seeds: Vec<u64>,
    /// What the kind wants to know at any scale.
    #[serde(default)]
    common: Table,
    scales: BTreeMap<Scale, Size>,
    pub(crate) panels: Vec<Panel>,
    pub(crate) claims: Vec<Claim>,
}

/// What one scale means for an experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Size {
    pub(crate) rounds: usize,
    /// About how long it takes; the time left is reckoned from that.
    pub(crate) seconds: f64,
    /// Who asks.
    #[serde(default)]
    pub(crate) workloads: Vec<String>,
    /// What the kind wants to know.
    #[serde(flatten)]
    pub(crate) rest: Table,
}

impl Size {
    /// What the kind wants to know, in its own words.
    pub(crate) fn parameters<T: DeserializeOwned>(&self) -> Result<T> {
        Ok(self.rest.clone().try_into()?)
    }
}

/// Figures that are drawn and tabulated together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Panel {
    pub(crate) name: String,
    pub(crate) title: String,
    #[serde(default)]
    pub(crate) draw: Draw,
    #[serde(default)]
    pub(crate) x: Axis,
    pub(crate) y: Axis,
    /// Stands in `docs/results.md`, too.
    #[serde(default)]
    pub(crate) key: bool,
    /// The mean of the samples counts, not their median: for counts of rare events, which differ
    /// from seed to seed by chance and not by noise.
    #[serde(default)]
    pub(crate) mean: bool,
    /// Tables say how many times these series each other one is, ...
    #[serde(default)]
    pub(crate) by: Vec<String>,
    /// ... or these series of another panel.
    #[serde(default)]
    pub(crate) by_panel: Option<String>,
    /// Series that are drawn with dashes.
    #[serde(default)]
    pub(crate) dashed: Vec<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Draw {
    #[default]
    Lines,
    Bars,
    /// Not drawn.
    Table,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Axis {
    pub(crate) label: String,
    #[serde(default)]
    pub(crate) log: bool,
    /// What is above is not drawn.
    #[serde(default)]
    pub(crate) most: Option<f64>,
}

/// Something to judge.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Claim {
    pub(crate) text: String,
    pub(crate) panel: String,
    /// The series that it is about.
    pub(crate) of: String,
    #[serde(default)]
    pub(crate) at: At,
    /// Divided by this series, ...
    #[serde(default)]
    pub(crate) by: Option<String>,
    /// ... at another place than its own, ...
    #[serde(default)]
    pub(crate) by_at: Option<At>,
    /// ... or of another panel.
    #[serde(default)]
    pub(crate) by_panel: Option<String>,
    #[serde(default)]
    pub(crate) at_least: Option<f64>,
    #[serde(default)]
    pub(crate) at_most: Option<f64>,
    /// Exactly zero.
    #[serde(default)]
    pub(crate) zero: bool,
    /// Never lower (higher) than before, along the axis.
    #[serde(default)]
    pub(crate) trend: Option<Trend>,
    /// The share of the bound by which it may be missed: noise.
    #[serde(default)]
    pub(crate) tolerance: f64,
    /// The smallest scale at which it means something.
    #[serde(default = "tiny")]
    pub(crate) from: Scale,
    /// Why it holds, or why it can't here.
    pub(crate) why: String,
}

fn tiny() -> Scale {
    Scale::Tiny
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Trend {
    Rises,
    Falls,
}

/// Where along the axis.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum At {
    /// Everywhere: the worst place counts.
    #[default]
    Every,
    First,
    Last,
    /// The median of all places.
    Middle,
    /// Only here.
    #[serde(untagged)]
    Here(X),
}

impl Experiment {
    /// Reads a declaration, and checks what its types can't.
    pub(crate) fn parse(name: &str, text: &str) -> Result<Self> {
        let mut table: Table = text.parse()?;
        for list in ["panels", "claims"] {
            if let Some(Value::Array(entries)) = table.get_mut(list) {
                *entries = entries.drain(..).flat_map(repeated).collect();
            }
        }
        let mut experiment: Experiment = table.try_into()?;
        experiment.name = name.to_owned();
        for size in experiment.scales.values_mut() {
            if size.workloads.is_empty() {
                size.workloads.clone_from(&experiment.workloads);
            }
            for (word, value) in &experiment.common {
                size.rest.entry(word).or_insert_with(|| value.clone());
            }
        }
        experiment.check()?;
        Ok(experiment)
    }

    fn check(&self) -> Result<()> {
        ensure!(!self.seeds.is_empty(), "no seed");
        ensure!(!self.claims.is_empty(), "nothing is judged");
        let words = |scale: Scale| -> Result<Vec<&String>> {
            let size = self.size(scale)?;
            ensure!(size.rounds > 0, "no rounds at scale {scale}");
            Ok(size.rest.keys().collect())
        };
        for scale in Scale::ALL {
            ensure!(
                words(scale)? == words(Scale::Tiny)?,
                "the scales {scale} and tiny don't have the same words"
            );
        }
        for panel in &self.panels {
            if let Some(other) = &panel.by_panel {
                ensure!(self.panel(other).is_some(), "there is no panel {other:?}");
            }
        }
        for claim in &self.claims {
            let claim_panels = [Some(&claim.panel), claim.by_panel.as_ref()];
            for panel in claim_panels.into_iter().flatten() {
                ensure!(self.panel(panel).is_some(), "there is no panel {panel:?}");
            }
            ensure!(
                claim.at_least.is_some()
                    || claim.at_most.is_some()
                    || claim.zero
                    || claim.trend.is_some(),
                "nothing is demanded by {:?}",
                claim.text
            );
        }
        Ok(())
    }

    /// Takes these words in the place of those that are declared for a scale.
    pub(crate) fn change(&mut self, scale: Scale, words: Table) -> Result<()> {
        let size = self.scales.get_mut(&scale).context("no such scale")?;
        for (word, value) in words {
            match &*word {
                "rounds" => size.rounds = value.try_into()?,
                "seed" => self.seeds = vec![value.try_into()?],
                "filters" => self.filters = value.try_into()?,
                _ => drop(size.rest.insert(word, value)),
            }
        }
        Ok(())
    }

    pub(crate) fn panel(&self, name: &str) -> Option<&Panel> {
        self.panels.iter().find(|panel| panel.name == name)
    }

    pub(crate) fn size(&self, scale: Scale) -> Result<&Size> {
        let size = self.scales.get(&scale);
        size.with_context(|| format!("{} has no scale {scale}", self.name))
    }
}

/// An entry for each word of its list `each`.
fn repeated(mut entry: Value) -> Vec<Value> {
    let each = entry.as_table_mut().and_then(|table| table.remove("each"));
    let Some(Value::Array(words)) = each else {
        return vec![entry];
    };
    let words = words.iter().filter_map(Value::as_str);
    words.map(|word| filled(&entry, word)).collect()
}

/// The same with a word in the place of every `{}`.
fn filled(value: &Value, word: &str) -> Value {
    match value {
        Value::String(text) => Value::String(text.replace("{}", word)),
        Value::Array(values) => {
            Value::Array(values.iter().map(|value| filled(value, word)).collect())
        }
        Value::Table(table) => {
            let entries = table.iter();
            let filled = entries.map(|(key, value)| (key.clone(), filled(value, word)));
            Value::Table(filled.collect())
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"
        paper = "none"
        item = "Figure 0"
        title = "t"
        says = "s"
        does = "d"
        analysis = "a"
        kind = "space"
        seeds = [1]
        scales.tiny = { rounds = 1, seconds = 1, log2_slots = 10 }
        scales.small = { rounds = 1, seconds = 1, log2_slots = 12 }
        scales.paper = { rounds = 1, seconds = 1, log2_slots = 20 }
        [[panels]]
        name = "p"
        title = "p"
        y = { label = "y" }
        [[claims]]
        text = "c"
        panel = "p"
        of = "adaptive"
        at = 0.5
        at_least = 1
        why = "w"
    "#;

    #[test]
    fn a_place_is_a_word_or_a_number() {
        let experiment = Experiment::parse("n", GOOD).unwrap();
        assert_eq!(experiment.claims[0].at, At::Here(X::Number(0.5)));
        for (word, at) in [
            ("last", At::Last),
            ("every", At::Every),
            ("hit", At::Here(X::Name("hit".to_owned()))),
        ] {
            let text = GOOD.replace("at = 0.5", &format!("at = {word:?}"));
            assert_eq!(Experiment::parse("n", &text).unwrap().claims[0].at, at);
        }
    }

    #[test]
    fn a_scale_has_what_is_common_and_may_have_its_own() {
        let text = GOOD.replace(
            "scales.tiny = { rounds",
            "workloads = [\"zipf\"]\ncommon = { load = 0.5, log2_slots = 9 }\n\
             scales.tiny = { workloads = [\"trace\"], rounds",
        );
        let mut experiment = Experiment::parse("n", &text).unwrap();
        let (tiny, paper) = (Scale::Tiny, Scale::Paper);
        let rest = |scale, word: &str| experiment.size(scale).unwrap().rest[word].to_string();
        assert_eq!(
            (rest(tiny, "load"), rest(tiny, "log2_slots")),
            ("0.5".into(), "10".into())
        );
        assert_eq!(experiment.size(tiny).unwrap().workloads, ["trace"]);
        assert_eq!(experiment.size(paper).unwrap().workloads, ["zipf"]);

        let words = "rounds = 7\nseed = 3\nfilters = [\"a\"]\nload = 0.7";
        experiment.change(tiny, words.parse().unwrap()).unwrap();
        assert_eq!(
            (&*experiment.seeds, &*experiment.filters),
            (&[3][..], &["a".to_owned()][..])
        );
        let size = experiment.size(tiny).unwrap();
        assert_eq!((size.rounds, &size.rest["load"]), (7, &Value::Float(0.7)));
    }

    #[test]
    fn panels_and_claims_are_repeated() {
        let text = GOOD.replace("name = \"p\"", "name = \"p {}\"\neach = [\"a\", \"b\"]");
        let text = text.replace("panel = \"p\"", "panel = \"p {}\"\neach = [\"b\"]");
        let experiment = Experiment::parse("n", &text).unwrap();
        let names: Vec<&str> = experiment.panels.iter().map(|panel| &*panel.name).collect();
        assert_eq!(names, ["p a", "p b"]);
        assert_eq!(experiment.claims[0].panel, "p b");
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (from, to, says) in [
            ("[1]", "[]", "no seed"),
            ("panel = \"p\"", "panel = \"q\"", "no panel \"q\""),
            ("at_least = 1", "", "nothing is demanded"),
            ("scales.small", "scales.smell", "unknown variant"),
            ("log2_slots = 12", "slots = 12", "the same words"),
            ("item =", "items =", "unknown field"),
        ] {
            let error = Experiment::parse("n", &GOOD.replace(from, to)).unwrap_err();
            assert!(error.to_string().contains(says), "{error}");
        }
    }
}
