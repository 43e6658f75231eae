//! `cargo xtask test --only modules`: the modules of every crate form a directed acyclic graph.
//!
//! A module is a file. It depends on another if one of its paths (in a `use` item or in code) leads to an item of the other;
//! re-exports are followed to where the item is defined. Two kinds of dependencies do not count: a `pub use` of a module's own
//! descendants, which only shortens their paths, and everything under `#[cfg(test)]`.
//!
//! Where the documentation of a crate's root says that [modules use only modules above them](ORDERED), the order of its table of
//! modules is checked too.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail, ensure};
use proc_macro2::{Delimiter, TokenStream, TokenTree};

use crate::command::root;

/// The sentence in the documentation of a crate's root that makes the order of its table of modules binding.
const ORDERED: &str = "A module uses only modules above it in this table.";

/// A dependency that closes a cycle by design, and is left out of the search for cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Accepted {
    /// Source folder of the crate.
    folder: &'static str,
    from: &'static str,
    to: &'static str,
}

const fn accept(folder: &'static str, from: &'static str, to: &'static str) -> Accepted {
    Accepted { folder, from, to }
}

const ACCEPTED: &[Accepted] = &[
    // `Recorder::record` runs an algorithm; an algorithm creates recorders and problem buffers of its own type.
    accept("crates/clrs/src", "recorder.rs", "algorithm.rs"),
    accept("crates/clrs/src", "sampling/problem_buffer.rs", "algorithm.rs"),
    // A probe creates the column of its cell type; cells and columns have the kinds and locations of probes.
    accept("crates/clrs/src", "spec.rs", "cell.rs"),
    accept("crates/clrs/src", "spec.rs", "column.rs"),
    // Random graphs can be drawn from graph families, which have the weights of random graphs.
    accept("crates/clrs/src", "problems/random_graph.rs", "problems/graph_family.rs"),
    // One error type of the crate has the errors of all formats as causes.
    accept("crates/clrs-store/src", "error.rs", "native/decode.rs"),
    accept("crates/clrs-store/src", "error.rs", "set.rs"),
    accept("crates/clrs-store/src", "error.rs", "tfds/import.rs"),
    // These use only the error and result types of the public function or reader that calls them.
    accept("crates/clrs-store/src", "native/decode.rs", "native/read.rs"),
    accept("crates/clrs-store/src", "tfds/features.rs", "tfds/import.rs"),
    accept("crates/clrs-store/src", "tfds/info.rs", "tfds/import.rs"),
    accept("crates/clrs-store/src", "tfds/record.rs", "tfds/import.rs"),
    // Completions are generated from the complete command line.
    // Private helpers of a verb use its types.
    accept("crates/clrs-cli/src", "verbs/eval/files.rs", "verbs/eval.rs"),
    accept("crates/clrs-cli/src", "verbs/eval/json.rs", "verbs/eval.rs"),
    accept("crates/clrs-cli/src", "verbs/eval/print.rs", "verbs/eval.rs"),
    accept("crates/clrs-cli/src", "verbs/quickstart/learn.rs", "verbs/mod.rs"),
];

/// Checks the crates of the workspace; fails with a list of findings.
pub(crate) fn check() -> Result<()> {
    let mut sources = vec![root().join("xtask/src")];
    for entry in fs::read_dir(root().join("crates")).context("cannot list the crates")? {
        sources.push(entry?.path().join("src"));
    }
    sources.sort();
    let (mut files, mut findings) = (0, Vec::new());
    for source in sources {
        let graph = Graph::new(&read_sources(&source)?).with_context(|| format!("in {}", source.display()))?;
        let folder = source.strip_prefix(root()).unwrap_or(&source).display().to_string();
        files += graph.files.len();
        let accepted: Vec<Accepted> = ACCEPTED.iter().copied().filter(|accepted| accepted.folder == folder).collect();
        findings.extend(graph.findings(&accepted)?.iter().map(|finding| finding.describe(&folder)));
    }
    if findings.is_empty() {
        println!("{files} modules without cycles");
        return Ok(());
    }
    bail!("{} findings:\n{}", findings.len(), findings.join("\n"))
}

