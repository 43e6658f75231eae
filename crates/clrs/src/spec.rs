//! Probes and specs, in the vocabulary of the paper (section 3.1): a probe has a stage, a location and a kind.

use std::borrow::Cow;
use std::ops::Deref;

use serde::{Deserialize, Serialize};

use crate::cell::Cell;
use crate::column::Column;

/// When a value is observed. Specs list inputs, outputs and hints in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Once, before the run.
    Input,
    /// Once, after the run.
    Output,
    /// Once per step of the algorithm.
    Hint,
}

impl Stage {
    /// The name in files and JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Stage::Input => "input",
            Stage::Output => "output",
            Stage::Hint => "hint",
        }
    }

    /// The stage with the given name.
    pub fn from_name(name: &str) -> Option<Stage> {
        [Stage::Input, Stage::Output, Stage::Hint].into_iter().find(|stage| stage.name() == name)
    }
}

/// What a value is attached to. It determines the length of a row: `n`, `n * n` or 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the paper's names, explained above")]
pub enum Location {
    Node,
    Edge,
    Graph,
}

impl Location {
    /// The name in files and JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Location::Node => "node",
            Location::Edge => "edge",
            Location::Graph => "graph",
        }
    }

    /// The location with the given name.
    pub fn from_name(name: &str) -> Option<Location> {
        [Location::Node, Location::Edge, Location::Graph].into_iter().find(|location| location.name() == name)
    }

    /// Number of such locations in a graph of `n` nodes.
    pub const fn count(self, n: usize) -> usize {
        match self {
            Location::Node => n,
            Location::Edge => n * n,
            Location::Graph => 1,
        }
    }
}

/// How a value is encoded, decoded and scored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A real number.
    Scalar,
    /// 0 or 1.
    Mask,
    /// 1 for exactly one node.
    MaskOne,
    /// One of several classes.
    Categorical {
        /// Number of classes, including the blank class if there is one.
        classes: usize,
    },
    /// A node.
    Pointer,
    /// Pointers to the predecessor in a linear order; the first node points to itself.
    Permutation,
    /// A permutation closed to a cycle: the first node points to the last. Created by a transform, declared by no algorithm.
    CyclicPermutation,
}

impl Kind {
    /// The name of the type in dm-clrs.
    pub const fn dm_clrs_name(self) -> &'static str {
        match self {
            Kind::Scalar => "scalar",
            Kind::Mask => "mask",
            Kind::MaskOne => "mask_one",
            Kind::Categorical { .. } => "categorical",
            Kind::Pointer => "pointer",
            Kind::Permutation => "should_be_permutation",
            Kind::CyclicPermutation => "permutation_pointer",
        }
    }

    /// The kind of a type of dm-clrs. `classes` is the number of classes of a categorical. dm-clrs's soft pointers exist only inside its
    /// networks, and have no kind.
    pub fn from_dm_clrs_name(name: &str, classes: usize) -> Option<Kind> {
        let categorical = Kind::Categorical { classes };
        [Kind::Scalar, Kind::Mask, Kind::MaskOne, categorical, Kind::Pointer, Kind::Permutation, Kind::CyclicPermutation]
            .into_iter()
            .find(|kind| kind.dm_clrs_name() == name)
    }

    /// Replaces [`Kind::Permutation`] by [`Kind::Pointer`]. Both have the same values; versions of the benchmark differ in
    /// which of the two an output is.
    #[must_use]
    pub const fn plain(self) -> Kind {
        if matches!(self, Kind::Permutation) { Kind::Pointer } else { self }
    }
}

/// Element type of a probe in dense arrays. Hints are always `F64`; inputs and outputs follow dm-clrs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "NumPy's float64, float32 and int64; some transforms produce float32")]
pub enum DType {
    F64,
    F32,
    I64,
}

/// One observable of an algorithm. Strings are owned only if a transform or a file created the probe.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Probe {
    /// The name, used in files, arrays and tables; that of dm-clrs, if dm-clrs has the probe.
    pub name: Cow<'static, str>,
    /// When it is observed.
    pub stage: Stage,
    /// What it is attached to.
    pub location: Location,
    /// How it is encoded.
    pub kind: Kind,
    /// Whether cells can be masked out (-1 in dense arrays), as in `is_bridge` for pairs without an edge.
    pub masked: bool,
    /// Element type in dense arrays.
    #[serde(alias = "dense")]
    pub dtype: DType,
    /// One line: the doc comment of the declaration.
    #[serde(alias = "meaning")]
    pub description: Cow<'static, str>,
}

