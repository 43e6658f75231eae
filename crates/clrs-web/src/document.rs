//! What a page contains: traces, and the texts of their algorithms.

use std::borrow::Cow;

use clrs::{AnyAlgorithm, Family, Trace};
use serde::Serialize;

/// The text of an algorithm.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct AlgorithmText {
    /// Name.
    pub algorithm: Cow<'static, str>,
    /// First line of the documentation.
    pub title: String,
    /// Family; `None` for an algorithm that is not registered.
    pub family: Option<Family>,
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
            algorithm: algorithm.name().into(),
            title: source.title(),
            family: Some(algorithm.family()),
            documentation: source.doc(),
            source: source.body(),
            first_line: source.body_line(),
        }
    }

    /// The text of an algorithm that is not registered, such as one in Python: its name.
    pub fn unregistered(name: &str) -> AlgorithmText {
        AlgorithmText {
            algorithm: name.to_owned().into(),
            title: name.into(),
            family: None,
            documentation: String::new(),
            source: "",
            first_line: 1,
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
        Saved::with_text(AlgorithmText::new(algorithm), trace)
    }

    /// One trace of an algorithm that is not registered.
    pub fn unregistered(trace: Trace) -> Saved {
        Saved::with_text(AlgorithmText::unregistered(&trace.algorithm), trace)
    }

    fn with_text(text: AlgorithmText, trace: Trace) -> Saved {
        Saved { documents: vec![TraceDocument { trace, text }], frame: 0 }
    }

    /// Titles of the algorithms.
    pub fn title(&self) -> String {
        self.documents.iter().map(|document| document.text.title.as_str()).collect::<Vec<_>>().join(", ")
    }
}
