//! Modules name what is below them and nothing else, as `layers.toml` says.
//!
//! A crate's layers are listed from the top down; a module may name those of its own layer and
//! of all layers below. The root file (`lib.rs`, `main.rs`) stands above them and may name
//! everything. In one layer, and among all modules of the root, names must not go in a circle.
//! Every module of the root is in some layer, alone or with its parts listed apart
//! (`filters::plain`). `allowed` has those names that break a rule and will for now.

mod scan;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;

use toml::{Table, Value};

use self::scan::{Crate, Mention};
use super::Outcome;
use crate::Result;
use crate::workspace::Workspace;

/// Where the layers are listed.
const FILE: &str = "layers.toml";

pub(super) fn run(workspace: &Workspace) -> Result<Outcome> {
    let text = fs::read_to_string(workspace.root().join(FILE))
        .map_err(|error| format!("can't read {FILE}: {error}"))?;
    let mut listed: Table = text.parse()?;
    let mut faults = Vec::new();
    for (package, root) in workspace.roots() {
        let Some(rules) = listed.remove(package) else {
            faults.push(format!("{FILE} has no layers for the package {package}"));
            continue;
        };
        let rules = Rules::new(package, &rules)?;
        let found = Crate::read(root)?;
        let broken = rules.check(&found);
        if broken.is_empty() {
            let (modules, layers) = (found.modules.len(), rules.layers.len());
            let allowed = rules.allowed.len();
            println!("{package}: {modules} modules in {layers} layers, {allowed} exceptions");
        }
        faults.extend(broken);
    }
    faults.extend(
        listed
            .keys()
            .map(|name| format!("{FILE} lists {name}, which is no package")),
    );
    if faults.is_empty() {
        return Ok(Outcome::Passed);
    }
    let root = format!("{}/", workspace.root().display());
    Err(faults.join("\n").replace(&root, "").into())
}

/// One crate's part of the file.
#[derive(Debug, Default)]
struct Rules {
    package: String,
    /// From the top down, each with its modules: `filters::plain`.
    layers: Vec<Vec<String>>,
    /// Names that may go up: from which module to which.
    allowed: BTreeSet<(String, String)>,
}

impl Rules {
    fn new(package: &str, table: &Value) -> Result<Self> {
        let lines = |key: &str| -> Result<Vec<String>> {
            let list = match table.get(key) {
                Some(list) => list.clone().try_into()?,
                None => Vec::new(),
            };
            Ok(list)
        };
        let split = |layer: &String| layer.split_whitespace().map(String::from).collect();
        let edge = |line: &String| -> Result<(String, String)> {
            let (from, to) = line.split_once(" -> ").ok_or_else(|| {
                format!("{FILE}, {package}: {line:?} does not read `module -> module`")
            })?;
            Ok((from.into(), to.into()))
        };
        Ok(Rules {
            package: package.into(),
            layers: lines("layers")?.iter().map(split).collect(),
            allowed: lines("allowed")?.iter().map(edge).collect::<Result<_>>()?,
        })
    }

    /// What is wrong, each fault on a line of its own.
    fn check(&self, found: &Crate) -> Vec<String> {
        let package = &self.package;
        let mut faults = Vec::new();
        for module in &found.modules {
            if !self.modules().any(|listed| listed == module) {
                faults.push(format!("{package}: no layer lists the module {module}"));
            }
        }
        for listed in self.modules() {
            if !found.modules.contains(root_of(listed)) {
                faults.push(format!(
                    "{package}: there is no module {listed}, which a layer lists"
                ));
            }
        }
        let mut edges = Edges::new();
        let mut root_edges = Edges::new();
        let mut unused: BTreeSet<_> = self.allowed.clone();
        for mention in &found.mentions {
            let Some(to) = mention
                .to
                .first()
                .filter(|name| found.modules.contains(*name))
            else {
                let what = mention.to.join("::");
                faults.push(format!(
                    "{}: `crate::{what}` is the root's own",
                    place(mention)
                ));
                continue;
            };
            let ends = (self.unit(&mention.from), self.unit(&mention.to));
            let (Some((above, from)), Some((below, unit))) = ends else {
                continue;
            };
            if from == unit {
                continue;
            }
            let edge = (from.to_string(), unit.to_string());
            if self.allowed.contains(&edge) {
                unused.remove(&edge);
                continue;
            }
            if above > below {
                faults.push(format!(
                    "{}: {package}'s {from} names {unit}, above it",
                    place(mention)
                ));
                continue;
            }
            edges.entry(edge).or_insert(mention);
            if mention.from.first() != Some(to) {
                let edge = (mention.from[0].clone(), to.clone());
                root_edges.entry(edge).or_insert(mention);
            }
        }
        for (from, to) in unused {
            faults.push(format!(
                "{package}: nothing needs the exception `{from} -> {to}`"
            ));
        }
        let circle = circle(&edges).or_else(|| circle(&root_edges));
        faults.extend(
            circle.map(|circle| format!("{package}: modules name each other in a circle{circle}")),
        );
        faults
    }

    fn modules(&self) -> impl Iterator<Item = &str> {
        self.layers.iter().flatten().map(String::as_str)
    }

    /// The longest listed module that a path goes through, and how far from the top it is.
    fn unit(&self, path: &[String]) -> Option<(usize, &str)> {
        let path = path.join("::") + "::";
        let layers = self.layers.iter().enumerate();
        let units =
            layers.flat_map(|(depth, units)| units.iter().map(move |unit| (depth, unit.as_str())));
        units
            .filter(|(_, unit)| {
                path.strip_prefix(unit)
                    .is_some_and(|rest| rest.starts_with("::"))
            })
            .max_by_key(|(_, unit)| unit.len())
    }
}

fn root_of(module: &str) -> &str {
    module.split("::").next().unwrap_or(module)
}

fn place(mention: &Mention) -> String {
    format!("{}:{}", mention.file.display(), mention.line)
}

/// Which module names which, and one place where it does.
type Edges<'m> = BTreeMap<(String, String), &'m Mention>;

/// A circle of names, if there is one: a line for each of its steps.
fn circle(edges: &Edges<'_>) -> Option<String> {
    // Modules that name nothing, or only such modules, are in no circle.
    let mut left: Vec<_> = edges.keys().collect();
    loop {
        let sources: BTreeSet<_> = left.iter().map(|(from, _)| from).collect();
        let before = left.len();
        left.retain(|(_, to)| sources.contains(to));
        if left.len() == before {
            break;
        }
    }
    // From every module that is left one can go on, and so comes round.
    let mut walk = vec![*left.first()?];
    let start = loop {
        let at = &walk[walk.len() - 1].1;
        if let Some(start) = walk.iter().position(|(from, _)| from == at) {
            break start;
        }
        walk.push(left.iter().find(|(from, _)| from == at)?);
    };
    let mut lines = String::new();
    for edge in &walk[start..] {
        let _ = write!(
            lines,
            "\n  {} -> {} ({})",
            edge.0,
            edge.1,
            place(edges[edge])
        );
    }
    Some(lines)
}
