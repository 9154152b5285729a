//! Which module of a crate names which other one.
//!
//! Every source file is split into tokens, so that comments, documentation and strings are out
//! of the way, and every path that starts with `crate`, `self` or `super` is resolved to the
//! module that it names:
//!
//! ```text
//! in sets/keyed.rs:    use crate::{error::Error, hash::Key}    sets -> error, sets -> hash
//!                      super::super::hash::Seed                sets -> hash
//!                      crate::Builder, in the root a           sets -> builder
//!                        `pub use builder::Builder`
//! ```
//!
//! What stands under `#[cfg(test)]` is left out, files included. Three things are not seen: a
//! method that is called without naming its module, what a name stands for that a third module
//! re-exports (its user is seen to name that third module), and paths that macros put together.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::iter::Peekable;
use std::mem;
use std::path::{Path, PathBuf};
use std::vec::IntoIter;

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};

use crate::error::Result;

/// A path from the root of a crate: `["filters", "plain"]`.
pub(super) type ModulePath = Vec<String>;

/// One place where a module names something of its crate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mention {
    /// The module that stands there.
    pub(super) from: ModulePath,
    /// What it names: a module and what is inside, as far as the path goes.
    pub(super) to: ModulePath,
    /// The file.
    pub(super) file: PathBuf,
    /// The line, counted from one.
    pub(super) line: usize,
}

/// All modules of a crate and what they name of each other.
#[derive(Debug, Default)]
pub(super) struct Crate {
    /// The modules that stand in the root.
    pub(super) modules: BTreeSet<String>,
    /// Every path from below the root to something of the same crate.
    pub(super) mentions: Vec<Mention>,
    /// What the root makes known of its modules: `Builder` for `builder::Builder`.
    exports: BTreeMap<String, ModulePath>,
}

impl Crate {
    /// Reads a crate from its root file, `lib.rs` or `main.rs`.
    pub(super) fn read(root: &Path) -> Result<Self> {
        let mut found = Crate::default();
        let folder = root.parent().ok_or("a root file lies in a folder")?;
        let mut files = vec![(root.to_path_buf(), folder.to_path_buf(), Vec::new())];
        while let Some((file, folder, module)) = files.pop() {
            let text = fs::read_to_string(&file)
                .map_err(|error| format!("can't read {}: {error}", file.display()))?;
            let tokens: TokenStream = text
                .parse()
                .map_err(|error| format!("{} is not Rust: {error}", file.display()))?;
            let mut scan = Scan {
                found: &mut found,
                file,
                module,
                folder,
                files: &mut files,
            };
            scan.tokens(tokens);
        }
        found
            .exports
            .retain(|_, path| found.modules.contains(&path[0]));
        for mention in &mut found.mentions {
            if let Some(path) = mention.to.first().and_then(|name| found.exports.get(name)) {
                mention.to.splice(..1, path.iter().cloned());
            }
        }
        Ok(found)
    }
}

/// The walk through the tokens of one file.
struct Scan<'s> {
    found: &'s mut Crate,
    file: PathBuf,
    module: ModulePath,
    /// Where the files of the modules in this one lie.
    folder: PathBuf,
    /// The files to be read next, each with its folder and its module.
    files: &'s mut Vec<(PathBuf, PathBuf, ModulePath)>,
}

type Tokens = Peekable<IntoIter<TokenTree>>;

