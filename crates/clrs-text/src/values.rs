//! Words as cells of probes.

use clrs::{Column, Kind, Location, Probe};

use crate::syntax::{Value, shortened};

/// A value that is none of the probe that it stands for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the error messages document the variants")]
pub enum ValueError {
    #[error("`{name}` is {found}, expected {expected}")]
    Shape { name: String, expected: String, found: String },
    #[error("`{name}` has `{word}`, which is not {expected}")]
    Word { name: String, word: String, expected: &'static str },
    #[error("`{name}` has {value}, expected {expected}")]
    Range { name: String, value: i64, expected: String },
    #[error("`{name}` has `{word}`, which is not one of the keys, or more often than they are")]
    Key { name: String, word: String },
}

/// Checks the dimensions of a value of a probe for `n` nodes.
pub(crate) fn check_shape(probe: &Probe, value: &Value<'_>, n: usize) -> Result<(), ValueError> {
    let (fits, expected) = match probe.location {
        Location::Graph => (matches!(value, Value::Word(_)), "a single value".into()),
        Location::Node if probe.kind == Kind::MaskOne => (matches!(value, Value::Word(_)), "a single value".into()),
        Location::Node => (matches!(value, Value::List(words) if words.len() == n), format!("a list of {n}")),
        Location::Edge => {
            let is_square = |rows: &[Vec<&str>]| rows.len() == n && rows.iter().all(|row| row.len() == n);
            (matches!(value, Value::Matrix(rows) if is_square(rows)), format!("a matrix of {n} x {n}"))
        }
    };
    let found = || value.describe();
    if fits { Ok(()) } else { Err(ValueError::Shape { name: probe.name.to_string(), expected, found: found() }) }
}

/// Checks the words of a value of a probe: numbers, or integers. `is_order` if numbers stand for nodes.
pub(crate) fn check_words(probe: &Probe, value: &Value<'_>, is_order: bool) -> Result<(), ValueError> {
    let is_real = probe.kind == Kind::Scalar || is_order;
    let expected = if is_real { "a number" } else { "an integer" };
    let fits = |word: &&str| if is_real { real(word).is_some() } else { integer(word).is_some() };
    match value.words().into_iter().find(|word| !fits(word)) {
        Some(word) => Err(ValueError::Word { name: probe.name.to_string(), word: shortened(word), expected }),
        None => Ok(()),
    }
}

/// Reads a value of a probe for `n` nodes as a row of its column.
pub(crate) fn column(probe: &Probe, value: &Value<'_>, n: usize) -> Result<Column, ValueError> {
    check_shape(probe, value, n)?;
    check_words(probe, value, false)?;
    let words = value.words();
    Ok(match probe.kind {
        Kind::Scalar => Column::Scalar(words.into_iter().filter_map(real).collect()),
        Kind::Mask | Kind::Categorical { .. } => {
            let classes = if let Kind::Categorical { classes } = probe.kind { classes } else { 2 };
            let least = if probe.masked { -1 } else { 0 };
            let last = i8::try_from(classes - 1).unwrap_or(i8::MAX);
            let class = |value: i64| i8::try_from(value).ok().filter(|class| (least..=last).contains(class));
            Column::Class(in_range(probe, &words, class, || format!("{least} to {last}"))?)
        }
        Kind::MaskOne | Kind::Pointer | Kind::Permutation | Kind::CyclicPermutation => {
            let node = |value: i64| u32::try_from(value).ok().filter(|&node| (node as usize) < n);
            Column::Node(in_range(probe, &words, node, || format!("a node from 0 to {}", n.saturating_sub(1)))?)
        }
    })
}

fn in_range<T>(
    probe: &Probe,
    words: &[&str],
    cell: impl Fn(i64) -> Option<T>,
    expected: impl Fn() -> String,
) -> Result<Vec<T>, ValueError> {
    let error = |value| ValueError::Range { name: probe.name.to_string(), value, expected: expected() };
    let cell = |value: i64| cell(value).ok_or_else(|| error(value));
    words.iter().filter_map(|word| integer(word)).map(cell).collect()
}

/// Reads keys in an order as predecessors. Nodes with equal keys are taken in their own order.
pub(crate) fn predecessors(probe: &Probe, value: &Value<'_>, key: &[f64]) -> Result<Column, ValueError> {
    check_shape(probe, value, key.len())?;
    check_words(probe, value, true)?;
    let mut nodes: Vec<usize> = (0..key.len()).collect();
    nodes.sort_by(|&a, &b| key[a].total_cmp(&key[b]));
    let sorted: Vec<f64> = nodes.iter().map(|&node| key[node]).collect();
    let mut taken = vec![0; key.len()];
    let mut pred = vec![0; key.len()];
    let mut last = None;
    for word in value.words() {
        let error = || ValueError::Key { name: probe.name.to_string(), word: shortened(word) };
        let wanted = real(word).ok_or_else(error)?;
        // Sorted with -0.0 before 0.0, which are equal.
        let first = sorted.partition_point(|&key| key < wanted);
        let position = first + taken.get(first).copied().unwrap_or(0);
        if sorted.get(position) != Some(&wanted) {
            return Err(error());
        }
        taken[first] += 1;
        let node = nodes[position];
        pred[node] = u32::try_from(last.replace(node).unwrap_or(node)).expect("a node");
    }
    Ok(Column::Node(pred))
}

/// A finite number in decimal notation.
pub(crate) fn real(word: &str) -> Option<f64> {
    let is_decimal = word.bytes().all(|byte| byte.is_ascii_digit() || b"+-.e".contains(&byte)) && !word.starts_with('+');
    word.parse().ok().filter(|number: &f64| is_decimal && number.is_finite())
}

/// An integer as it is printed: no sign but -, no leading zeros.
pub(crate) fn integer(word: &str) -> Option<i64> {
    let digits = word.strip_prefix('-').unwrap_or(word);
    let is_canonical = word == "0" || !digits.starts_with(['0', '+', '-']);
    word.parse().ok().filter(|_| is_canonical)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_decimal_and_integers_canonical() {
        let reals = ["0.5", "-0.0", "1e-05", "1e+16", "3", "07"].map(real);
        assert_eq!(reals, [0.5, 0.0, 1e-5, 1e16, 3.0, 7.0].map(Some));
        assert!(
            ["", "+1", "inf", "nan", "1e999", "0x1", "1_0", "-", ".", "1e", "infinity"].map(real).iter().all(Option::is_none)
        );
        assert_eq!(["0", "7", "-1", "120"].map(integer), [0, 7, -1, 120].map(Some));
        assert!(["", "-0", "01", "+1", "1.0", "--1", "-", "99999999999999999999"].map(integer).iter().all(Option::is_none));
    }

    #[test]
    fn keys_in_an_order_are_predecessors() {
        use clrs::cell::{Node, Permutation};
        let pred = Probe::declared::<Node<Permutation>>("pred", clrs::Stage::Output, clrs::DType::I64, "order");
        let read = |words: &[&'static str], key: &[f64]| predecessors(&pred, &Value::List(words.to_vec()), key);
        assert_eq!(read(&["0.2", "0.4", "0.5"], &[0.5, 0.2, 0.4]), Ok(Column::Node(vec![2, 1, 1])));
        assert_eq!(read(&["0.5", "0.2", "0.4"], &[0.5, 0.2, 0.4]), Ok(Column::Node(vec![0, 0, 1])), "any order");
        assert_eq!(read(&["1", "1.0", "0"], &[1.0, 0.0, 1.0]), Ok(Column::Node(vec![0, 2, 0])), "equal keys");
        assert_eq!(read(&["0.0", "-0.0"], &[0.0, -0.0]), Ok(Column::Node(vec![1, 1])));
        let error = |words: &[&'static str]| read(words, &[1.0, 0.0, 1.0]).expect_err("not the keys").to_string();
        assert_eq!(error(&["1", "0", "0"]), "`pred` has `0`, which is not one of the keys, or more often than they are");
        assert_eq!(error(&["1", "0", "2"]), "`pred` has `2`, which is not one of the keys, or more often than they are");
        assert_eq!(error(&["1", "0", "x"]), "`pred` has `x`, which is not a number");
        assert_eq!(error(&["1", "0"]), "`pred` is a list of 2, expected a list of 3");
    }
}
