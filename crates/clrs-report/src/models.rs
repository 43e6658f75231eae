//! Which runs belong to one model, and how models are named.

use clrs::clrs30::Version;
use clrs_nn::Recipe;
use clrs_nn::config::data_source::DataSource;

use crate::paper::PROCESSORS;

/// A recipe without the fields in which runs of one model may differ: seeds, the algorithm of a run that has one, and what changes
/// neither parameters nor their training (how often and on how many samples a run is validated, and which kernels compute).
///
/// ```
/// use clrs_nn::Recipe;
/// use clrs_report::models::identity;
///
/// let recipe = |algorithm, seed| Recipe { algorithms: vec![algorithm], seed, ..Recipe::default() };
/// assert_eq!(identity(&recipe("bfs".into(), 1)), identity(&recipe("dfs".into(), 2)));
/// ```
pub fn identity(recipe: &Recipe) -> Recipe {
    let Recipe { eval_every, val_samples, fused, .. } = Recipe::default();
    let mut model = Recipe { seed: 0, data_seed: 0, eval_every, val_samples, fused, ..recipe.clone() };
    if model.algorithms.len() == 1 {
        model.algorithms.clear();
    }
    model
}

/// The identities of runs with these recipes. Versions of the benchmark, which differ in few algorithms, distinguish models only where
/// an algorithm has runs of several; otherwise the newest version stands for all.
pub(crate) fn identities(recipes: &[&Recipe]) -> Vec<Recipe> {
    let identities: Vec<Recipe> = recipes.iter().map(|recipe| identity(recipe)).collect();
    let of_version = |recipe: &Recipe, version| Recipe { data: DataSource::Benchmark(version), ..recipe.clone() };
    let with_newest = |recipe: &Recipe| {
        let Some(version) = recipe.data.version() else { return recipe.clone() };
        let same: Vec<(&Recipe, Version)> = (recipes.iter().zip(&identities))
            .filter_map(|(run, other)| Some((*run, other.data.version()?, other)))
            .filter(|(.., other)| of_version(other, version) == *recipe)
            .map(|(run, version, _)| (run, version))
            .collect();
        let is_ambiguous = |(run, version): &(&Recipe, Version)| {
            same.iter().any(|(other, of)| of != version && other.algorithms == run.algorithms)
        };
        if same.iter().any(is_ambiguous) {
            return recipe.clone();
        }
        let newest = Version::ALL.into_iter().find(|version| same.iter().any(|(_, of)| of == version));
        of_version(recipe, newest.unwrap_or(version))
    };
    identities.iter().map(with_newest).collect()
}

/// The processor of each model, and the fields in which the models differ.
pub(crate) fn labels(models: &[&Recipe]) -> Vec<String> {
    let differences = differences(models);
    models.iter().zip(differences).map(|(model, fields)| model.model.processor.clone() + &fields).collect()
}

/// The fields other than the processor in which models differ, each as ` name=value`.
pub(crate) fn differences(models: &[&Recipe]) -> Vec<String> {
    let tables: Vec<toml::Table> = models.iter().map(|model| table(model)).collect();
    let differs = |name: &&String| tables.iter().any(|table| table[*name] != tables[0][*name]);
    let Some(first) = tables.first() else { return Vec::new() };
    let fields: Vec<&String> = first.keys().filter(|name| *name != "processor").filter(differs).collect();
    let of_model = |table: &toml::Table| {
        let values = fields.iter().map(|name| (name, plain(&table[name.as_str()]))).filter(|(_, value)| !value.is_empty());
        let words: Vec<String> = values.map(|(name, value)| format!(" {name}={value}")).collect();
        words.concat()
    };
    tables.iter().map(of_model).collect()
}

/// Fields of a recipe by name.
pub(crate) fn table(recipe: &Recipe) -> toml::Table {
    toml::Table::try_from(recipe).expect("a recipe is a TOML table")
}

/// Longest list that is spelled out.
const MAX_LISTED: usize = 3;

/// A value as it is typed on the command line; long lists by their length.
pub(crate) fn plain(value: &toml::Value) -> String {
    match value {
        toml::Value::String(text) => text.clone(),
        toml::Value::Array(values) if values.len() > MAX_LISTED && values[0].is_str() => format!("[{}]", values.len()),
        toml::Value::Array(values) => values.iter().map(plain).collect::<Vec<_>>().join(","),
        #[expect(clippy::cast_possible_truncation, reason = "recipes have f32 values, which print shorter")]
        toml::Value::Float(number) => (*number as f32).to_string(),
        value => value.to_string(),
    }
}

/// A processor's name in tables: the paper's, with the variant where it has several.
pub(crate) fn display_name(processor: &str) -> String {
    PROCESSORS.iter().find(|(name, ..)| *name == processor).map_or(processor, |(.., label)| label).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_the_benchmark_are_one_model_unless_an_algorithm_has_runs_of_several() {
        let recipe = |algorithm: &str, version| Recipe {
            algorithms: vec![algorithm.into()],
            data: DataSource::Benchmark(version),
            ..Recipe::default()
        };
        let bfs = recipe("bfs", Version::V1_0_0);
        let [sorted, unsorted] = [Version::V1_0_0, Version::V1_0_0Unsorted].map(|version| recipe("binary_search", version));
        let versions = |recipes: &[&Recipe]| -> Vec<Option<Version>> {
            identities(recipes).iter().map(|identity| identity.data.version()).collect()
        };
        assert_eq!(versions(&[&unsorted, &bfs]), [Some(Version::V1_0_0); 2]);
        let separate = [Some(Version::V1_0_0Unsorted), Some(Version::V1_0_0), Some(Version::V1_0_0)];
        assert_eq!(versions(&[&unsorted, &bfs, &sorted]), separate);

        let other = Recipe { data: DataSource::OnTheFly, ..recipe("bfs", Version::V1_0_0) };
        assert_eq!(versions(&[&unsorted, &other]), [Some(Version::V1_0_0Unsorted), None]);
    }
}
