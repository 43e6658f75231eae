//! Parsers of untrusted bytes, called by tests with a corpus and by fuzzers with any bytes.

use std::path::Path;

use clrs_nn::Recipe;
use clrs_nn::run::checkpoint::CheckpointFile;
use clrs_nn::run::tensor_file::TensorFile;

/// Reads bytes as the text of a recipe file, followed by overrides such as `hidden=64`, all separated by zero bytes. Returns the
/// recipe, which parses to itself when it is written.
pub(crate) fn recipe(data: &[u8]) -> Option<Recipe> {
    let text = std::str::from_utf8(data).ok()?;
    let mut parts = text.split('\0');
    let file = parts.next()?;
    let overrides: Vec<&str> = parts.collect();
    let recipe = match Recipe::parse(file, &overrides) {
        Ok(recipe) => recipe,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return None;
        }
    };
    if let Err(error) = recipe.validate() {
        assert!(!error.to_string().is_empty());
    }
    let written = recipe.to_toml();
    let read = Recipe::parse(&written, &[] as &[&str]).expect("a written recipe parses");
    // As text, since NaN is not equal to itself.
    assert_eq!(read.to_toml(), written);
    Some(recipe)
}

/// Reads bytes as a file of tensors and as a checkpoint. Returns the tensors, which read back when they are written.
pub(crate) fn checkpoint(data: &[u8]) -> Option<TensorFile> {
    if let Ok(checkpoint) = CheckpointFile::from_bytes(data, Path::new("bytes")) {
        let _ = checkpoint.state();
        if let Some(specs) = checkpoint.specs() {
            assert_eq!(specs.tasks.len(), specs.recorded.len());
        }
    }
    let file = TensorFile::from_bytes(data).ok()?;
    let written = file.to_bytes();
    let read = TensorFile::from_bytes(&written).expect("written tensors can be read");
    assert_eq!(read.metadata, file.metadata);
    // As bits, since NaN is not equal to itself.
    let bits = |file: &TensorFile| -> Vec<(String, Vec<usize>, Vec<u32>)> {
        let tensors = file.tensors.iter();
        tensors
            .map(|(name, (shape, values))| (name.clone(), shape.clone(), values.iter().map(|x| x.to_bits()).collect()))
            .collect()
    };
    assert_eq!(bits(&read), bits(&file));
    Some(file)
}