impl Probe {
    /// The probe of a declaration in [`probes!`](crate::probes!).
    pub const fn declared<C: Cell>(name: &'static str, stage: Stage, dtype: DType, description: &'static str) -> Probe {
        Probe {
            name: Cow::Borrowed(name),
            stage,
            location: C::LOCATION,
            kind: C::KIND,
            masked: C::MASKED,
            dtype,
            description: Cow::Borrowed(description.trim_ascii()),
        }
    }

    /// Whether cells of the two probes have the same type and the same meaning to an algorithm: they agree in name, stage,
    /// location and kind. Permutations and plain pointers count as one kind, since versions of the benchmark differ in which
    /// of the two an output is.
    pub fn same_layout(&self, other: &Probe) -> bool {
        (&self.name, self.stage, self.location, self.kind.plain())
            == (&other.name, other.stage, other.location, other.kind.plain())
    }

    /// Name of the mask of the first node that accompanies a [`Kind::CyclicPermutation`].
    pub fn mask_name(&self) -> String {
        format!("{}_mask", self.name)
    }

    /// Stage and name, as used for arrays in files: `hint/pi_h`.
    pub fn path(&self) -> String {
        format!("{}/{}", self.stage.name(), self.name)
    }

    /// Number of cells per row in a column. A one-hot mask is stored as a single node.
    pub const fn width(&self, n: usize) -> usize {
        if matches!(self.kind, Kind::MaskOne) { 1 } else { self.location.count(n) }
    }

    /// Size of a row in a column in bytes.
    pub(crate) fn row_bytes(&self, n: usize) -> usize {
        self.width(n).saturating_mul(Column::cell_bytes(self.kind))
    }

    /// Number of rows in a sample with `steps` steps.
    pub const fn rows(&self, steps: usize) -> usize {
        if matches!(self.stage, Stage::Hint) { steps } else { 1 }
    }

    /// Whether columns and dense arrays can represent the probe. Always true for declarations; files may contain anything.
    fn is_supported(&self) -> bool {
        let location = match self.kind {
            Kind::Scalar | Kind::Mask => true,
            Kind::Categorical { classes } => (1..=127).contains(&classes),
            Kind::Pointer => self.location != Location::Graph,
            Kind::MaskOne | Kind::Permutation | Kind::CyclicPermutation => self.location == Location::Node,
        };
        let masked = !self.masked || matches!(self.kind, Kind::Mask | Kind::Categorical { .. });
        // Names are used for columns and for files in archives.
        let name = !self.name.is_empty() && !self.name.contains(|c: char| c.is_control() || c == '/' || c == '\\');
        location && masked && name
    }
}

/// The probes of an algorithm in order: its constant declaration, or a list that a transform or a file created.
///
/// ```
/// use clrs::{Registry, Spec, Stage};
///
/// let spec = Spec::from(Registry::builtin().find("bfs")?.spec());
/// let hints: Vec<_> = spec.iter().filter(|probe| probe.stage == Stage::Hint).map(|probe| &*probe.name).collect();
/// assert_eq!(hints, ["reach_h", "pi_h"]);
/// # Ok::<(), clrs::registry::UnknownAlgorithm>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<Probe>")]
pub struct Spec(Cow<'static, [Probe]>);

impl Spec {
    /// Creates a spec at run time. Sorts the probes by stage.
    ///
    /// # Errors
    /// If two probes have the same name.
    pub fn new(mut probes: Vec<Probe>) -> Result<Spec, DuplicateProbe> {
        probes.sort_by_key(|probe| probe.stage); // stable: the caller's order within a stage is kept
        for (index, probe) in probes.iter().enumerate() {
            if probes[..index].iter().any(|other| other.name == probe.name) {
                return Err(DuplicateProbe(probe.name.clone().into_owned()));
            }
        }
        Ok(Spec(Cow::Owned(probes)))
    }

    /// Whether two specs have the same probes, whatever their descriptions say.
    pub fn same_probes(&self, other: &Spec) -> bool {
        let undescribed = |probe: &Probe| Probe { description: Cow::Borrowed(""), ..probe.clone() };
        self.iter().map(undescribed).eq(other.iter().map(undescribed))
    }

    /// The probe with the given name.
    pub fn get(&self, name: &str) -> Option<&Probe> {
        self.iter().find(|probe| probe.name == name)
    }
}

/// For untrusted input: also checks that every probe is supported.
impl TryFrom<Vec<Probe>> for Spec {
    type Error = InvalidSpec;

    fn try_from(probes: Vec<Probe>) -> Result<Spec, InvalidSpec> {
        if let Some(probe) = probes.iter().find(|probe| !probe.is_supported()) {
            return Err(InvalidSpec::Probe(probe.name.clone().into_owned()));
        }
        Ok(Spec::new(probes)?)
    }
}

impl From<&'static [Probe]> for Spec {
    fn from(probes: &'static [Probe]) -> Spec {
        Spec(Cow::Borrowed(probes))
    }
}

