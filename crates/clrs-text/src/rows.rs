use clrs::AnyAlgorithm;
use serde::{Serialize, Serializer};

/// Which trajectory a text is of: the sample at `index` of the sampler of an algorithm, a size and a seed.
#[derive(Clone, Copy, Serialize)]
pub struct Identity {
    /// The algorithm.
    #[serde(serialize_with = "name")]
    pub algorithm: &'static dyn AnyAlgorithm,
    /// Problem size, which dm-clrs calls length.
    pub size: usize,
    /// Seed of the sampler.
    pub seed: u32,
    /// Number of samples that the sampler drew before.
    pub index: u64,
}

pub(crate) fn name<S: Serializer>(algorithm: &&'static dyn AnyAlgorithm, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(algorithm.name())
}

/// A question and its answer, with the identity of the trajectory.
#[derive(Clone, Copy, Serialize)]
pub struct Row<'r> {
    /// The trajectory.
    #[serde(flatten)]
    pub identity: Identity,
    /// The question.
    pub question: &'r str,
    /// The answer.
    pub answer: &'r str,
}

/// Rows in a few long strings rather than in two of their own each.
#[derive(Default)]
pub struct Rows {
    pub(crate) identities: Vec<Identity>,
    pub(crate) questions: Texts,
    pub(crate) answers: Texts,
}

/// Texts end to end.
#[derive(Default)]
pub(crate) struct Texts {
    pub(crate) text: String,
    pub(crate) ends: Vec<usize>,
}

impl Texts {
    fn get(&self, index: usize) -> &str {
        let start = index.checked_sub(1).map_or(0, |previous| self.ends[previous]);
        &self.text[start..self.ends[index]]
    }

    pub(crate) fn push(&mut self, text: &str) {
        self.text.push_str(text);
        self.ends.push(self.text.len());
    }

    fn append(&mut self, other: &Texts) {
        let start = self.text.len();
        self.text.push_str(&other.text);
        self.ends.extend(other.ends.iter().map(|end| start + end));
    }
}

impl Rows {
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.identities.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.identities.is_empty()
    }

    /// Size of all texts in bytes.
    pub fn bytes(&self) -> usize {
        self.questions.text.len() + self.answers.text.len()
    }

    /// Returns a row.
    ///
    /// # Panics
    /// If `index` is out of range.
    pub fn get(&self, index: usize) -> Row<'_> {
        Row { identity: self.identities[index], question: self.questions.get(index), answer: self.answers.get(index) }
    }

    /// Iterates over the rows.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Row<'_>> {
        (0..self.len()).map(|index| self.get(index))
    }

    pub(crate) fn concatenated(parts: Vec<Rows>) -> Rows {
        let mut parts = parts.into_iter();
        let mut rows = parts.next().unwrap_or_default();
        for part in parts {
            rows.identities.extend(part.identities);
            rows.questions.append(&part.questions);
            rows.answers.append(&part.answers);
        }
        rows
    }

    pub(crate) fn push(&mut self, row: Row<'_>) {
        self.identities.push(row.identity);
        self.questions.push(row.question);
        self.answers.push(row.answer);
    }
}