impl Scan<'_> {
    fn tokens(&mut self, stream: TokenStream) {
        let mut tokens = all(stream);
        while let Some(token) = tokens.next() {
            match token {
                TokenTree::Punct(punct) if punct.as_char() == '#' => {
                    if let Some(TokenTree::Group(attribute)) = tokens.peek()
                        && is_test(attribute.stream())
                    {
                        skip_item(&mut tokens);
                    }
                }
                TokenTree::Group(group) => self.tokens(group.stream()),
                TokenTree::Ident(word) => {
                    let line = word.span().start().line;
                    match word.to_string().as_str() {
                        "mod" => self.inner_module(&mut tokens),
                        "use" if self.module.is_empty() => self.exports(&mut tokens),
                        "crate" => self.path(&mut tokens, Vec::new(), line),
                        "self" => self.path(&mut tokens, self.module.clone(), line),
                        "super" => self.path(&mut tokens, parent(&self.module), line),
                        _ => {}
                    }
                }
                TokenTree::Punct(_) | TokenTree::Literal(_) => {}
            }
        }
    }

    /// What stands behind `mod`: `name;` or `name { … }`.
    fn inner_module(&mut self, tokens: &mut Tokens) {
        let Some(TokenTree::Ident(name)) = tokens.next() else {
            return;
        };
        let name = name.to_string();
        if self.module.is_empty() {
            self.found.modules.insert(name.clone());
        }
        let folder = self.folder.join(&name);
        let mut module = self.module.clone();
        module.push(name);
        if let Some(TokenTree::Group(body)) = tokens.next() {
            let outer = mem::replace(&mut self.module, module);
            let above = mem::replace(&mut self.folder, folder);
            self.tokens(body.stream());
            self.module = outer;
            self.folder = above;
        } else {
            let beside = folder.with_extension("rs");
            let inside = folder.join("mod.rs");
            let file = if beside.exists() { beside } else { inside };
            self.files.push((file, folder, module));
        }
    }

    /// What stands behind `use` in the root.
    fn exports(&mut self, tokens: &mut Tokens) {
        let mut ends = Vec::new();
        read_path(tokens, Vec::new(), &mut ends);
        for (path, name) in ends {
            if let Some(name) = name.or_else(|| path.last().cloned()) {
                self.found.exports.insert(name, path);
            }
        }
    }

    /// What stands behind `crate`, `self` or `super`, which mean `start`.
    fn path(&mut self, tokens: &mut Tokens, start: ModulePath, line: usize) {
        // `self.field` and `pub(crate)` are no paths. The root may name everything.
        if !skip_colons(tokens) || self.module.is_empty() {
            return;
        }
        let mut ends = Vec::new();
        read_path(tokens, start, &mut ends);
        self.found
            .mentions
            .extend(ends.into_iter().map(|(to, _)| Mention {
                from: self.module.clone(),
                to,
                file: self.file.clone(),
                line,
            }));
    }
}

fn all(stream: TokenStream) -> Tokens {
    stream
        .into_iter()
        .collect::<Vec<_>>()
        .into_iter()
        .peekable()
}

fn parent(module: &[String]) -> ModulePath {
    module[..module.len().saturating_sub(1)].to_vec()
}

/// Takes `::` if it comes next.
fn skip_colons(tokens: &mut Tokens) -> bool {
    let is_first = |token: &TokenTree| matches!(token, TokenTree::Punct(p) if p.as_char() == ':' && p.spacing() == Spacing::Joint);
    tokens
        .next_if(is_first)
        .and_then(|_| tokens.next())
        .is_some()
}

/// Reads what follows `at`: one path, or several in braces, each with its name behind `as`.
fn read_path(
    tokens: &mut Tokens,
    mut at: ModulePath,
    ends: &mut Vec<(ModulePath, Option<String>)>,
) {
    loop {
        match tokens.peek() {
            Some(TokenTree::Ident(name)) => match name.to_string().as_str() {
                "super" => at = parent(&at),
                "crate" => at.clear(),
                "self" => {}
                name => at.push(name.into()),
            },
            Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => {
                let mut inner = all(group.stream());
                tokens.next();
                while inner.peek().is_some() {
                    read_path(&mut inner, at.clone(), ends);
                    // The comma.
                    inner.next();
                }
                return;
            }
            Some(TokenTree::Punct(star)) if star.as_char() == '*' => {
                tokens.next();
                return ends.push((at, None));
            }
            // A generic argument, which the caller reads.
            _ => return ends.push((at, None)),
        }
        tokens.next();
        if !skip_colons(tokens) {
            let is_as = |token: &TokenTree| matches!(token, TokenTree::Ident(word) if word == "as");
            let name = tokens.next_if(is_as).and_then(|_| tokens.next());
            return ends.push((at, name.map(|name| name.to_string())));
        }
    }
}

/// Is this the inside of `[cfg(test)]`, or of `[cfg(all(test, …))]`?
fn is_test(attribute: TokenStream) -> bool {
    let text = attribute.to_string().replace(' ', "");
    text == "cfg(test)" || text.starts_with("cfg(all(test,")
}

/// Takes an item: up to its body or its semicolon.
fn skip_item(tokens: &mut Tokens) {
    for token in tokens {
        match token {
            TokenTree::Punct(punct) if punct.as_char() == ';' => return,
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => return,
            _ => {}
        }
    }
}
