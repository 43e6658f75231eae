//! Bodies of fuzz targets, which tests run on their corpora.

use clrs::Registry;
use clrs_text::Task;

/// A question and an answer, separated by a zero byte: both are read or rejected, and verdicts do not contradict themselves.
pub(crate) fn text_answer(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (question, answer) = text.split_once('\0').unwrap_or((&text, ""));
    any_texts(question, answer);
}

/// Verifies an answer to a question, both of them any text.
pub(crate) fn any_texts(question: &str, answer: &str) {
    let registry = Registry::builtin();
    let Ok(task) = Task::parse(&registry, question) else { return };
    let Ok(verdict) = task.verify(answer) else { return };
    let is_valid = task.is_valid(answer).expect("the problem was verified");
    assert_eq!(verdict.valid, is_valid, "{question}{answer}");
    assert_eq!(verdict.valid, verdict.failure.is_none(), "{question}{answer}");
    assert!(!verdict.exact_match || verdict.valid && verdict.element_accuracy == 1.0, "{question}{answer}");
    assert!(!verdict.valid || verdict.shape && verdict.parsed, "{question}{answer}");
    let reference = task.reference().expect("the problem was verified");
    assert!(task.verify(reference).expect("the problem was verified").exact_match, "{question}{reference}");
    let given = Task::with_reference(&registry, question, reference).expect("a question and its answer");
    assert_eq!(given.verify(answer).expect("a problem"), verdict, "{question}{answer}");
}
