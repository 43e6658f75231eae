//! Trajectories of the CLRS benchmark as questions and answers for language models, known as CLRS-Text.
//!
//! - [`Formatter`] formats any trajectory in one of the [formats](Format): those of dm-clrs, byte for byte, and an unambiguous one.
//! - [`Generator`] samples trajectories and formats them on all threads, in the order of dm-clrs. [`generate`](mod@generate) writes
//!   them to files, and [`benchmark`] lists the sets of CLRS-Text.
//! - [`Task`] parses a question and verifies answers to it: any correct one is valid. [`verify()`] and [`reward`] are shortcuts, and
//!   [`score`] scores many predictions.
//!
//! ```
//! let question = "minimum:\nkey: [0.7 0.2 0.2]\nmin:\n";
//! let verdict = clrs_text::verify(question, "2\n\n")?;
//! assert!(verdict.valid && !verdict.exact_match, "the algorithm answers 1, which has the same key");
//! # Ok::<(), clrs_text::TaskError>(())
//! ```
//!
//! `docs/text.md` in the repository has the grammars of the formats.

mod answer;
pub mod benchmark;
mod files;
mod format;
mod formatter;
pub mod generate;
mod generator;
mod layout;
mod number;
mod python_random;
mod question;
mod rows;
pub mod score;
mod syntax;
mod values;
mod verify;

pub use files::{FileError, FileFormat, write_line};
pub use format::{Format, UnknownFormat};
pub use formatter::{Example, FormatError, Formatter};
pub use generator::{Block, Generator, TextError, TextOptions};
pub use question::{Question, QuestionError};
pub use rows::{Identity, Row, Rows};
pub use syntax::SyntaxError;
pub use values::ValueError;
pub use verify::{Criterion, Task, TaskError, TraceVerdict, Verdict, reward, verify};
