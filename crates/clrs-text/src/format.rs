use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A text form of trajectories. `docs/text.md` has their grammars.
///
/// ```
/// use clrs_text::Format;
///
/// assert_eq!("text@2.0.1".parse(), Ok(Format::V2_0_1));
/// assert_eq!(Format::default().name(), "text@2.0.3");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
#[non_exhaustive]
pub enum Format {
    /// That of dm-clrs 2.0.2 and 2.0.3: numbers with as many digits as they need.
    #[default]
    V2_0_3,
    /// That of dm-clrs 2.0.0 and 2.0.1, and of the published data sets: numbers rounded to three significant digits.
    V2_0_1,
    /// The unambiguous form of this crate: values have names, steps have numbers, and pointers stay pointers.
    V1,
}

impl Format {
    /// All formats.
    pub const ALL: [Format; 3] = [Format::V2_0_3, Format::V2_0_1, Format::V1];

    /// The name, such as `text@2.0.3`.
    pub const fn name(self) -> &'static str {
        match self {
            Format::V2_0_3 => "text@2.0.3",
            Format::V2_0_1 => "text@2.0.1",
            Format::V1 => "text@1",
        }
    }
}

/// No format has the given name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown text format `{0}`; expected text@2.0.3, text@2.0.1 or text@1")]
pub struct UnknownFormat(pub String);

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(text: &str) -> Result<Format, UnknownFormat> {
        Format::ALL.into_iter().find(|format| format.name() == text).ok_or_else(|| UnknownFormat(text.into()))
    }
}

impl TryFrom<String> for Format {
    type Error = UnknownFormat;

    fn try_from(text: String) -> Result<Format, UnknownFormat> {
        text.parse()
    }
}

impl From<Format> for String {
    fn from(format: Format) -> String {
        format.name().into()
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
