//! Trajectories of the CLRS benchmark as text.

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