/// Path below `src`, with `/` between folders, and text of every source file of a crate but its binaries' in `src/bin`.
fn read_sources(source: &Path) -> Result<BTreeMap<String, String>> {
    let mut texts = BTreeMap::new();
    let mut folders = vec![source.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).with_context(|| format!("cannot list {}", folder.display()))? {
            let path = entry?.path();
            if path.is_dir() {
                if path != source.join("bin") {
                    folders.push(path);
                }
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
                let parts: Vec<_> = path.strip_prefix(source)?.iter().map(|part| part.to_string_lossy()).collect();
                texts.insert(parts.join("/"), text);
            }
        }
    }
    Ok(texts)
}

/// Path of a module from the root of its crate: `["exec", "fused"]`.
type ModulePath = Vec<String>;

/// A path in a module: an item of a `use`, or a path in code.
struct Reference {
    /// As written, `crate`, `super` and `self` included.
    path: Vec<String>,
    /// The module, possibly an inline one, that contains it.
    scope: ModulePath,
    line: usize,
    /// The name it gets, if it is an item of a `use`.
    name: Option<String>,
    is_public: bool,
}

/// The references of one file, and its modules that exist in tests only.
#[derive(Default)]
struct File {
    path: String,
    references: Vec<Reference>,
    test_modules: Vec<ModulePath>,
}

/// A dependency of one module on another.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Edge {
    from: String,
    line: usize,
    to: String,
}

#[derive(Debug, PartialEq, Eq)]
enum Finding {
    /// Each edge begins where the one before ends.
    Cycle(Vec<Edge>),
    /// The edge leads to a module that is below in the table.
    Order(Edge),
    /// A module of the crate's root that the table does not list.
    Unlisted(String),
    /// An accepted dependency that does not exist, or closes no cycle.
    Stale(Accepted),
}

impl Finding {
    fn describe(&self, folder: &str) -> String {
        let shown = |Edge { from, line, to }: &Edge| format!("{folder}/{from}:{line} uses {to}");
        match self {
            Finding::Cycle(edges) => format!("cycle: {}", edges.iter().map(shown).collect::<Vec<_>>().join(", ")),
            Finding::Order(edge) => format!("order: {}, which is below it in the table of modules", shown(edge)),
            Finding::Unlisted(module) => format!("{folder}: the table of modules does not list `{module}`"),
            Finding::Stale(Accepted { from, to, .. }) => {
                format!("{folder}: {from} uses {to} in no cycle; remove it from the accepted dependencies")
            }
        }
    }
}

/// The modules of a crate and their dependencies.
struct Graph {
    files: BTreeMap<ModulePath, File>,
    /// First edge between each pair of modules.
    edges: BTreeMap<ModulePath, BTreeMap<ModulePath, Edge>>,
    /// Modules in the order of the table, if that is binding.
    order: Option<Vec<String>>,
}

impl Graph {
    fn new(sources: &BTreeMap<String, String>) -> Result<Graph> {
        let mut files = BTreeMap::new();
        for (path, text) in sources {
            let module = module_path(path);
            let tokens: TokenStream = text.parse().map_err(|error| anyhow!("{path} cannot be parsed: {error}"))?;
            let mut file = File { path: path.clone(), ..File::default() };
            file.collect(tokens, &module);
            files.insert(module, file);
        }
        let test_modules: Vec<ModulePath> = files.values().flat_map(|file: &File| file.test_modules.clone()).collect();
        files.retain(|module, _| !test_modules.iter().any(|test| module.starts_with(test)));
        let order = files.get(&ModulePath::new()).and_then(|file| table_of_modules(&sources[&file.path]));
        let mut graph = Graph { files, edges: BTreeMap::new(), order };
        graph.connect();
        Ok(graph)
    }

    fn connect(&mut self) {
        for (module, file) in &self.files {
            for reference in &file.references {
                let Some(path) = self.absolute(file, reference) else { continue };
                let (target, _) = self.split(&path);
                if reference.is_public && target.starts_with(module) {
                    continue;
                }
                let target = self.definition(path);
                if target == *module {
                    continue;
                }
                let edge = Edge { from: file.path.clone(), line: reference.line, to: self.files[&target].path.clone() };
                self.edges.entry(module.clone()).or_default().entry(target).or_insert(edge);
            }
        }
    }