impl Deref for Spec {
    type Target = [Probe];

    fn deref(&self) -> &[Probe] {
        &self.0
    }
}

/// Two probes of a spec have the same name.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("duplicate probe name `{0}`")]
pub struct DuplicateProbe(pub String);

/// Probes that do not form a spec.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the error messages document the variants")]
pub enum InvalidSpec {
    #[error(transparent)]
    Name(#[from] DuplicateProbe),
    #[error("`{0}` has an unsupported combination of location, kind and mask, or an invalid name")]
    Probe(String),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::{MaskOne, Node, Permutation, Pointer, Scalar};

    #[test]
    fn new_sorts_by_stage_and_rejects_duplicate_names() {
        let pred_h = Probe::declared::<Node<Pointer>>("pred_h", Stage::Hint, DType::F64, "order so far");
        let pred = Probe { kind: Kind::CyclicPermutation, name: "pred".into(), stage: Stage::Output, ..pred_h.clone() };
        let first = Probe::declared::<Node<MaskOne>>("first", Stage::Output, DType::F64, "first node");
        let first = Probe { name: format!("{}_mask", pred.name).into(), ..first };
        let pos = Probe::declared::<Node<Scalar>>("pos", Stage::Input, DType::F64, "position");
        let spec = Spec::new(vec![pred_h, pred, first, pos.clone()]).expect("four names");
        assert_eq!(spec.iter().map(|probe| &*probe.name).collect::<Vec<_>>(), ["pos", "pred", "pred_mask", "pred_h"]);
        assert_eq!(Spec::new(vec![pos.clone(), pos]), Err(DuplicateProbe("pos".into())));
    }

    #[test]
    fn names_identify_stages_locations_and_kinds() {
        let stages = [Stage::Input, Stage::Output, Stage::Hint];
        assert!(stages.iter().all(|stage| Stage::from_name(stage.name()) == Some(*stage)));
        let locations = [Location::Node, Location::Edge, Location::Graph];
        assert!(locations.iter().all(|location| Location::from_name(location.name()) == Some(*location)));
        assert_eq!(Kind::from_dm_clrs_name("categorical", 3), Some(Kind::Categorical { classes: 3 }));
        assert_eq!(Kind::from_dm_clrs_name("should_be_permutation", 0), Some(Kind::Permutation));
        assert_eq!(Kind::from_dm_clrs_name("soft_pointer", 0), None);
        assert_eq!((Stage::from_name("hints"), Location::from_name("")), (None, None));
    }

    #[test]
    fn permutations_have_the_layout_of_pointers() {
        let pred = Probe::declared::<Node<Permutation>>("pred", Stage::Output, DType::I64, "order");
        let same = Probe { kind: Kind::Pointer, dtype: DType::F64, description: "another text".into(), ..pred.clone() };
        assert!(pred.same_layout(&same) && same.same_layout(&pred));
        let others = [
            Probe { name: "pi".into(), ..pred.clone() },
            Probe { stage: Stage::Hint, ..pred.clone() },
            Probe { location: Location::Edge, ..pred.clone() },
            Probe { kind: Kind::CyclicPermutation, ..pred.clone() },
        ];
        assert!(others.iter().all(|other| !pred.same_layout(other)));
    }

    #[test]
    fn probes_with_the_first_names_of_fields_still_parse() {
        let pos = Probe::declared::<Node<Scalar>>("pos", Stage::Input, DType::F64, "position");
        let json = serde_json::to_string(&pos).expect("JSON");
        let old = json.replace("\"dtype\":", "\"dense\":").replace("\"description\":", "\"meaning\":");
        assert!(json.contains("\"dtype\"") && old.contains("\"dense\""), "{json}");
        assert_eq!(serde_json::from_str::<Probe>(&old).expect("a probe"), pos);
    }

    #[test]
    fn untrusted_specs_with_unsupported_probes_are_rejected() {
        let first = Probe::declared::<Node<MaskOne>>("first", Stage::Output, DType::F64, "first node");
        let class = |classes| Probe { kind: Kind::Categorical { classes }, ..first.clone() };
        let unsupported = [
            Probe { location: Location::Graph, ..first.clone() },
            Probe { masked: true, ..first.clone() },
            Probe { name: "a/b".into(), ..first.clone() },
            Probe { kind: Kind::Pointer, location: Location::Graph, ..first.clone() },
            class(0),
            class(128),
        ];
        for probe in unsupported {
            let name = probe.name.to_string();
            assert_eq!(Spec::try_from(vec![probe]), Err(InvalidSpec::Probe(name)));
        }
        assert_eq!(Spec::try_from(vec![first.clone(), class(127)]), Err(InvalidSpec::Name(DuplicateProbe("first".into()))));
        assert!(Spec::try_from(vec![first]).is_ok());
    }
}
