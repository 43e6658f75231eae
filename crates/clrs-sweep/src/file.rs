//! Sweep files: a recipe, a grid over its fields, overrides for some cells, exclusions.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clrs::suggest::{did_you_mean, nearest};
use clrs_nn::Recipe;
use clrs_nn::config::recipe::{self, RecipeError};
use clrs_store::{StoreError, read_regular};
use serde::Deserialize;
use toml::Value;

use crate::eval_plan::EvalPlan;

/// A sweep file, parsed and resolved.
///
/// ```
/// use clrs_sweep::file::SweepFile;
///
/// let text = "[grid]\nalgorithms = ['bfs', 'dfs']\nseed = [1, 2, 3]\n\n[[exclude]]\nalgorithms = 'dfs'\nseed = 3";
/// let sweep = SweepFile::parse(text, "example", |_| unreachable!("no other file is named"))?;
/// assert_eq!(sweep.cells.len(), 5);
/// assert_eq!((&sweep.cells[4].recipe.algorithms[0][..], sweep.cells[4].recipe.seed), ("dfs", 2));
/// # Ok::<(), clrs_sweep::file::SweepFileError>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SweepFile {
    /// Name of the sweep.
    pub name: String,
    /// The text of the file, with the name of the sweep.
    pub text: String,
    /// Name and text of the recipe file that it names, unless the recipe comes with the program.
    pub recipe_file: Option<(PathBuf, String)>,
    /// Every cell of the grid that is not excluded.
    pub cells: Vec<Cell>,
}

/// A cell of the grid.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Cell {
    /// The complete recipe.
    pub recipe: Recipe,
    /// What the run is evaluated on.
    pub eval: EvalPlan,
}

/// The sweeps that come with the program: name and text.
pub const SHIPPED: &[(&str, &str)] = &[
    ("quick", include_str!("../sweeps/quick.toml")),
    ("paper-2022", include_str!("../sweeps/paper-2022.toml")),
    ("paper-2022-figure-3", include_str!("../sweeps/paper-2022-figure-3.toml")),
    ("paper-2022-settings", include_str!("../sweeps/paper-2022-settings.toml")),
    ("generalist-2022", include_str!("../sweeps/generalist-2022.toml")),
];

