//! Answers as trees of words.

use crate::format::Format;
use crate::question::Question;
use crate::syntax::{Reader, SyntaxError, Token, Value};

/// A parsed answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Answer<'t> {
    /// Values of the hints of the trace, by step. The first is that of step 1: step 0 is part of the question.
    pub(crate) steps: Vec<Vec<Value<'t>>>,
    /// Values of the outputs.
    pub(crate) outputs: Vec<Value<'t>>,
}

impl<'t> Answer<'t> {
    /// Parses the answer to a question.
    pub(crate) fn parse(question: &Question, text: &'t str) -> Result<Answer<'t>, SyntaxError> {
        let reader = Reader::new(text, question.format());
        if question.format() == Format::V1 { named(question, reader) } else { listed(question, reader) }
    }
}

fn listed<'t>(question: &Question, mut reader: Reader<'t>) -> Result<Answer<'t>, SyntaxError> {
    let is_parenthesized = question.hints() && question.layout.has_parentheses();
    let mut steps = Vec::new();
    if question.hints() {
        if is_parenthesized && reader.peek() != Token::Mark('|') {
            steps.push(reader.values(true)?);
            while reader.accept(Token::Mark(',')) {
                steps.push(reader.values(true)?);
            }
        } else if reader.peek() != Token::Mark('|') {
            // Without parentheses, only their number tells the values of one step from those of the next.
            let values = reader.values(false)?;
            steps = values.chunks(question.layout.trace.len()).map(<[_]>::to_vec).collect();
        }
        reader.mark('|')?;
    }
    let outputs = reader.values(is_parenthesized)?;
    reader.end()?;
    Ok(Answer { steps, outputs })
}

fn named<'t>(question: &Question, mut reader: Reader<'t>) -> Result<Answer<'t>, SyntaxError> {
    let spec = question.spec();
    let hints: Vec<usize> = question.layout.trace.iter().map(|traced| traced.hint).collect();
    let names = |indices: &[usize]| indices.iter().map(|&index| &*spec[index].name).collect::<Vec<_>>();
    let mut steps = Vec::new();
    while question.hints() && reader.accept(Token::Word("step")) {
        reader.keyword(&(steps.len() + 1).to_string())?;
        reader.mark(':')?;
        steps.push(fields(&mut reader, &names(&hints))?);
    }
    reader.keyword("output")?;
    reader.mark(':')?;
    let outputs = fields(&mut reader, &names(&question.layout.outputs))?;
    reader.end()?;
    Ok(Answer { steps, outputs })
}

/// Values with these names, in this order.
fn fields<'t>(reader: &mut Reader<'t>, names: &[&str]) -> Result<Vec<Value<'t>>, SyntaxError> {
    let mut values = Vec::new();
    for name in names {
        reader.keyword(name)?;
        reader.mark('=')?;
        values.push(reader.value()?);
    }
    Ok(values)
}
