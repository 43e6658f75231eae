//! `cargo xtask test --only package`: every publishable crate can be packaged, with all the files it includes.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail, ensure};
use proc_macro2::{TokenStream, TokenTree};
use serde::Deserialize;

use crate::command::{cargo, output, run};

/// Files that cargo generates or copies into a package.
const GENERATED: [&str; 5] = [".cargo_vcs_info.json", "Cargo.lock", "Cargo.toml", "Cargo.toml.orig", "README.md"];

/// What `cargo metadata` prints.
#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    manifest_path: PathBuf,
    /// The registries it may be published to; `None` for all.
    publish: Option<Vec<String>>,
}

/// Checks the files of every package, then packages all of them.
pub(crate) fn check() -> Result<()> {
    let metadata = output(&mut cargo(&["metadata", "--no-deps", "--format-version", "1"]))?;
    let Metadata { packages } = serde_json::from_str(&metadata).context("`cargo metadata` printed something else")?;
    let (published, private): (Vec<_>, Vec<_>) = packages.into_iter().partition(|package| package.publish.is_none());
    ensure!(!published.is_empty(), "no crate can be published");
    let mut findings = Vec::new();
    for Package { name, manifest_path, .. } in &published {
        let folder = manifest_path.parent().context("a manifest is in a folder")?;
        let list = output(&mut cargo(&["package", "--quiet", "--allow-dirty", "--list", "--package", name]))?;
        let files: BTreeSet<PathBuf> = list.lines().map(PathBuf::from).collect();
        findings.extend(check_files(folder, &files)?.into_iter().map(|finding| format!("{name}: {finding}")));
    }
    if !findings.is_empty() {
        bail!("{} findings:\n{}", findings.len(), findings.join("\n"));
    }
    // Tests build the crates already. Crates that depend on each other are packaged together.
    let mut package = cargo(&["package", "--quiet", "--workspace", "--no-verify", "--allow-dirty"]);
    package.args(private.iter().flat_map(|package| ["--exclude", &package.name]));
    run(&mut package)?;
    println!("{} crates packaged", published.len());
    Ok(())
}

/// Files of a package that are not in its folder, and included files that are not in the package.
fn check_files(folder: &Path, files: &BTreeSet<PathBuf>) -> Result<Vec<String>> {
    let mut findings = Vec::new();
    for file in files {
        let path = folder.join(file);
        let is_generated = GENERATED.iter().any(|generated| file == Path::new(generated));
        let is_inside = path.is_file() && file.components().all(|part| matches!(part, Component::Normal(_)));
        if !is_generated && !is_inside {
            findings.push(format!("{} is not a file of the crate", file.display()));
        }
        if file.extension().is_none_or(|extension| extension != "rs") {
            continue;
        }
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let tokens = text.parse::<TokenStream>().map_err(|error| anyhow!("{} cannot be parsed: {error}", path.display()))?;
        for included in included_files(tokens) {
            let target = included.as_ref().and_then(|included| normalize(&file.parent()?.join(included)));
            match target {
                Some(target) if files.contains(&target) => {}
                _ => findings.push(format!(
                    "{} includes {}, which is not in the package",
                    file.display(),
                    included.as_deref().unwrap_or("a computed path")
                )),
            }
        }
    }
    Ok(findings)
}

/// Arguments of `include_str!`, `include_bytes!` and `include!`; `None` for those that are not plain literals.
fn included_files(tokens: TokenStream) -> Vec<Option<String>> {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut found = Vec::new();
    for (index, token) in tokens.iter().enumerate() {
        let TokenTree::Group(group) = token else { continue };
        let name = index.checked_sub(2).map(|before| [tokens[before].to_string(), tokens[before + 1].to_string()]);
        if name.is_some_and(|[name, bang]| ["include_str", "include_bytes", "include"].contains(&&*name) && bang == "!") {
            let argument = group.stream().to_string();
            found.push(argument.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).map(str::to_owned));
        } else {
            found.extend(included_files(group.stream()));
        }
    }
    found
}

/// Removes `..`; `None` if that leads out of the package.
fn normalize(path: &Path) -> Option<PathBuf> {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::Normal(name) => normal.push(name),
            Component::ParentDir if normal.pop() => {}
            Component::CurDir => {}
            _ => return None,
        }
    }
    Some(normal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_are_missing_or_outside_are_found() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::create_dir(folder.path().join("src")).expect("created");
        fs::write(folder.path().join("data.txt"), "").expect("written");
        let source = r#"
            // include_str!("in a comment")
            const A: &str = include_str!("../data.txt");
            fn f() -> &'static [u8] { g(include_bytes!("missing.bin")) }
            const B: &str = include_str!("../../other/README.md");
            const C: &str = include_str!(concat!("a", "b"));
        "#;
        fs::write(folder.path().join("src/lib.rs"), source).expect("written");
        let files = ["Cargo.toml", "README.md", "data.txt", "src/lib.rs", "absent.rs.txt"].map(PathBuf::from).into();
        assert_eq!(
            check_files(folder.path(), &files).expect("readable files"),
            [
                "absent.rs.txt is not a file of the crate",
                "src/lib.rs includes missing.bin, which is not in the package",
                "src/lib.rs includes ../../other/README.md, which is not in the package",
                "src/lib.rs includes a computed path, which is not in the package",
            ]
        );
    }
}