    /// Path from the root of the crate, `None` if it leads out of the crate.
    fn absolute(&self, file: &File, reference: &Reference) -> Option<ModulePath> {
        let (first, rest) = reference.path.split_first()?;
        let mut base = match first.as_str() {
            "crate" => ModulePath::new(),
            "self" | "super" => reference.scope.clone(),
            name => {
                let child = [&reference.scope[..], &[name.to_owned()]].concat();
                if self.files.contains_key(&child) {
                    child
                } else if reference.name.is_none() {
                    // In code, a path may begin with an imported name.
                    let imported = file.references.iter().find(|other| other.name.as_deref() == Some(name))?;
                    self.absolute(file, imported)?
                } else {
                    return None;
                }
            }
        };
        if first == "super" {
            base.pop()?;
        }
        let mut rest = rest;
        while let Some((name, more)) = rest.split_first()
            && name == "super"
        {
            base.pop()?;
            rest = more;
        }
        base.extend(rest.iter().cloned());
        Some(base)
    }

    /// The file with the longest path that leads to it, and what is left of the path.
    fn split<'p>(&self, path: &'p [String]) -> (&'p [String], &'p [String]) {
        let length = (0..=path.len()).rev().find(|&length| self.files.contains_key(&path[..length])).unwrap_or(0);
        path.split_at(length)
    }

    /// The module that defines the item at a path.
    fn definition(&self, mut path: ModulePath) -> ModulePath {
        // A chain of re-exports visits a file once.
        for _ in 0..self.files.len() {
            let (module, rest) = self.split(&path);
            let [name, more @ ..] = rest else { break };
            let file = &self.files[module];
            let is_import = |other: &&Reference| other.scope == module && other.name.as_ref() == Some(name);
            let Some(target) = file.references.iter().find(is_import).and_then(|import| self.absolute(file, import)) else {
                break;
            };
            path = [target, more.to_vec()].concat();
        }
        self.split(&path).0.to_vec()
    }

    fn findings(&self, accepted: &[Accepted]) -> Result<Vec<Finding>> {
        let mut findings = Vec::new();
        let mut seen = BTreeSet::new();
        let is_accepted = |edge: &Edge| accepted.iter().any(|accepted| accepted.from == edge.from && accepted.to == edge.to);
        for module in self.edges.keys() {
            if let Some(cycle) = self.shortest_path(module, module, &|edge| !is_accepted(edge)) {
                let members: BTreeSet<String> = cycle.iter().map(|edge| edge.from.clone()).collect();
                if seen.insert(members) {
                    findings.push(Finding::Cycle(cycle));
                }
            }
        }
        for accepted in accepted {
            let (from, to) = (module_path(accepted.from), module_path(accepted.to));
            let exists = self.edges.get(&from).is_some_and(|edges| edges.contains_key(&to));
            if !(exists && self.shortest_path(&to, &from, &|_| true).is_some()) {
                findings.push(Finding::Stale(*accepted));
            }
        }
        if let Some(order) = &self.order {
            ensure!(!order.is_empty(), "the documentation says that its table of modules is ordered, but has no table");
            let rank = |module: &ModulePath| module.first().and_then(|top| order.iter().position(|name| name == top));
            for (from, edges) in &self.edges {
                for (to, edge) in edges {
                    // The root of the crate has no rank.
                    if let (Some(from), Some(to)) = (rank(from), rank(to))
                        && from < to
                    {
                        findings.push(Finding::Order(edge.clone()));
                    }
                }
            }
            let top: BTreeSet<&String> = self.files.keys().filter_map(|module| module.first()).collect();
            findings.extend(top.into_iter().filter(|&name| !order.contains(name)).cloned().map(Finding::Unlisted));
        }
        Ok(findings)
    }

    /// A shortest path of at least one edge, by breadth-first search.
    fn shortest_path(&self, start: &ModulePath, end: &ModulePath, is_allowed: &dyn Fn(&Edge) -> bool) -> Option<Vec<Edge>> {
        let mut reached: BTreeMap<&ModulePath, (&ModulePath, &Edge)> = BTreeMap::new();
        let mut queue = VecDeque::from([start]);
        while let Some(module) = queue.pop_front() {
            for (target, edge) in self.edges.get(module).into_iter().flatten().filter(|(_, edge)| is_allowed(edge)) {
                if !reached.contains_key(target) {
                    reached.insert(target, (module, edge));
                    queue.push_back(target);
                }
            }
        }
        let mut path = Vec::new();
        let mut module = end;
        while path.is_empty() || module != start {
            let (before, edge) = reached.get(module)?;
            path.push((*edge).clone());
            module = before;
        }
        path.reverse();
        Some(path)
    }
}

