//! Named arrays in a safetensors file: checkpoints, and parameters that come from elsewhere.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use safetensors::tensor::{Dtype, SafeTensorError, SafeTensors, TensorView};

use crate::exec::parameters::{Parameter, Parameters};

/// Arrays of f32 by name, and words about them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TensorFile {
    /// Shape and values of each.
    pub arrays: BTreeMap<String, (Vec<usize>, Vec<f32>)>,
    /// Anything that is to be said beside.
    pub metadata: BTreeMap<String, String>,
}

/// Why a file of arrays cannot be read or used.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum TensorFileError {
    #[error("{}: {error}", .path.display())]
    Io { path: PathBuf, error: std::io::Error },
    #[error("{}: no whole safetensors file ({error})", .path.display())]
    Format { path: PathBuf, error: SafeTensorError },
    #[error("{}: `{name}` holds {dtype:?}, not f32", .path.display())]
    Type { path: PathBuf, name: String, dtype: Dtype },
    #[error("there is no `{0}` in it")]
    Missing(String),
    #[error("`{name}` has the shape {found:?}, not {expected:?}")]
    Shape { name: String, expected: Vec<usize>, found: Vec<usize> },
    #[error("it has `{0}`, which the network does not")]
    Unknown(String),
}

impl TensorFile {
    /// Reads a file.
    pub fn read(path: &Path) -> Result<TensorFile, TensorFileError> {
        let bytes = std::fs::read(path).map_err(|error| TensorFileError::Io { path: path.into(), error })?;
        let format = |error| TensorFileError::Format { path: path.into(), error };
        let (_, head) = SafeTensors::read_metadata(&bytes).map_err(format)?;
        let file = SafeTensors::deserialize(&bytes).map_err(format)?;
        let metadata = head.metadata().iter().flatten().map(|(name, words)| (name.clone(), words.clone())).collect();
        let mut arrays = BTreeMap::new();
        for (name, view) in file.iter() {
            if view.dtype() != Dtype::F32 {
                return Err(TensorFileError::Type { path: path.into(), name: name.into(), dtype: view.dtype() });
            }
            let values = view.data().chunks_exact(4).map(|bytes| f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]));
            arrays.insert(name.to_string(), (view.shape().to_vec(), values.collect()));
        }
        Ok(TensorFile { arrays, metadata })
    }

    /// The bytes of such a file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let bytes = |values: &[f32]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
        let data: Vec<(&String, &Vec<usize>, Vec<u8>)> =
            self.arrays.iter().map(|(name, (shape, values))| (name, shape, bytes(values))).collect();
        let views = data.iter().map(|(name, shape, bytes)| {
            (name.as_str(), TensorView::new(Dtype::F32, (*shape).clone(), bytes).expect("as many bytes as the shape says"))
        });
        let metadata: HashMap<String, String> = self.metadata.clone().into_iter().collect();
        safetensors::serialize(views, Some(metadata)).expect("names are taken once")
    }

    /// Values of parameters, by the names that `name` gives them.
    pub fn of(parameters: &Parameters, name: impl Fn(&Parameter) -> String) -> TensorFile {
        let one = |(parameter, values): (&Parameter, &Vec<f32>)| (name(parameter), (parameter.shape.clone(), values.clone()));
        TensorFile { arrays: parameters.list().iter().zip(parameters.values()).map(one).collect(), ..TensorFile::default() }
    }

    /// The array of that name, of that shape.
    pub fn get(&self, name: &str, shape: &[usize]) -> Result<&[f32], TensorFileError> {
        let (found, values) = self.arrays.get(name).ok_or_else(|| TensorFileError::Missing(name.into()))?;
        if found != shape {
            return Err(TensorFileError::Shape { name: name.into(), expected: shape.to_vec(), found: found.clone() });
        }
        Ok(values)
    }

    /// Takes over the values of all parameters, by the names that `name` gives them. Nothing changes if one is not there.
    pub fn fill(&self, parameters: &mut Parameters, name: impl Fn(&Parameter) -> String) -> Result<(), TensorFileError> {
        let one = |parameter: &Parameter| self.get(&name(parameter), &parameter.shape).map(<[f32]>::to_vec);
        parameters.values = parameters.list().iter().map(one).collect::<Result<_, TensorFileError>>()?;
        Ok(())
    }

    /// Takes over the values of some parameters: by our names, or by those of dm-clrs where the file has these.
    pub fn fill_some(&self, parameters: &mut Parameters, wanted: impl Fn(&Parameter) -> bool) -> Result<(), TensorFileError> {
        let is_reference = self.arrays.keys().any(|name| name.starts_with("net/"));
        let mut values = parameters.values.clone();
        for (parameter, values) in parameters.list().iter().zip(&mut values) {
            if wanted(parameter) {
                let name = if is_reference { &parameter.reference } else { &parameter.name };
                values.copy_from_slice(self.get(name, &parameter.shape)?);
            }
        }
        parameters.values = values;
        Ok(())
    }
}
