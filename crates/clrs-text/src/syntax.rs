//! Texts as trees of words: the syntax of all formats, before words get a meaning.
//!
//! White space separates words and means nothing else. Everything else is significant.

use std::fmt;

use crate::format::Format;

/// A value: a word, a list of words, or a list of lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value<'t> {
    Word(&'t str),
    List(Vec<&'t str>),
    Matrix(Vec<Vec<&'t str>>),
}

impl<'t> Value<'t> {
    /// All words, in order.
    pub(crate) fn words(&self) -> Vec<&'t str> {
        match self {
            Value::Word(word) => vec![word],
            Value::List(words) => words.clone(),
            Value::Matrix(rows) => rows.concat(),
        }
    }

    /// What it is, in words.
    pub(crate) fn describe(&self) -> String {
        match self {
            Value::Word(_) => "a single value".into(),
            Value::List(words) => format!("a list of {}", words.len()),
            Value::Matrix(rows) => match rows.first().map(Vec::len) {
                Some(columns) if rows.iter().all(|row| row.len() == columns) => {
                    format!("a matrix of {} x {columns}", rows.len())
                }
                _ => "rows of different lengths".into(),
            },
        }
    }
}

/// As it is written in `text@2.0.3`.
impl fmt::Display for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Word(word) => f.write_str(word),
            Value::List(words) => write!(f, "[{}]", words.join(" ")),
            Value::Matrix(rows) => {
                let rows: Vec<String> = rows.iter().map(|row| format!("[{}]", row.join(" "))).collect();
                write!(f, "[{}]", rows.join(", "))
            }
        }
    }
}

/// Text that is not of the expected form.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[error("expected {expected}, found {found} (at byte {offset})")]
pub struct SyntaxError {
    /// What could have followed.
    pub expected: String,
    /// What follows.
    pub found: String,
    /// Where, in bytes from the start.
    pub offset: usize,
}

/// A mark or a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Token<'t> {
    Mark(char),
    Word(&'t str),
    End,
}

/// Characters that are words of their own.
const MARKS: &[char] = &['[', ']', '(', ')', ',', '|', ':', '='];

/// Reads text from left to right.
#[derive(Clone)]
pub(crate) struct Reader<'t> {
    text: &'t str,
    /// Start of the next token.
    offset: usize,
    /// Whether rows of a matrix are separated by commas.
    has_commas: bool,
}

impl<'t> Reader<'t> {
    pub(crate) fn new(text: &'t str, format: Format) -> Reader<'t> {
        let mut reader = Reader { text, offset: 0, has_commas: format != Format::V1 };
        reader.skip_space();
        reader
    }

    fn skip_space(&mut self) {
        let rest = &self.text[self.offset..];
        self.offset += rest.len() - rest.trim_start().len();
    }

    /// The next token and its end.
    fn token(&self) -> (Token<'t>, usize) {
        let rest = &self.text[self.offset..];
        match rest.chars().next() {
            None => (Token::End, self.offset),
            Some(mark) if MARKS.contains(&mark) => (Token::Mark(mark), self.offset + mark.len_utf8()),
            Some(_) => {
                let end = rest.find(|c: char| c.is_whitespace() || MARKS.contains(&c)).unwrap_or(rest.len());
                (Token::Word(&rest[..end]), self.offset + end)
            }
        }
    }

    /// The next token.
    pub(crate) fn peek(&self) -> Token<'t> {
        self.token().0
    }