/// `exec/fused/mod.rs` and `exec/fused.rs` are `exec::fused`; `lib.rs` and `main.rs` are the root.
fn module_path(file: &str) -> ModulePath {
    let mut parts: ModulePath = file.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
    let is_root = parts.len() == 1 && ["lib", "main"].contains(&parts[0].as_str());
    if is_root || parts.last().is_some_and(|last| last == "mod") {
        parts.pop();
    }
    parts
}

/// Names in the first column of a table like ``//! | [`config`] | recipes |``, if the documentation makes its order binding.
fn table_of_modules(text: &str) -> Option<Vec<String>> {
    let docs: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("//!")).map(str::trim).collect();
    docs.contains(&ORDERED).then(|| {
        let name = |line: &&str| Some(line.strip_prefix("| [`")?.split_once("`]")?.0.to_owned());
        docs.iter().filter_map(name).collect()
    })
}

impl File {
    /// Collects references from tokens: comments and literals are none, and macro calls are read like other code.
    fn collect(&mut self, tokens: TokenStream, scope: &ModulePath) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let (mut at, mut is_test, mut is_public) = (0, false, false);
        while at < tokens.len() {
            let was_public = std::mem::take(&mut is_public);
            match &tokens[at] {
                TokenTree::Punct(punct) if punct.as_char() == '#' => {
                    // `#[..]` or `#![..]`
                    at += 1 + usize::from(is_punct(tokens.get(at + 1), '!'));
                    if let Some(TokenTree::Group(attribute)) = tokens.get(at) {
                        is_test |= is_cfg_test(&attribute.stream());
                    }
                    at += 1;
                }
                _ if is_test => {
                    at = self.skip_test_item(&tokens, at, scope);
                    is_test = false;
                }
                TokenTree::Ident(ident) if ident == "pub" => {
                    // `pub(crate)`
                    at += 1 + usize::from(group(tokens.get(at + 1), Delimiter::Parenthesis).is_some());
                    is_public = true;
                }
                TokenTree::Ident(ident) if ident == "mod" => {
                    if let (Some(TokenTree::Ident(name)), Some(body)) =
                        (tokens.get(at + 1), group(tokens.get(at + 2), Delimiter::Brace))
                    {
                        self.collect(body, &[&scope[..], &[name.to_string()]].concat());
                        at += 2;
                    }
                    at += 1;
                }
                TokenTree::Ident(ident) if ident == "use" => {
                    let end =
                        tokens[at..].iter().position(|token| is_punct(Some(token), ';')).map_or(tokens.len(), |end| at + end);
                    self.collect_use(&tokens[at + 1..end], &[], scope, was_public);
                    at = end;
                }
                TokenTree::Ident(_) if !is_punct(at.checked_sub(1).map(|before| &tokens[before]), ':') => {
                    let (path, after) = path_at(&tokens, at);
                    if path.len() > 1 {
                        let line = tokens[at].span().start().line;
                        self.references.push(Reference { path, scope: scope.clone(), line, name: None, is_public: false });
                    }
                    at = after;
                }
                TokenTree::Group(group) => {
                    self.collect(group.stream(), scope);
                    at += 1;
                }
                _ => at += 1,
            }
        }
    }

    /// Returns the index after an item that exists in tests only.
    fn skip_test_item(&mut self, tokens: &[TokenTree], start: usize, scope: &ModulePath) -> usize {
        let is_end = |token: &TokenTree| is_punct(Some(token), ';') || group(Some(token), Delimiter::Brace).is_some();
        let end = tokens[start..].iter().position(is_end).map_or(tokens.len(), |end| start + end + 1);
        let names = tokens[start..end].windows(2).filter(|pair| matches!(&pair[0], TokenTree::Ident(word) if word == "mod"));
        self.test_modules.extend(names.map(|pair| [&scope[..], &[pair[1].to_string()]].concat()));
        end
    }

    /// Collects the items of a `use`, the braces of which may be nested.
    fn collect_use(&mut self, tokens: &[TokenTree], prefix: &[String], scope: &ModulePath, is_public: bool) {
        for tree in tokens.split(|token| is_punct(Some(token), ',')) {
            let Some(first) = tree.first() else { continue };
            if is_punct(Some(first), ':') {
                continue; // `use ::other_crate`
            }
            let line = first.span().start().line;
            let (names, after) = path_at(tree, 0);
            let mut path = [prefix, &names].concat();
            if let Some(group) = group(tree.get(after), Delimiter::Brace) {
                self.collect_use(&group.into_iter().collect::<Vec<_>>(), &path, scope, is_public);
                continue;
            }
            let mut name = path.last().cloned();
            if name.as_deref() == Some("self") {
                path.pop();
                name = path.last().cloned();
            }
            match tree.get(after..) {
                Some([TokenTree::Ident(word), TokenTree::Ident(alias), ..]) if word == "as" => name = Some(alias.to_string()),
                Some([star, ..]) if is_punct(Some(star), '*') => name = Some("*".into()),
                _ => {}
            }
            self.references.push(Reference { path, scope: scope.clone(), line, name, is_public });
        }
    }
}

