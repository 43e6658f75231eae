//! Named f32 tensors in a safetensors file: checkpoints, and parameters from other programs.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use clrs_store::{StoreError, read_regular};
use safetensors::tensor::{Dtype, SafeTensorError, SafeTensors, TensorView};

use crate::exec::parameters::{Parameter, Parameters};

/// Named f32 tensors and metadata.
///
/// ```
/// use clrs_nn::run::tensor_file::TensorFile;
///
/// let mut file = TensorFile::default();
/// file.tensors.insert("bias".into(), (vec![2], vec![0.5, -0.5]));
/// assert_eq!(TensorFile::from_bytes(&file.to_bytes())?, file);
/// assert_eq!(file.get("bias", &[2])?, [0.5, -0.5]);
/// assert_eq!(file.get("weight", &[2, 2]).unwrap_err().to_string(), "`weight` is missing");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TensorFile {
    /// Shape and values of each tensor.
    pub tensors: BTreeMap<String, (Vec<usize>, Vec<f32>)>,
    /// Metadata.
    pub metadata: BTreeMap<String, String>,
}

/// Why a file of tensors cannot be read or used.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the error messages document the variants")]
#[non_exhaustive]
pub enum TensorFileError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("{}: {source}", .path.display())]
    Content { path: PathBuf, source: Box<TensorFileError> },
    #[error("not a complete safetensors file ({0})")]
    Format(#[source] SafeTensorError),
    #[error("`{name}` is {dtype:?}, expected F32")]
    Dtype { name: String, dtype: Dtype },
    #[error("`{0}` is missing")]
    Missing(String),
    #[error("`{name}` has shape {found:?}, expected {expected:?}")]
    Shape { name: String, expected: Vec<usize>, found: Vec<usize> },
    #[error("`{name}` contains {value}")]
    NotFinite { name: String, value: f32 },
    #[error("`{0}` has no name in dm-clrs, which has no such layer")]
    NoDmClrsName(String),
    #[error("`{0}` is not a parameter of the network")]
    Unknown(String),
}

/// Largest file that is read. Far above any network here, and a bound on what a damaged or hostile file can allocate.
const MAX_BYTES: u64 = 16 << 30;

impl TensorFile {
    /// Reads a file.
    ///
    /// # Errors
    /// If it cannot be read or is not a safetensors file of f32 tensors.
    pub fn read(path: &Path) -> Result<TensorFile, TensorFileError> {
        let bytes = read_regular(path, MAX_BYTES)?;
        let content = |error| TensorFileError::Content { path: path.into(), source: Box::new(error) };
        TensorFile::from_bytes(&bytes).map_err(content)
    }

    /// Parses the bytes of a file. Allocates no more than a few times their number.
    pub fn from_bytes(bytes: &[u8]) -> Result<TensorFile, TensorFileError> {
        let (_, header) = SafeTensors::read_metadata(bytes).map_err(TensorFileError::Format)?;
        let file = SafeTensors::deserialize(bytes).map_err(TensorFileError::Format)?;
        let metadata = header.metadata().iter().flatten().map(|(name, text)| (name.clone(), text.clone())).collect();
        let mut tensors = BTreeMap::new();
        for (name, view) in file.iter() {
            if view.dtype() != Dtype::F32 {
                return Err(TensorFileError::Dtype { name: name.into(), dtype: view.dtype() });
            }
            let values = view.data().chunks_exact(4).map(|bytes| f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]));
            tensors.insert(name.to_string(), (view.shape().to_vec(), values.collect()));
        }
        Ok(TensorFile { tensors, metadata })
    }

    /// The bytes of a file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let bytes = |values: &[f32]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
        let data: Vec<(&String, &Vec<usize>, Vec<u8>)> =
            self.tensors.iter().map(|(name, (shape, values))| (name, shape, bytes(values))).collect();
        let views = data.iter().map(|(name, shape, bytes)| {
            (name.as_str(), TensorView::new(Dtype::F32, (*shape).clone(), bytes).expect("as many bytes as the shape has"))
        });
        let metadata: HashMap<String, String> = self.metadata.clone().into_iter().collect();
        safetensors::serialize(views, Some(metadata)).expect("names are unique")
    }

    /// Values of parameters, under the names that `name` returns.
    pub fn from_parameters(parameters: &Parameters, name: impl Fn(&Parameter) -> String) -> TensorFile {
        let entry = |(parameter, values): (&Parameter, &Vec<f32>)| (name(parameter), (parameter.shape.clone(), values.clone()));
        let tensors = parameters.list().iter().zip(parameters.values()).map(entry).collect();
        TensorFile { tensors, metadata: BTreeMap::new() }
    }

    /// Values of parameters, under the names of dm-clrs.
    ///
    /// # Errors
    /// If dm-clrs does not have one of them.
    pub fn with_dm_clrs_names(parameters: &Parameters) -> Result<TensorFile, TensorFileError> {
        let unnamed = parameters.list().iter().find(|parameter| parameter.dm_clrs_name.is_none());
        if let Some(Parameter { name, .. }) = unnamed {
            return Err(TensorFileError::NoDmClrsName(name.clone()));
        }
        Ok(TensorFile::from_parameters(parameters, |parameter| parameter.dm_clrs_name.clone().expect("checked above")))
    }

    /// The values of a tensor.
    ///
    /// # Errors
    /// If it is missing or has another shape.
    pub fn get(&self, name: &str, shape: &[usize]) -> Result<&[f32], TensorFileError> {
        let (found, values) = self.tensors.get(name).ok_or_else(|| TensorFileError::Missing(name.into()))?;
        if found != shape {
            return Err(TensorFileError::Shape { name: name.into(), expected: shape.to_vec(), found: found.clone() });
        }
        Ok(values)
    }

    /// Sets all parameters, found under the names that `name` returns.
    ///
    /// # Errors
    /// If one is missing, has another shape or is not finite. No parameter is changed then.
    pub fn load_into(&self, parameters: &mut Parameters, name: impl Fn(&Parameter) -> String) -> Result<(), TensorFileError> {
        let values = |parameter: &Parameter| self.finite(&name(parameter), &parameter.shape).map(<[f32]>::to_vec);
        *parameters.values_mut() = parameters.list().iter().map(values).collect::<Result<_, TensorFileError>>()?;
        Ok(())
    }

    /// Sets the selected parameters, found under our names or, if the file has those, under dm-clrs's.
    ///
    /// # Errors
    /// As [`TensorFile::load_into`].
    pub fn load_some(
        &self,
        parameters: &mut Parameters,
        is_selected: impl Fn(&Parameter) -> bool,
    ) -> Result<(), TensorFileError> {
        let is_dm_clrs = self.tensors.keys().any(|name| name.starts_with("net/"));
        let mut values = parameters.values().to_vec();
        for (parameter, values) in parameters.list().iter().zip(&mut values) {
            if is_selected(parameter) {
                let name = if is_dm_clrs { parameter.dm_clrs_name.as_ref() } else { Some(&parameter.name) };
                let name = name.ok_or_else(|| TensorFileError::NoDmClrsName(parameter.name.clone()))?;
                values.copy_from_slice(self.finite(name, &parameter.shape)?);
            }
        }
        *parameters.values_mut() = values;
        Ok(())
    }

    fn finite(&self, name: &str, shape: &[usize]) -> Result<&[f32], TensorFileError> {
        let values = self.get(name, shape)?;
        match values.iter().find(|value| !value.is_finite()) {
            Some(&value) => Err(TensorFileError::NotFinite { name: name.into(), value }),
            None => Ok(values),
        }
    }
}
