//! Which runs belong to one model, and how models are named.

use clrs_nn::Recipe;

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
