//! Options of a distribution, parsed from text into typed fields.
//!
//! [`options!`](crate::options!) declares options once and generates the struct with its defaults, the list of options, and
//! the setter by name. An unknown option is an error that suggests a similar name.

use std::fmt;

use crate::suggest::{did_you_mean, nearest};

/// Options that can be set by name.
pub trait Options {
    /// Every option with its current value, in order of declaration.
    fn options(&self) -> Vec<OptionInfo>;

    /// Sets an option from text. Returns `None` if there is no such option.
    fn try_set(&mut self, name: &str, value: &str) -> Option<Result<(), InvalidValue>>;
}

/// Name, value and description of an option.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct OptionInfo {
    /// The name; that of dm-clrs, if dm-clrs has the option.
    pub name: &'static str,
    /// The current value.
    pub value: String,
    /// One line: the doc comment of the declaration.
    pub description: &'static str,
}

/// A text that is not a value of the option's type. Has the expected type in words.
#[derive(Debug, PartialEq, Eq)]
pub struct InvalidValue(pub &'static str);

/// An invalid option.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the error messages document the variants")]
pub enum OptionError {
    #[error("{algorithm} has no option `{name}`{}; its options are: {}", did_you_mean(.suggestion.as_deref()), .known.join(", "))]
    Unknown { algorithm: &'static str, name: String, suggestion: Option<String>, known: Vec<&'static str> },
    #[error("`{name}={value}`: expected {expected}")]
    Value { name: String, value: String, expected: &'static str },
    #[error("option `{name}` is set twice")]
    Twice { name: String },
    #[error("`{0}` does not have the form option=value")]
    Form(String),
}

/// Sampler options as text: names and values, each name once.
///
/// ```
/// use clrs::SamplerOptions;
///
/// let options = SamplerOptions::parse(["p=0.3", "graph=tree"])?;
/// assert_eq!(options.to_string(), "p=0.3 graph=tree");
/// # Ok::<(), clrs::sampling::OptionError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SamplerOptions(Vec<(String, String)>);

impl SamplerOptions {
    /// Parses texts of the form `name=value`.
    ///
    /// # Errors
    /// If a text has another form, or a name occurs twice.
    pub fn parse<'a>(texts: impl IntoIterator<Item = &'a str>) -> Result<SamplerOptions, OptionError> {
        let mut options = SamplerOptions::default();
        for text in texts {
            let (name, value) = text.split_once('=').ok_or_else(|| OptionError::Form(text.into()))?;
            options.push(name.trim(), value.trim())?;
        }
        Ok(options)
    }

    /// Adds an option.
    ///
    /// # Errors
    /// If the name occurs already.
    pub fn push(&mut self, name: impl Into<String>, value: impl Into<String>) -> Result<(), OptionError> {
        let name = name.into();
        if self.0.iter().any(|(other, _)| *other == name) {
            return Err(OptionError::Twice { name });
        }
        self.0.push((name, value.into()));
        Ok(())
    }

    /// These options, and of `defaults` those that are not among them.
    ///
    /// ```
    /// use clrs::SamplerOptions;
    ///
    /// let [given, defaults] = [&["p=0.3"][..], &["p=0.5", "graph=tree"]].map(|texts| SamplerOptions::parse(texts.iter().copied()));
    /// assert_eq!(given?.or(&defaults?).to_string(), "p=0.3 graph=tree");
    /// # Ok::<(), clrs::sampling::OptionError>(())
    /// ```
    #[must_use]
    pub fn or(mut self, defaults: &SamplerOptions) -> SamplerOptions {
        for (name, value) in defaults.iter() {
            if self.iter().all(|(given, _)| given != name) {
                self.0.push((name.into(), value.into()));
            }
        }
        self
    }

    /// Iterates over names and values, in the order of insertion.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Sets the options of an algorithm.
    ///
    /// # Errors
    /// If an option is unknown or its value is invalid.
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

/// As a map from names to values.
impl serde::Serialize for SamplerOptions {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de> serde::Deserialize<'de> for SamplerOptions {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<SamplerOptions, D::Error> {
        struct Pairs;
        impl<'de> serde::de::Visitor<'de> for Pairs {
            type Value = SamplerOptions;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map from option names to values")
            }

            fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<SamplerOptions, A::Error> {
                let mut options = SamplerOptions::default();
                while let Some((name, value)) = map.next_entry::<String, String>()? {
                    options.push(name, value).map_err(serde::de::Error::custom)?;
                }
                Ok(options)
            }
        }
        deserializer.deserialize_map(Pairs)
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
    /// Parses a value.
    fn from_text(text: &str) -> Result<Self, InvalidValue>;
    /// Formats a value as [`from_text`](OptionValue::from_text) parses it.
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

impl OptionValue for bool {
    fn from_text(text: &str) -> Result<bool, InvalidValue> {
        text.parse().map_err(|_| InvalidValue("true or false"))
    }
    fn to_text(&self) -> String {
        self.to_string()
    }
}

macro_rules! integers {
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
integers!(usize: "a non-negative integer", u32: "a non-negative integer", i64: "an integer");

/// Comma-separated values, one of which each sample draws.
impl OptionValue for Vec<f64> {
    fn from_text(text: &str) -> Result<Vec<f64>, InvalidValue> {
        let values = text.split(',').map(|value| f64::from_text(value.trim())).collect::<Result<_, _>>();
        values.map_err(|_| InvalidValue("comma-separated finite numbers"))
    }
    fn to_text(&self) -> String {
        self.iter().map(f64::to_string).collect::<Vec<_>>().join(",")
    }
}

/// `auto` unless set.
impl<V: OptionValue> OptionValue for Option<V> {
    fn from_text(text: &str) -> Result<Option<V>, InvalidValue> {
        if text == "auto" { Ok(None) } else { V::from_text(text).map(Some) }
    }
    fn to_text(&self) -> String {
        self.as_ref().map_or_else(|| "auto".into(), V::to_text)
    }
}

/// Declares the options of a distribution: names, types, defaults and descriptions.
#[macro_export]
macro_rules! options {
    (
        $(#[$attribute:meta])*
        $visible:vis struct $name:ident { $($(#[doc = $doc:literal])* $field:ident: $type:ty = $default:expr),* $(,)? }
    ) => {
        $(#[$attribute])*
        #[derive(Clone, Debug, PartialEq)]
        #[non_exhaustive]
        #[allow(clippy::doc_markdown, reason = "descriptions are also terminal text")]
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