    /// The token after the next.
    pub(crate) fn peek_second(&self) -> Token<'t> {
        let mut ahead = self.clone();
        ahead.advance();
        ahead.peek()
    }

    pub(crate) fn advance(&mut self) {
        self.offset = self.token().1;
        self.skip_space();
    }

    /// Skips the token if it is next.
    pub(crate) fn accept(&mut self, token: Token<'_>) -> bool {
        let is_next = self.peek() == token;
        if is_next {
            self.advance();
        }
        is_next
    }

    /// Skips the mark, which must be next.
    pub(crate) fn mark(&mut self, mark: char) -> Result<(), SyntaxError> {
        if self.accept(Token::Mark(mark)) { Ok(()) } else { Err(self.error(format!("`{mark}`"))) }
    }

    /// Reads a word; `expected` says which.
    pub(crate) fn word(&mut self, expected: &str) -> Result<&'t str, SyntaxError> {
        let Token::Word(word) = self.peek() else { return Err(self.error(expected.into())) };
        self.advance();
        Ok(word)
    }

    /// Skips the word, which must be next.
    pub(crate) fn keyword(&mut self, word: &str) -> Result<(), SyntaxError> {
        if self.accept(Token::Word(word)) { Ok(()) } else { Err(self.error(format!("`{word}`"))) }
    }

    /// Requires that nothing follows.
    pub(crate) fn end(&self) -> Result<(), SyntaxError> {
        if self.peek() == Token::End { Ok(()) } else { Err(self.error("the end".into())) }
    }

    /// The error that something else was expected next.
    pub(crate) fn error(&self, expected: String) -> SyntaxError {
        let found = match self.peek() {
            Token::End => "the end".into(),
            Token::Mark(mark) => format!("`{mark}`"),
            Token::Word(word) => format!("`{}`", shortened(word)),
        };
        SyntaxError { expected, found, offset: self.offset }
    }

    /// Reads a value.
    pub(crate) fn value(&mut self) -> Result<Value<'t>, SyntaxError> {
        match self.peek() {
            Token::Word(word) => {
                self.advance();
                Ok(Value::Word(word))
            }
            Token::Mark('[') if self.peek_second() == Token::Mark('[') => self.matrix().map(Value::Matrix),
            Token::Mark('[') => self.list().map(Value::List),
            _ => Err(self.error("a value".into())),
        }
    }

    fn list(&mut self) -> Result<Vec<&'t str>, SyntaxError> {
        self.mark('[')?;
        let mut words = Vec::new();
        while !self.accept(Token::Mark(']')) {
            words.push(self.word("a value or `]`")?);
        }
        Ok(words)
    }

    fn matrix(&mut self) -> Result<Vec<Vec<&'t str>>, SyntaxError> {
        self.mark('[')?;
        let mut rows = vec![self.list()?];
        while !self.accept(Token::Mark(']')) {
            if self.has_commas && !self.accept(Token::Mark(',')) {
                return Err(self.error("`,` or `]`".into()));
            }
            rows.push(self.list()?);
        }
        Ok(rows)
    }

    /// Reads values that are separated by commas, in parentheses if `is_parenthesized`.
    pub(crate) fn values(&mut self, is_parenthesized: bool) -> Result<Vec<Value<'t>>, SyntaxError> {
        if is_parenthesized {
            self.mark('(')?;
        }
        let mut values = vec![self.value()?];
        while self.accept(Token::Mark(',')) {
            values.push(self.value()?);
        }
        if is_parenthesized {
            self.mark(')')?;
        }
        Ok(values)
    }

    /// Reads `name=value` as long as it follows.
    pub(crate) fn fields(&mut self) -> Result<Vec<(&'t str, Value<'t>)>, SyntaxError> {
        let mut fields = Vec::new();
        while let (Token::Word(name), Token::Mark('=')) = (self.peek(), self.peek_second()) {
            self.advance();
            self.advance();
            fields.push((name, self.value()?));
        }
        Ok(fields)
    }
}

/// A word of an error message, which may be anything that a model wrote: the beginning, without control characters.
pub(crate) fn shortened(word: &str) -> String {
    const LONGEST: usize = 24;
    let mut text = String::new();
    for c in word.chars().take(LONGEST) {
        if c.is_control() { text.extend(c.escape_default()) } else { text.push(c) }
    }
    if word.chars().nth(LONGEST).is_some() {
        text.push_str("..");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Result<String, String> {
        let mut reader = Reader::new(text, Format::V2_0_3);
        let value = reader.value().map_err(|error| error.to_string())?;
        reader.end().map_err(|error| error.to_string())?;
        Ok(value.to_string())
    }

    #[test]
    fn white_space_separates_words_and_means_nothing_else() {
        assert_eq!(value(" \n[ 0\t1\r\n2]\n\n"), Ok("[0 1 2]".into()));
        assert_eq!(value("[[0 1],[2 3]]"), Ok("[[0 1], [2 3]]".into()));
        assert_eq!(value("[]"), Ok("[]".into()));
        assert_eq!(value("-1.5e-05"), Ok("-1.5e-05".into()));
        assert_ne!(value("[0 1]"), value("[01]"));
    }

    #[test]
    fn errors_say_what_was_expected_where() {
        let cases = [
            ("", "expected a value, found the end (at byte 0)"),
            ("[0 1", "expected a value or `]`, found the end (at byte 4)"),
            ("[0, 1]", "expected a value or `]`, found `,` (at byte 2)"),
            ("[[0] [1]]", "expected `,` or `]`, found `[` (at byte 5)"),
            ("[[0], 1]", "expected `[`, found `1` (at byte 6)"),
            ("3 4", "expected the end, found `4` (at byte 2)"),
            ("1 aaaaaaaaaaaaaaaaaaaaaaaaaa", "expected the end, found `aaaaaaaaaaaaaaaaaaaaaaaa..` (at byte 2)"),
        ];
        for (text, error) in cases {
            assert_eq!(value(text), Err(error.into()), "{text}");
        }
    }

    #[test]
    fn values_are_described() {
        let describe = |text| Reader::new(text, Format::V1).value().map(|value| value.describe());
        assert_eq!(describe("3"), Ok("a single value".into()));
        assert_eq!(describe("[1 2 3]"), Ok("a list of 3".into()));
        assert_eq!(describe("[[1 2 3] [4 5 6]]"), Ok("a matrix of 2 x 3".into()));
        assert_eq!(describe("[[1 2 3] [4 5]]"), Ok("rows of different lengths".into()));
    }
}
