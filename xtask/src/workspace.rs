//! What cargo knows about the workspace, so that nothing is written down twice.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::{Result, command};

/// The package that users depend on.
pub(crate) const LIBRARY: &str = "twiceshy";
/// The package of the store.
pub(crate) const STORE: &str = "twiceshy-store";
/// The package that tests the library's filters: oracle, conformance suite, games.
pub(crate) const TESTING: &str = "twiceshy-testing";
/// The package that draws reports.
pub(crate) const REPORT: &str = "twiceshy-report";
/// The package with the comparisons and profiles.
pub(crate) const LAB: &str = "twiceshy-lab";

/// The workspace as `cargo metadata` describes it.
pub(crate) struct Workspace {
    root: PathBuf,
    target: PathBuf,
    metadata: Value,
}

impl Workspace {
    pub(crate) fn load() -> Result<Self> {
        let json = command::stdout(Command::new("cargo").args([
            "metadata",
            "--format-version=1",
            "--no-deps",
        ]))?;
        let metadata: Value = serde_json::from_str(&json)?;
        let path = |field: &str| -> Result<PathBuf> {
            let path = metadata[field].as_str();
            Ok(path
                .ok_or(format!("cargo metadata has no `{field}`"))?
                .into())
        };
        Ok(Self {
            root: path("workspace_root")?,
            target: path("target_directory")?,
            metadata,
        })
    }

    /// The folder of the workspace's `Cargo.toml`.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// A file or folder below cargo's target directory, which is not always
    /// `target/`. Relative to the root where it can be, for readable command lines.
    pub(crate) fn target(&self, name: &str) -> PathBuf {
        let path = self.target.join(name);
        path.strip_prefix(&self.root)
            .map_or(path.clone(), Path::to_path_buf)
    }

    /// A program that is to run in the root.
    pub(crate) fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.root);
        command
    }

    /// A program that cargo has built with the dev profile, to run in the root: `NAME` or
    /// `examples/NAME`.
    pub(crate) fn built(&self, name: &str) -> Command {
        let program = self.root.join(self.target("debug")).join(name);
        let program = program.with_extension(std::env::consts::EXE_EXTENSION);
        self.command(&program.to_string_lossy())
    }

    /// `cargo ARGS…`, given as one line and split at spaces.
    pub(crate) fn cargo(&self, args: &str) -> Command {
        let mut cargo = self.command("cargo");
        cargo.args(args.split_whitespace());
        cargo
    }

    /// Every feature of a package, `default` included, in alphabetical order.
    pub(crate) fn features(&self, package: &str) -> Result<Vec<&str>> {
        let features = self.package(package)?["features"].as_object();
        let features = features.ok_or("cargo metadata lists no features")?;
        Ok(features.keys().map(String::as_str).collect())
    }

    /// Every example of a package.
    pub(crate) fn examples(&self, package: &str) -> Result<Vec<&str>> {
        let package = self.package(package)?;
        let targets = package["targets"].as_array().into_iter().flatten();
        let examples = targets.filter(|target| target["kind"][0] == "example");
        let names: Vec<&str> = examples.filter_map(|one| one["name"].as_str()).collect();
        if names.is_empty() {
            return Err("cargo metadata lists no examples".into());
        }
        Ok(names)
    }

    /// The root files of every package with a library or a program, in cargo's order: its name,
    /// and its `lib.rs` or `main.rs`.
    pub(crate) fn roots(&self) -> Vec<(&str, &Path)> {
        let packages = self.metadata["packages"].as_array().into_iter().flatten();
        packages
            .flat_map(|package| {
                let targets = package["targets"].as_array().into_iter().flatten();
                let built = targets.filter(|target| target["kind"][0] != "custom-build");
                let files = built.filter_map(|target| target["src_path"].as_str().map(Path::new));
                let in_src = files.filter(|file| file.parent().is_some_and(|f| f.ends_with("src")));
                let name = package["name"].as_str().unwrap_or_default();
                in_src.map(move |file| (name, file))
            })
            .collect()
    }

    /// The oldest compiler that the library promises to build with.
    pub(crate) fn library_msrv(&self) -> Result<&str> {
        let msrv = self.library()?["rust_version"].as_str();
        Ok(msrv.ok_or("the library has no `rust-version`")?)
    }

    fn library(&self) -> Result<&Value> {
        self.package(LIBRARY)
    }

    fn package(&self, name: &str) -> Result<&Value> {
        let mut packages = self.metadata["packages"].as_array().into_iter().flatten();
        let package = packages.find(|package| package["name"] == name);
        Ok(package.ok_or(format!("no package `{name}` in the workspace"))?)
    }
}
