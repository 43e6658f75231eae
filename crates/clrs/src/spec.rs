//! The vocabulary of the paper (section 3.1): a probe is a stage, a location and a kind.

use std::borrow::Cow;
use std::ops::Deref;

use serde::{Deserialize, Serialize};

use crate::cell::Cell;

/// When a value is observed. The order is the one of every spec: inputs, outputs, hints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Once, before the run.
    Input,
    /// Once, after the run.
    Output,
    /// A time series: one row per step of the algorithm.
    Hint,
}

impl Stage {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Stage::Input => "input",
            Stage::Output => "output",
            Stage::Hint => "hint",
        }
    }
}

/// What a value is attached to. It fixes the length of a row: `n`, `n * n` or one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the paper's words, said above")]
pub enum Location {
    Node,
    Edge,
    Graph,
}

impl Location {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Location::Node => "node",
            Location::Edge => "edge",
            Location::Graph => "graph",
        }
    }

    /// How many there are of it among `n` nodes.
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
    /// Yes or no.
    Mask,
    /// Yes for exactly one node.
    MaskOne,
    /// One of several classes.
    Categorical {
        /// How many, a blank class included.
        classes: usize,
    },
    /// A node.
    Pointer,
    /// Pointers to the predecessor in a linear order; the first node points to itself.
    Permutation,
    /// What a transform makes of a permutation: the first node points to the last. No algorithm declares it.
    CyclicPermutation,
}

/// The number type of a probe in dense arrays. Hints are always `F64`; inputs and outputs as the reference has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "NumPy's float64, float32 and int64; float32 is what some transforms make")]
pub enum Dense {
    F64,
    F32,
    I64,
}

/// One observable of an algorithm. A constant in an algorithm's spec; its texts are owned only where a transform or a file made it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Probe {
    /// The name on every outward surface: files, arrays, tables.
    pub name: Cow<'static, str>,
    /// When it is observed.
    pub stage: Stage,
    /// What it is attached to.
    pub location: Location,
    /// How it is encoded.
    pub kind: Kind,
    /// Whether a cell can be "not asked" (-1 in dense arrays), as `is_bridge` is where there is no edge.
    pub masked: bool,
    /// Its number type in dense arrays.
    pub dense: Dense,
    /// What it means, in one line: the doc comment of its declaration.
    pub meaning: Cow<'static, str>,
}

impl Probe {
    /// The probe a declaration in `probes!` stands for.
    pub const fn declared<C: Cell>(name: &'static str, stage: Stage, dense: Dense, meaning: &'static str) -> Probe {
        Probe {
            name: Cow::Borrowed(name),
            stage,
            location: C::LOCATION,
            kind: C::KIND,
            masked: C::MASKED,
            dense,
            meaning: Cow::Borrowed(meaning.trim_ascii()),
        }
    }

    /// Its name with its stage, as files and arrays are called: `hint/pi_h`.
    pub fn path(&self) -> String {
        format!("{}/{}", self.stage.name(), self.name)
    }

    /// Cells that a column keeps per row: a one-hot mask is a single node.
    pub const fn width(&self, n: usize) -> usize {
        if matches!(self.kind, Kind::MaskOne) { 1 } else { self.location.count(n) }
    }

    /// Rows that a run of so many steps has.
    pub const fn rows(&self, steps: usize) -> usize {
        if matches!(self.stage, Stage::Hint) { steps } else { 1 }
    }

    /// Whether columns and dense arrays can hold it. A declaration in `probes!` can make no other; a file can.
    fn is_possible(&self) -> bool {
        let place = match self.kind {
            Kind::Scalar | Kind::Mask => true,
            Kind::Categorical { classes } => (1..=127).contains(&classes),
            Kind::Pointer => self.location != Location::Graph,
            Kind::MaskOne | Kind::Permutation | Kind::CyclicPermutation => self.location == Location::Node,
        };
        let masked = !self.masked || matches!(self.kind, Kind::Mask | Kind::Categorical { .. });
        // Names become those of columns and of files in archives.
        let name = !self.name.is_empty() && !self.name.contains(|c: char| c.is_control() || c == '/' || c == '\\');
        place && masked && name
    }
}