/// The identifiers of `a::b::c`, and the index after them and after a `::` at the end.
fn path_at(tokens: &[TokenTree], start: usize) -> (Vec<String>, usize) {
    let (mut path, mut at) = (Vec::new(), start);
    while let Some(TokenTree::Ident(ident)) = tokens.get(at) {
        path.push(ident.to_string());
        at += 1;
        if !(is_punct(tokens.get(at), ':') && is_punct(tokens.get(at + 1), ':')) {
            break;
        }
        at += 2;
    }
    (path, at)
}

fn is_punct(token: Option<&TokenTree>, character: char) -> bool {
    matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == character)
}

/// The tokens between delimiters of a kind.
fn group(token: Option<&TokenTree>, delimiter: Delimiter) -> Option<TokenStream> {
    match token {
        Some(TokenTree::Group(group)) if group.delimiter() == delimiter => Some(group.stream()),
        _ => None,
    }
}

/// Whether an attribute is `cfg(test)`, or `cfg(all(test, ..))`.
fn is_cfg_test(attribute: &TokenStream) -> bool {
    let text: String = attribute.to_string().split_whitespace().collect();
    text == "cfg(test)" || text.starts_with("cfg(all(test,")
}

impl fmt::Display for Edge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{} -> {}", self.from, self.line, self.to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Edges as `from:line -> to`, and findings.
    fn check(sources: &[(&str, &str)]) -> (Vec<String>, Vec<Finding>) {
        check_with(sources, &[])
    }

    fn check_with(sources: &[(&str, &str)], accepted: &[Accepted]) -> (Vec<String>, Vec<Finding>) {
        let sources = sources.iter().map(|&(path, text)| (path.to_owned(), text.to_owned())).collect();
        let graph = Graph::new(&sources).expect("sources that parse");
        let edges = graph.edges.values().flat_map(BTreeMap::values).map(Edge::to_string).collect();
        (edges, graph.findings(accepted).expect("a table of modules"))
    }

    #[test]
    fn a_cycle_is_found_with_its_lines() {
        let (edges, findings) = check(&[
            ("lib.rs", "mod a; mod b; mod c;"),
            ("a.rs", "//! Docs.\n\nuse crate::b::{self, X};"),
            ("b.rs", "use super::c::Y;"),
            ("c.rs", "fn f() {\n    crate::a::g();\n}"),
        ]);
        assert_eq!(edges, ["a.rs:3 -> b.rs", "b.rs:1 -> c.rs", "c.rs:2 -> a.rs"]);
        let [Finding::Cycle(cycle)] = &findings[..] else { panic!("{findings:?}") };
        assert_eq!(cycle.len(), 3);
        assert!(findings[0].describe("src").contains("src/c.rs:2 uses a.rs"), "{}", findings[0].describe("src"));
    }

    #[test]
    fn a_parent_that_calls_its_child_and_is_used_by_it_is_a_cycle() {
        let (_, findings) =
            check(&[("lib.rs", "mod a;"), ("a/mod.rs", "mod b; pub struct X; fn f() { b::g() }"), ("a/b.rs", "use super::X;")]);
        assert!(matches!(&findings[..], [Finding::Cycle(cycle)] if cycle.len() == 2), "{findings:?}");
    }

    #[test]
    fn an_accepted_dependency_closes_no_cycle_and_must_be_needed() {
        let cycle = [
            ("lib.rs", "mod a; mod b; mod c;"),
            ("a.rs", "use crate::b::X;"),
            ("b.rs", "use crate::a::Y;"),
            ("c.rs", "use crate::a::Y;"),
        ];
        let accept = |from, to| accept("src", from, to);
        assert_eq!(check_with(&cycle, &[accept("b.rs", "a.rs")]).1, []);
        for (from, to) in [("c.rs", "a.rs"), ("a.rs", "c.rs")] {
            let findings = check_with(&cycle, &[accept("b.rs", "a.rs"), accept(from, to)]).1;
            assert_eq!(findings, [Finding::Stale(accept(from, to))]);
        }
    }

    #[test]
    fn re_exports_of_descendants_do_not_count_and_are_followed() {
        let (edges, findings) = check(&[
            ("lib.rs", "mod a; mod d; pub use a::{X, b::Z as W};"),
            ("a/mod.rs", "mod b; mod c; pub use self::b::X; pub(crate) use c::Y;"),
            ("a/b.rs", ""),
            ("a/c.rs", "use super::X;"),
            ("d.rs", "use crate::{W, a::Y};\nuse crate::X;"),
        ]);
        assert_eq!(edges, ["a/c.rs:1 -> a/b.rs", "d.rs:1 -> a/b.rs", "d.rs:1 -> a/c.rs"]);
        assert_eq!(findings, []);
    }

    #[test]
    fn a_re_export_of_another_module_counts() {
        let (edges, _) = check(&[("lib.rs", "mod a; mod b;"), ("a.rs", "pub use crate::b::X;"), ("b.rs", "")]);
        assert_eq!(edges, ["a.rs:1 -> b.rs"]);
    }

    #[test]
    fn tests_comments_literals_and_visibilities_do_not_count() {
        let (edges, _) = check(&[
            ("lib.rs", "mod a; mod b; #[cfg(test)] mod t;"),
            (
                "a.rs",
                "//! [`crate::b`]\n#[cfg(test)]\nmod tests { use crate::b::X; }\n#[cfg(test)]\nuse crate::b::Y;\npub(in crate::a) struct S;\nconst T: &str = \"crate::b\";",
            ),
            ("b.rs", "#[cfg(not(test))]\nfn f() { crate::a::g() }"),
            ("t.rs", "use crate::b::X;"),
        ]);
        assert_eq!(edges, ["b.rs:2 -> a.rs"]);
    }

    #[test]
    fn paths_begin_with_imported_modules_macros_and_inline_modules() {
        let (edges, _) = check(&[
            ("lib.rs", "mod a; mod b; mod c;"),
            ("a.rs", "use crate::b;\nmod inner { use super::super::c::Z; }\nfn f() { println!(\"{}\", b::d::X); }"),
            ("b/mod.rs", "mod d;"),
            ("b/d.rs", "macro_rules! m { () => { $crate::c::f() } }"),
            ("c.rs", "use other::a::X;\nuse ::b::Y;"),
        ]);
        assert_eq!(edges, ["a.rs:1 -> b/mod.rs", "a.rs:3 -> b/d.rs", "a.rs:2 -> c.rs", "b/d.rs:1 -> c.rs"]);
    }

    #[test]
    fn a_module_that_uses_one_below_it_in_the_table_is_found() {
        let table = "//! | module | responsibility |\n//! |---|---|\n//! | [`low`] | data |\n//! | [`high`] | code |\n//!\n";
        let root = format!("{table}//! {ORDERED}\n\npub mod high;\npub mod low;\npub mod other;\n");
        let files = [("low/mod.rs", "mod x;"), ("low/x.rs", "\nuse crate::high::X;"), ("high.rs", ""), ("other.rs", "")];
        let (_, findings) = check(&[&[("lib.rs", &*root)], &files[..]].concat());
        let edge = Edge { from: "low/x.rs".into(), line: 2, to: "high.rs".into() };
        assert_eq!(findings, [Finding::Order(edge), Finding::Unlisted("other".into())]);
        let unordered = root.replace(ORDERED, "");
        let (_, findings) = check(&[&[("lib.rs", &*unordered)], &files[..]].concat());
        assert_eq!(findings, []);
    }
}
