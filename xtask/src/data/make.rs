//! From unpacked packages to one key a line.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::fetch::files_below;
use super::{Made, output};
use crate::Result;

/// The first file below a folder with this name.
fn find(root: &Path, name: &str) -> Result<PathBuf> {
    let mut files = files_below(root)?.into_iter();
    let found = files.find(|path| path.file_name().is_some_and(|found| found == name));
    found.ok_or_else(|| format!("the package has no file `{name}` any more").into())
}

fn read_json(path: &Path) -> Result<Value> {
    Ok(serde_json::from_str(&fs::read_to_string(path)?)?)
}

/// The strings of a JSON array, in order and once each.
fn strings(array: &Value) -> impl Iterator<Item = String> + '_ {
    let items = array.as_array().into_iter().flatten();
    items.filter_map(|item| Some(item.as_str()?.to_lowercase()))
}

fn lines(keys: &BTreeSet<String>) -> String {
    keys.iter().map(|key| format!("{key}\n")).collect()
}

/// Blocked domains, and allowed ones.
pub(super) fn eth_phishing(root: &Path) -> Result<Vec<Made>> {
    let config = read_json(&find(root, "config.json")?)?;
    let blocked: BTreeSet<String> = strings(&config["blacklist"]).collect();
    let allowed: BTreeSet<String> = strings(&config["whitelist"]).collect();
    both_lists(
        blocked,
        allowed,
        ["eth-phishing-blocked.txt", "eth-phishing-allowed.txt"],
    )
}

/// The domains that are blocked whoever asks for them, and those that are let through.
pub(super) fn adguard(root: &Path) -> Result<Vec<Made>> {
    let (mut blocked, mut allowed) = (BTreeSet::new(), BTreeSet::new());
    let rulesets = files_below(root)?.into_iter().filter(|path| {
        let name = path.file_name().and_then(|name| name.to_str());
        name.is_some_and(|name| name.starts_with("ruleset_") && name.ends_with(".json"))
    });
    for path in rulesets {
        let rules = read_json(&path)?;
        for rule in rules.as_array().into_iter().flatten() {
            let condition = &rule["condition"];
            let list = match rule["action"]["type"].as_str() {
                Some("block") if condition["initiatorDomains"].is_null() => &mut blocked,
                Some("allow" | "allowAllRequests") => &mut allowed,
                _ => continue,
            };
            list.extend(strings(&condition["requestDomains"]));
            list.extend(whole_domain(condition["urlFilter"].as_str()));
        }
    }
    both_lists(
        blocked,
        allowed,
        ["adguard-blocked.txt", "adguard-allowed.txt"],
    )
}

/// The domain of a filter for all of it, `||example.org^`.
fn whole_domain(filter: Option<&str>) -> Option<String> {
    let domain = filter?.strip_prefix("||")?.strip_suffix('^')?;
    let plain = |c: char| c.is_ascii_alphanumeric() || "-.".contains(c);
    domain.chars().all(plain).then(|| domain.to_lowercase())
}

/// A key is on one list; the allowed ones are the exceptions.
fn both_lists(
    mut blocked: BTreeSet<String>,
    allowed: BTreeSet<String>,
    names: [&'static str; 2],
) -> Result<Vec<Made>> {
    blocked.retain(|key| !allowed.contains(key));
    if blocked.is_empty() || allowed.is_empty() {
        return Err("the package has another form than expected: a list is empty".into());
    }
    Ok(vec![
        (names[0], lines(&blocked)),
        (names[1], lines(&allowed)),
    ])
}

/// A genome, unpacked.
pub(super) fn genome(root: &Path, file: &str, name: &'static str) -> Result<Vec<Made>> {
    let path = find(root, file)?;
    let fasta = output(Command::new("gzip").arg("-dc").arg(path))?;
    Ok(vec![(name, fasta)])
}

/// All names, in order.
pub(super) fn package_names(root: &Path) -> Result<Vec<Made>> {
    let json = fs::read_to_string(find(root, "names.json")?)?;
    let mut names: Vec<String> = serde_json::from_str(&json)?;
    names.retain(|name| !name.is_empty() && !name.contains('\n'));
    names.sort_unstable();
    names.dedup();
    let content = names.iter().map(|name| format!("{name}\n"));
    Ok(vec![("package-names.txt", content.collect())])
}

/// The paths in Debian's contents, in order.
pub(super) fn paths(root: &Path) -> Result<Vec<Made>> {
    let mut paths = BTreeSet::new();
    for list in files_below(&root.join("lists"))? {
        let name = list.file_name().and_then(|name| name.to_str());
        if name.is_some_and(|name| name.contains("_Contents-")) {
            let mut cat = Command::new("/usr/lib/apt/apt-helper");
            let contents = output(cat.arg("cat-file").arg(list))?;
            paths.extend(contents.lines().filter_map(path).map(String::from));
        }
    }
    if paths.is_empty() {
        return Err("Debian's Contents have another form than expected".into());
    }
    Ok(vec![("paths.txt", lines(&paths))])
}

/// The path of a line: what stands before the last column, which names packages.
fn path(line: &str) -> Option<&str> {
    let (path, _) = line.trim_end().rsplit_once([' ', '\t'])?;
    Some(path.trim_end()).filter(|path| !path.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_for_whole_domains_are_told_from_others() {
        assert_eq!(
            whole_domain(Some("||Ads.example^")),
            Some("ads.example".to_owned())
        );
        for other in [
            "||ads.example/x^",
            "ads.example",
            "||a*b^",
            "||ads.example^$third-party",
        ] {
            assert_eq!(whole_domain(Some(other)), None, "{other}");
        }
        assert_eq!(whole_domain(None), None);
    }

    #[test]
    fn paths_may_have_spaces() {
        assert_eq!(path("etc/a b   net/x,net/y"), Some("etc/a b"));
        assert_eq!(path("etc/a\tnet/x\n"), Some("etc/a"));
        assert_eq!((path("etc/a"), path("")), (None, None));
    }

    #[test]
    fn an_exception_is_not_blocked() {
        let set = |keys: &[&str]| keys.iter().map(|&key| key.to_owned()).collect();
        let made = both_lists(set(&["a", "b"]), set(&["b", "c"]), ["x", "y"]).unwrap();
        assert_eq!(made, [("x", "a\n".to_owned()), ("y", "b\nc\n".to_owned())]);
        assert!(both_lists(set(&["a"]), set(&[]), ["x", "y"]).is_err());
    }
}
