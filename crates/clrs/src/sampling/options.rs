//! Options of a distribution: typed where they are used, text where they come in.
//!
//! [`options!`](crate::options!) declares them once: the struct with its defaults, the table that `clrs show` prints, and the
//! way from `--set name=value` to the field. An option that nobody has is an error that names the nearest one.

use std::fmt;

use crate::suggest::{did_you_mean, nearest};

/// What users may set before problems are drawn.
pub trait Options {
    /// Every option with its present value, in order.
    fn options(&self) -> Vec<OptionInfo>;

    /// Sets an option from text; `None` where it is none of these.
    fn try_set(&mut self, name: &str, value: &str) -> Option<Result<(), InvalidValue>>;
}

/// One option, as `clrs show` prints it.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct OptionInfo {
    /// The reference's name, or one of ours where the reference has no such option.
    pub name: &'static str,
    /// Its present value.
    pub value: String,
    /// One line: the doc comment of the declaration.
    #[serde(rename = "meaning")]
    pub description: &'static str,
}

/// A text that is no value of the option's type; says what would be.
#[derive(Debug, PartialEq, Eq)]
pub struct InvalidValue(pub &'static str);

/// Why options cannot be used.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum OptionError {
    #[error("{algorithm} has no option `{name}`{}; it has: {}", did_you_mean(.suggestion.as_deref()), .known.join(", "))]
    Unknown { algorithm: &'static str, name: String, suggestion: Option<String>, known: Vec<&'static str> },
    #[error("`{name}={value}`: expected {expected}")]
    Value { name: String, value: String, expected: &'static str },
    #[error("`{name}` is set twice")]
    Twice { name: String },
    #[error("`{0}` is not of the form option=value")]
    Form(String),
}

/// Options as the user typed them: `name=value`, each name once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SamplerOptions(Vec<(String, String)>);

impl SamplerOptions {
    /// Reads `name=value` texts.
    pub fn parse<'a>(texts: impl IntoIterator<Item = &'a str>) -> Result<SamplerOptions, OptionError> {
        let mut settings = SamplerOptions::default();
        for text in texts {
            let (name, value) = text.split_once('=').ok_or_else(|| OptionError::Form(text.into()))?;
            settings.push(name.trim(), value.trim())?;
        }
        Ok(settings)
    }

    /// One more.
    pub fn push(&mut self, name: impl Into<String>, value: impl Into<String>) -> Result<(), OptionError> {
        let name = name.into();
        if self.0.iter().any(|(other, _)| *other == name) {
            return Err(OptionError::Twice { name });
        }
        self.0.push((name, value.into()));
        Ok(())
    }

    /// Names and values, in the order they were given.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Hands every setting to the options of an algorithm.
    pub fn apply(&self, algorithm: &'static str, options: &mut impl Options) -> Result<(), OptionError> {
        for (name, value) in self.iter() {
            match options.try_set(name, value) {
                Some(Ok(())) => {}
                Some(Err(InvalidValue(expected))) => {
                    return Err(OptionError::Value { name: name.into(), value: value.into(), expected });
                }
                None => {
                    let known: Vec<&str> = options.options().iter().map(|option| option.name).collect();
                    let suggestion = nearest(name, known.iter().copied()).map(str::to_owned);
                    return Err(OptionError::Unknown { algorithm, name: name.into(), suggestion, known });
                }
            }
        }
        Ok(())
    }
}

impl fmt::Display for SamplerOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let texts: Vec<String> = self.iter().map(|(name, value)| format!("{name}={value}")).collect();
        f.write_str(&texts.join(" "))
    }
}

/// A type that an option can have.
pub trait OptionValue: Sized {
    /// Reads it.
    fn from_text(text: &str) -> Result<Self, InvalidValue>;
    /// Writes what `from_text` reads.
    fn to_text(&self) -> String;
}

impl OptionValue for f64 {
    fn from_text(text: &str) -> Result<f64, InvalidValue> {
        text.parse().ok().filter(|x: &f64| x.is_finite()).ok_or(InvalidValue("a finite number"))
    }
    fn to_text(&self) -> String {
        self.to_string()
    }
}

macro_rules! whole_numbers {
    ($($type:ty: $expected:literal),*) => {$(
        impl OptionValue for $type {
            fn from_text(text: &str) -> Result<$type, InvalidValue> {
                text.parse().map_err(|_| InvalidValue($expected))
            }
            fn to_text(&self) -> String {
                self.to_string()
            }
        }
    )*};
}
whole_numbers!(usize: "a whole number, 0 or more", u32: "a whole number, 0 or more", i64: "a whole number");

/// Several values, comma-separated, of which each sample draws one.
impl OptionValue for Vec<f64> {
    fn from_text(text: &str) -> Result<Vec<f64>, InvalidValue> {
        let values = text.split(',').map(|value| f64::from_text(value.trim())).collect::<Result<_, _>>();
        values.map_err(|_| InvalidValue("finite numbers, comma-separated"))
    }
    fn to_text(&self) -> String {
        self.iter().map(f64::to_string).collect::<Vec<_>>().join(",")
    }
}

/// What is `auto` unless set.
impl<V: OptionValue> OptionValue for Option<V> {
    fn from_text(text: &str) -> Result<Option<V>, InvalidValue> {
        if text == "auto" { Ok(None) } else { V::from_text(text).map(Some) }
    }
    fn to_text(&self) -> String {
        self.as_ref().map_or_else(|| "auto".into(), V::to_text)
    }
}

/// Declares the options of a distribution: names, types, defaults, meanings.
#[macro_export]
macro_rules! options {
    (
        $(#[$attribute:meta])*
        $visible:vis struct $name:ident { $($(#[doc = $doc:literal])* $field:ident: $type:ty = $default:expr),* $(,)? }
    ) => {
        $(#[$attribute])*
        #[derive(Clone, Debug, PartialEq)]
        #[allow(clippy::doc_markdown, reason = "meanings are also terminal text")]
        $visible struct $name { $($(#[doc = $doc])* pub $field: $type),* }

        impl Default for $name {
            fn default() -> Self {
                $name { $($field: $default),* }
            }
        }

        impl $crate::sampling::Options for $name {
            fn options(&self) -> Vec<$crate::sampling::OptionInfo> {
                vec![$($crate::sampling::OptionInfo {
                    name: stringify!($field),
                    value: $crate::sampling::OptionValue::to_text(&self.$field),
                    description: concat!($($doc),*).trim_ascii(),
                }),*]
            }

            fn try_set(&mut self, name: &str, value: &str) -> Option<Result<(), $crate::sampling::InvalidValue>> {
                match name {
                    $(stringify!($field) => {
                        Some(<$type as $crate::sampling::OptionValue>::from_text(value).map(|value| self.$field = value))
                    })*
                    _ => None,
                }
            }
        }
    };
}