/// The probes of an algorithm in order: its own constant, or what a transform or a file made of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<Probe>")]
pub struct Spec(Cow<'static, [Probe]>);

impl Spec {
    /// A spec made at run time: put in order, names taken once.
    pub fn new(mut probes: Vec<Probe>) -> Result<Spec, NameTaken> {
        probes.sort_by_key(|probe| probe.stage); // stable: the order within a stage is the caller's
        for (place, probe) in probes.iter().enumerate() {
            if probes[..place].iter().any(|other| other.name == probe.name) {
                return Err(NameTaken(probe.name.clone().into_owned()));
            }
        }
        Ok(Spec(Cow::Owned(probes)))
    }

    /// The probe of that name.
    pub fn get(&self, name: &str) -> Option<&Probe> {
        self.iter().find(|probe| probe.name == name)
    }
}

/// From outside: nothing is taken for granted.
impl TryFrom<Vec<Probe>> for Spec {
    type Error = BadSpec;

    fn try_from(probes: Vec<Probe>) -> Result<Spec, BadSpec> {
        if let Some(probe) = probes.iter().find(|probe| !probe.is_possible()) {
            return Err(BadSpec::Probe(probe.name.clone().into_owned()));
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

/// Two probes of one spec have the same name.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("two probes are called `{0}`")]
pub struct NameTaken(pub String);

/// Why probes from outside are no spec.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum BadSpec {
    #[error(transparent)]
    Name(#[from] NameTaken),
    #[error("there is no such probe as `{0}` is said to be")]
    Probe(String),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::{MaskOne, Node, Pointer, Scalar};

    #[test]
    fn a_spec_made_at_run_time_is_in_order_and_takes_a_name_once() {
        let pred_h = Probe::declared::<Node<Pointer>>("pred_h", Stage::Hint, Dense::F64, "order so far");
        let pred = Probe { kind: Kind::CyclicPermutation, name: "pred".into(), stage: Stage::Output, ..pred_h.clone() };
        let first = Probe::declared::<Node<MaskOne>>("first", Stage::Output, Dense::F64, "first node");
        let first = Probe { name: format!("{}_mask", pred.name).into(), ..first };
        let pos = Probe::declared::<Node<Scalar>>("pos", Stage::Input, Dense::F64, "place");
        let spec = Spec::new(vec![pred_h, pred, first, pos.clone()]).expect("four names");
        assert_eq!(spec.iter().map(|probe| &*probe.name).collect::<Vec<_>>(), ["pos", "pred", "pred_mask", "pred_h"]);
        assert_eq!(Spec::new(vec![pos.clone(), pos]), Err(NameTaken("pos".into())));
    }
    #[test]
    fn a_spec_from_outside_has_only_probes_that_can_be() {
        let first = Probe::declared::<Node<MaskOne>>("first", Stage::Output, Dense::F64, "first node");
        let class = |classes| Probe { kind: Kind::Categorical { classes }, ..first.clone() };
        let impossible = [
            Probe { location: Location::Graph, ..first.clone() },
            Probe { masked: true, ..first.clone() },
            Probe { name: "a/b".into(), ..first.clone() },
            Probe { kind: Kind::Pointer, location: Location::Graph, ..first.clone() },
            class(0),
            class(128),
        ];
        for probe in impossible {
            let name = probe.name.to_string();
            assert_eq!(Spec::try_from(vec![probe]), Err(BadSpec::Probe(name)));
        }
        assert_eq!(Spec::try_from(vec![first.clone(), class(127)]), Err(BadSpec::Name(NameTaken("first".into()))));
        assert!(Spec::try_from(vec![first]).is_ok());
    }
}