/// Why a sweep file cannot be used.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the error messages document the variants")]
#[non_exhaustive]
pub enum SweepFileError {
    #[error(transparent)]
    Read(#[from] StoreError),
    #[error("{}: not UTF-8", .0.display())]
    Encoding(PathBuf),
    #[error("{0}")]
    Syntax(Box<toml::de::Error>),
    #[error("unknown sweep `{name}`{}", did_you_mean(suggestion.as_deref()))]
    UnknownSweep { name: String, suggestion: Option<String> },
    #[error("unknown recipe `{name}`{}", did_you_mean(suggestion.as_deref()))]
    UnknownRecipe { name: String, suggestion: Option<String> },
    #[error("recipe `{name}`: {source}")]
    Recipe { name: String, source: RecipeError },
    #[error("[{section}] {source}")]
    Field { section: &'static str, source: RecipeError },
    #[error("[grid] `{0}` must be a list of at least one value")]
    Axis(String),
    #[error("[{section}] `{field}` is set in [grid], too")]
    InGrid { section: &'static str, field: String },
    #[error("[{section}] `{field}` is not in [grid]; only fields of the grid select cells")]
    NotInGrid { section: &'static str, field: String },
    #[error("[{section}] `{field}`: {value} is not in [grid]{}", did_you_mean(suggestion.as_deref()))]
    NoSuchCell { section: &'static str, field: String, value: String, suggestion: Option<String> },
    #[error("[eval] `{0}` must be at least 1")]
    Zero(&'static str),
    #[error("the grid has {0} cells, more than {MAX_CELLS}")]
    TooLarge(usize),
    #[error("every cell of the grid is excluded")]
    Empty,
}

/// No sweep is larger.
const MAX_CELLS: usize = 1_000_000;
/// No file is longer.
const MAX_BYTES: u64 = 1 << 20;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawSweep {
    name: Option<String>,
    recipe: Option<String>,
    #[serde(default)]
    set: toml::Table,
    #[serde(default)]
    grid: toml::Table,
    #[serde(default, rename = "override")]
    overrides: Vec<RawOverride>,
    #[serde(default)]
    exclude: Vec<toml::Table>,
    #[serde(default)]
    eval: toml::Table,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawOverride {
    r#where: toml::Table,
    #[serde(default)]
    set: toml::Table,
    #[serde(default)]
    eval: toml::Table,
}

impl SweepFile {
    /// Opens a shipped sweep by its name, or a file. Recipes that it names are relative to its directory.
    ///
    /// # Errors
    /// If there is no such sweep, or it is not valid.
    pub fn open(name: &str) -> Result<SweepFile, SweepFileError> {
        let path = Path::new(name);
        if let Some((name, text)) = SHIPPED.iter().find(|(shipped, _)| *shipped == name) {
            return SweepFile::parse(text, name, |recipe| read_text(Path::new(recipe)));
        }
        if !path.exists() {
            let suggestion = nearest(name, SHIPPED.iter().map(|(name, _)| *name)).map(str::to_string);
            return Err(SweepFileError::UnknownSweep { name: name.into(), suggestion });
        }
        let stem = path.file_stem().map_or("sweep".into(), |stem| stem.to_string_lossy().into_owned());
        let directory = path.parent().unwrap_or(Path::new(""));
        SweepFile::parse(&read_text(path)?, &stem, |recipe| read_text(&directory.join(recipe)))
    }

    /// Parses the text of a sweep file. `read` returns the text of a recipe file.
    ///
    /// # Errors
    /// On invalid TOML, unknown fields, and selections that match no cell.
    pub fn parse(
        text: &str,
        name: &str,
        read: impl FnOnce(&str) -> Result<String, SweepFileError>,
    ) -> Result<SweepFile, SweepFileError> {
        let raw: RawSweep = toml::from_str(text).map_err(|error| SweepFileError::Syntax(Box::new(error)))?;
        let (base, recipe_file) = base_recipe(raw.recipe.as_deref(), read)?;
        if let Some(field) = raw.set.keys().find(|field| raw.grid.contains_key(*field)) {
            return Err(SweepFileError::InGrid { section: "set", field: field.clone() });
        }
        let base = with_fields(&base, "set", &assignments(&raw.set))?;
        let axes = raw.grid.iter().map(|(field, values)| Axis::new(&base, field, values));
        let axes = axes.collect::<Result<Vec<Axis>, _>>()?;
        let eval = eval_plan(&raw.eval)?;
        let overrides = raw.overrides.iter().map(|raw| Override::new(raw, &axes)).collect::<Result<Vec<_>, _>>()?;
        let exclude = raw.exclude.iter().map(|table| Selection::new(table, "exclude", &axes));
        let exclude = exclude.collect::<Result<Vec<_>, _>>()?;

        let count = axes.iter().try_fold(1usize, |count, axis| count.checked_mul(axis.values.len())).unwrap_or(usize::MAX);
        if count > MAX_CELLS {
            return Err(SweepFileError::TooLarge(count));
        }
        let mut cells = Vec::new();
        for index in 0..count {
            let chosen = choose(&axes, index);
            if exclude.iter().any(|selection| selection.matches(&chosen)) {
                continue;
            }
            let matching: Vec<&Override> = overrides.iter().filter(|of| of.selection.matches(&chosen)).collect();
            let grid: Vec<String> = chosen.iter().map(|(field, value)| format!("{field}={value}")).collect();
            let mut recipe = with_fields(&base, "grid", &grid)?;
            let mut table = raw.eval.clone();
            for Override { set, eval, .. } in &matching {
                recipe = with_fields(&recipe, "override", set)?;
                table.extend(eval.clone());
            }
            let eval = if matching.is_empty() { eval.clone() } else { eval_plan(&table)? };
            cells.push(Cell { recipe, eval });
        }
        if cells.is_empty() {
            return Err(SweepFileError::Empty);
        }
        let text = match &raw.name {
            Some(_) => text.into(),
            // A copy has another file name.
            None => format!("name = {}\n{text}", Value::String(name.into())),
        };
        Ok(SweepFile { name: raw.name.unwrap_or_else(|| name.into()), text, recipe_file, cells })
    }
}

fn read_text(path: &Path) -> Result<String, SweepFileError> {
    String::from_utf8(read_regular(path, MAX_BYTES)?).map_err(|_| SweepFileError::Encoding(path.into()))
}

/// The recipe of a sweep, and its file unless it comes with the program.
fn base_recipe(
    name: Option<&str>,
    read: impl FnOnce(&str) -> Result<String, SweepFileError>,
) -> Result<(Recipe, Option<(PathBuf, String)>), SweepFileError> {
    let Some(name) = name else { return Ok((Recipe::default(), None)) };
    let parse = |text: &str| Recipe::parse(text, &[]).map_err(|source| SweepFileError::Recipe { name: name.into(), source });
    if let Some((_, text)) = recipe::SHIPPED.iter().find(|(shipped, _)| *shipped == name) {
        return Ok((parse(text)?, None));
    }
    let text = match read(name) {
        Err(SweepFileError::Read(_)) if !name.contains(['/', '.']) => {
            let suggestion = nearest(name, recipe::SHIPPED.iter().map(|(name, _)| *name)).map(str::to_string);
            return Err(SweepFileError::UnknownRecipe { name: name.into(), suggestion });
        }
        text => text?,
    };
    Ok((parse(&text)?, Some((name.into(), text))))
}

fn eval_plan(table: &toml::Table) -> Result<EvalPlan, SweepFileError> {
    let plan: EvalPlan = table.clone().try_into().map_err(|error| SweepFileError::Syntax(Box::new(error)))?;
    if plan.sizes.contains(&0) {
        return Err(SweepFileError::Zero("sizes"));
    }
    if plan.count == Some(0) {
        return Err(SweepFileError::Zero("count"));
    }
    Ok(plan)
}

fn with_fields(recipe: &Recipe, section: &'static str, overrides: &[String]) -> Result<Recipe, SweepFileError> {
    if overrides.is_empty() {
        return Ok(recipe.clone());
    }
    recipe.with_overrides(overrides).map_err(|source| SweepFileError::Field { section, source })
}

/// Fields of a table as overrides of a recipe.
fn assignments(table: &toml::Table) -> Vec<String> {
    table.iter().map(|(field, value)| format!("{field}={}", plain(value))).collect()
}

/// A value as an override of a recipe writes it.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(values) => values.iter().map(plain).collect::<Vec<_>>().join(","),
        value => value.to_string(),
    }
}

/// A field of the grid and its values.
struct Axis {
    field: String,
    values: Vec<String>,
}

impl Axis {
    /// Checks every value on its own, so that an error names the value instead of a cell.
    fn new(base: &Recipe, field: &str, values: &Value) -> Result<Axis, SweepFileError> {
        let values: Vec<String> = values.as_array().into_iter().flatten().map(plain).collect();
        for value in &values {
            with_fields(base, "grid", &[format!("{field}={value}")])?;
        }
        if values.is_empty() {
            // An unknown field is the more helpful error.
            with_fields(base, "grid", &[format!("{field}=")]).or_else(|error| match error {
                error @ SweepFileError::Field { source: RecipeError::UnknownField { .. }, .. } => Err(error),
                _ => Ok(base.clone()),
            })?;
            return Err(SweepFileError::Axis(field.into()));
        }
        Ok(Axis { field: field.into(), values })
    }
}

type Chosen<'a> = Vec<(&'a str, &'a str)>;

/// The values of a cell; those of the last field change first.
fn choose(axes: &[Axis], mut index: usize) -> Chosen<'_> {
    let mut chosen: Chosen<'_> = Vec::with_capacity(axes.len());
    for axis in axes.iter().rev() {
        chosen.push((&axis.field, &axis.values[index % axis.values.len()]));
        index /= axis.values.len();
    }
    chosen.reverse();
    chosen
}

/// Cells that have one of the listed values for every listed field.
struct Selection(BTreeMap<String, Vec<String>>);

impl Selection {
    fn new(table: &toml::Table, section: &'static str, axes: &[Axis]) -> Result<Selection, SweepFileError> {
        let mut selection = BTreeMap::new();
        for (field, value) in table {
            let not_in_grid = || SweepFileError::NotInGrid { section, field: field.clone() };
            let axis = axes.iter().find(|axis| axis.field == *field).ok_or_else(not_in_grid)?;
            let values: Vec<String> = match value {
                Value::Array(values) => values.iter().map(plain).collect(),
                value => vec![plain(value)],
            };
            if let Some(value) = values.iter().find(|value| !axis.values.contains(value)) {
                let suggestion = nearest(value, axis.values.iter().map(String::as_str)).map(str::to_string);
                return Err(SweepFileError::NoSuchCell { section, field: field.clone(), value: value.clone(), suggestion });
            }
            selection.insert(field.clone(), values);
        }
        Ok(Selection(selection))
    }

    fn matches(&self, chosen: &Chosen<'_>) -> bool {
        let value = |field: &str| chosen.iter().find(|(of, _)| *of == field).map(|(_, value)| *value);
        self.0.iter().all(|(field, values)| value(field).is_some_and(|value| values.iter().any(|of| of == value)))
    }
}

/// Fields of some cells.
struct Override {
    selection: Selection,
    set: Vec<String>,
    eval: toml::Table,
}

impl Override {
    fn new(raw: &RawOverride, axes: &[Axis]) -> Result<Override, SweepFileError> {
        if let Some(field) = raw.set.keys().find(|field| axes.iter().any(|axis| axis.field == **field)) {
            return Err(SweepFileError::InGrid { section: "override", field: field.clone() });
        }
        let selection = Selection::new(&raw.r#where, "override", axes)?;
        Ok(Override { selection, set: assignments(&raw.set), eval: raw.eval.clone() })
    }
}

#[cfg(test)]
mod tests {
    use clrs_nn::data::eval_set::EvalSet;

    use super::*;

    fn parse(text: &str) -> Result<SweepFile, SweepFileError> {
        SweepFile::parse(text, "test", |name| read_text(Path::new(name)))
    }

    fn error(text: &str) -> String {
        parse(text).expect_err("invalid").to_string()
    }

    #[test]
    fn shipped_sweeps_are_valid() {
        let counts: Vec<(&str, usize)> = SHIPPED
            .iter()
            .map(|(name, text)| (*name, parse(text).unwrap_or_else(|e| panic!("{name}: {e}")).cells.len()))
            .collect();
        let expected = [
            ("quick", 8),
            ("paper-2022", (30 * 7 + 12 * 2) * 3),
            ("paper-2022-figure-3", (8 * 7 + 2) * 3),
            ("paper-2022-settings", (6 + 1) * 48 * 3),
            ("generalist-2022", 90),
        ];
        assert_eq!(counts, expected);
    }

    #[test]
    fn a_list_field_takes_lists_and_single_values() {
        let sweep = parse("[grid]\nalgorithms = ['bfs', ['bfs', 'dfs']]\nlengths = [[4, 8], 16]").expect("valid");
        let fields: Vec<(usize, &[usize])> =
            sweep.cells.iter().map(|cell| (cell.recipe.algorithms.len(), &cell.recipe.lengths[..])).collect();
        assert_eq!(fields, [(1, &[4, 8][..]), (1, &[16]), (2, &[4, 8]), (2, &[16])]);
    }

    #[test]
    fn overrides_apply_to_the_cells_that_they_select() {
        let text = "recipe = 'paper-2022'\n[grid]\nalgorithms = ['bfs', 'minimum']\nseed = [1, 2]\n[eval]\nhints = true\n\
                    [[override]]\nwhere = { algorithms = 'minimum', seed = [2] }\nset = { eval_every = 100 }\neval = { steps = ['oracle'] }";
        let sweep = parse(text).expect("valid");
        let every: Vec<usize> = sweep.cells.iter().map(|cell| cell.recipe.eval_every).collect();
        assert_eq!(every, [10, 10, 10, 100]);
        assert!(sweep.cells.iter().all(|cell| cell.eval.hints));
        assert_eq!(sweep.cells.iter().map(|cell| cell.eval.steps.len()).collect::<Vec<_>>(), [2, 2, 2, 1]);
    }

    #[test]
    fn errors_name_the_section_and_the_field() {
        assert_eq!(error("[grid]\nprocesor = ['mpnn']"), "[grid] unknown field `procesor`; did you mean `processor`?");
        assert_eq!(error("[grid]\nprocesor = []"), "[grid] unknown field `procesor`; did you mean `processor`?");
        assert_eq!(error("[grid]\nseed = 3"), "[grid] `seed` must be a list of at least one value");
        assert_eq!(error("[grid]\nseed = [1, 'two']"), "[grid] `seed`: expected a non-negative integer, got \"two\"");
        assert_eq!(error("[set]\nseed = 1\n[grid]\nseed = [1]"), "[set] `seed` is set in [grid], too");
        let grid = "[grid]\nalgorithms = ['bfs']\n";
        assert_eq!(
            error(&format!("{grid}[[exclude]]\nhidden = 8")),
            "[exclude] `hidden` is not in [grid]; only fields of the grid select cells"
        );
        assert_eq!(
            error(&format!("{grid}[[exclude]]\nalgorithms = 'bsf'")),
            "[exclude] `algorithms`: bsf is not in [grid]; did you mean `bfs`?"
        );
        assert_eq!(error(&format!("{grid}[[exclude]]\nalgorithms = 'bfs'")), "every cell of the grid is excluded");
        assert_eq!(error("recipe = 'paper-2023'"), "unknown recipe `paper-2023`; did you mean `paper-2022`?");
        assert!(error("[gird]\nseed = [1]").contains("unknown field `gird`"));
        assert_eq!(error("[eval]\ncount = 0"), "[eval] `count` must be at least 1");
        assert_eq!(error("[eval]\nsizes = [16, 0]"), "[eval] `sizes` must be at least 1");
    }

    #[test]
    fn new_samples_of_an_evaluation_can_be_counted() -> Result<(), SweepFileError> {
        let sweep = parse(
            "[grid]\nalgorithms = ['bfs']\n[eval]\nsteps = ['oracle']\ncheckpoints = ['best']\nsizes = [16, 64]\ncount = 5",
        )?;
        let cell = &sweep.cells[0];
        let sets: Vec<_> = cell.eval.tasks(&cell.recipe).into_iter().map(|task| task.set).collect();
        assert_eq!(sets[1..], [16, 64].map(|size| EvalSet::sampled_count(size, Some(5))));
        Ok(())
    }

    #[test]
    fn new_samples_of_an_evaluation_are_drawn_like_those_of_the_benchmark() -> Result<(), SweepFileError> {
        let eval = "[eval]\ncheckpoints = ['best']\nsizes = [16]";
        let data = "[set]\ndata = 'clrs30@1.0.0-unsorted'";
        let sweep = parse(&format!("{data}\n[grid]\nalgorithms = ['binary_search', 'bfs']\n{eval}"))?;
        let options = sweep.cells.iter().map(|cell| match &cell.eval.tasks(&cell.recipe).pop().expect("a size").set {
            EvalSet::Sampled { options, .. } => options.to_string(),
            fixed => panic!("{fixed} after the sizes"),
        });
        assert_eq!(options.collect::<Vec<_>>(), ["sorted=false", ""]);
        Ok(())
    }
}
