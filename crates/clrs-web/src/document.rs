//! What a page contains: traces, and the texts of their algorithms.

use clrs::{AnyAlgorithm, Family, Trace};
use serde::Serialize;

/// The text of an algorithm.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct AlgorithmText {
    /// Name.
    pub algorithm: &'static str,
    /// First line of the documentation.
    pub title: String,
    /// Family.
    pub family: Family,
    /// Documentation, as Markdown.
    pub documentation: String,
    /// Code, without documentation and tests.
    pub source: &'static str,
    /// Number of the first line of `source` in its file.
    pub first_line: usize,
}

impl AlgorithmText {
    /// The text of an algorithm.
    pub fn new(algorithm: &dyn AnyAlgorithm) -> AlgorithmText {
        let source = algorithm.source();
        AlgorithmText {
            algorithm: algorithm.name(),
            title: source.title(),
            family: algorithm.family(),
            documentation: source.doc(),
            source: source.body(),
            first_line: source.body_line(),
        }
    }
}

/// A trace with the text of its algorithm.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TraceDocument {
    /// The trace.
    pub trace: Trace,
    /// The text.
    pub text: AlgorithmText,
}

/// The contents of a page that needs no server.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Saved {
    /// What is shown side by side.
    pub documents: Vec<TraceDocument>,
    /// The step that is shown first; the number of steps for the result.
    pub frame: usize,
}

impl Saved {
    /// One trace, from its first step.
    pub fn new(algorithm: &dyn AnyAlgorithm, trace: Trace) -> Saved {
        Saved { documents: vec![TraceDocument { trace, text: AlgorithmText::new(algorithm) }], frame: 0 }
    }

    /// Titles of the algorithms.
    pub fn title(&self) -> String {
        self.documents.iter().map(|document| document.text.title.as_str()).collect::<Vec<_>>().join(", ")
    }
}
