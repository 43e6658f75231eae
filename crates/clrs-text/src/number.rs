//! Numbers as Python and `NumPy` print them.

use std::fmt::Write;

/// Appends an integer.
pub(crate) fn push_integer(out: &mut String, x: i64) {
    // Most are digits: masks, classes, nodes of small problems.
    match u8::try_from(x) {
        Ok(digit @ 0..=9) => out.push(char::from(b'0' + digit)),
        _ => write!(out, "{x}").expect("a string"),
    }
}

/// Appends the shortest decimal that parses to the same number, as `str` does: `0.1`, `2.0`, `-0.0`, `1e-05`, `1e+16`.
pub(crate) fn push_shortest(out: &mut String, x: f64) {
    if let Some(thousandths) = as_thousandths(x) {
        return push_thousandths(out, thousandths);
    }
    if !x.is_finite() {
        return push_not_finite(out, x);
    }
    let start = out.len();
    // The digits and the range without an exponent are those of Python; the exponent is not.
    write!(out, "{x:?}").expect("a string");
    if let Some(at) = out[start..].find('e') {
        let exponent: i32 = out[start + at + 1..].parse().expect("an exponent");
        out.truncate(start + at);
        push_exponent(out, exponent);
    }
}

/// Appends three significant digits, as `f'{x:.3g}'` does: `0.549`, `0.8`, `0`, `1e-05`.
pub(crate) fn push_significant(out: &mut String, x: f64) {
    const DIGITS: i32 = 3;
    if !x.is_finite() {
        return push_not_finite(out, x);
    }
    let scientific = format!("{x:.2e}");
    let (mantissa, exponent) = scientific.split_once('e').expect("scientific notation");
    let exponent: i32 = exponent.parse().expect("an exponent");
    if (-4..DIGITS).contains(&exponent) {
        let decimals = usize::try_from(DIGITS - 1 - exponent).expect("at most as many digits as in front of the point");
        push_without_zeros(out, &format!("{x:.decimals$}"));
    } else {
        push_without_zeros(out, mantissa);
        push_exponent(out, exponent);
    }
}

/// Appends three decimals, as `f'{x:.3f}'` does: `0.549`, `2.000`.
pub(crate) fn push_fixed(out: &mut String, x: f64) {
    if x.is_finite() {
        write!(out, "{x:.3}").expect("a string");
    } else {
        push_not_finite(out, x);
    }
}

/// The number in thousandths, if a decimal with three places parses to it. Its digits are then the shortest: no two decimals of at
/// most 15 digits parse to the same number. Problems with truncated numbers have no others, and formatting them is most of the work.
fn as_thousandths(x: f64) -> Option<i32> {
    let thousandths = (x * 1000.0).round();
    // Neither -0.0, which is equal to 0.0, nor numbers that need an exponent.
    let is_thousandths = thousandths.abs() < 1e6 && thousandths / 1000.0 == x && !(x == 0.0 && x.is_sign_negative());
    #[expect(clippy::cast_possible_truncation, reason = "an integer below a million")]
    is_thousandths.then_some(thousandths as i32)
}

fn push_thousandths(out: &mut String, thousandths: i32) {
    if thousandths < 0 {
        out.push('-');
    }
    let thousandths = thousandths.unsigned_abs();
    push_integer(out, i64::from(thousandths / 1000));
    let digit = |unit: u32| char::from(b'0' + u8::try_from(thousandths / unit % 10).expect("a digit"));
    out.extend(['.', digit(100)]);
    if !thousandths.is_multiple_of(100) {
        out.push(digit(10));
    }
    if !thousandths.is_multiple_of(10) {
        out.push(digit(1));
    }
}

fn push_exponent(out: &mut String, exponent: i32) {
    let sign = if exponent < 0 { '-' } else { '+' };
    write!(out, "e{sign}{:02}", exponent.unsigned_abs()).expect("a string");
}

fn push_without_zeros(out: &mut String, decimal: &str) {
    out.push_str(if decimal.contains('.') { decimal.trim_end_matches('0').trim_end_matches('.') } else { decimal });
}

fn push_not_finite(out: &mut String, x: f64) {
    out.push_str(if x.is_nan() {
        "nan"
    } else if x > 0.0 {
        "inf"
    } else {
        "-inf"
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(push: fn(&mut String, f64), x: f64) -> String {
        let mut out = String::new();
        push(&mut out, x);
        out
    }

    /// Right sides are what Python prints.
    #[test]
    fn shortest_decimals_are_those_of_python() {
        let cases = [
            (0.0, "0.0"),
            (-0.0, "-0.0"),
            (1.0, "1.0"),
            (0.548, "0.548"),
            (-0.06, "-0.06"),
            (-1.2, "-1.2"),
            (12.003, "12.003"),
            (0.548_813_503_927_324_8, "0.5488135039273248"),
            (0.1 + 0.2, "0.30000000000000004"),
            (999.999, "999.999"),
            (1000.0, "1000.0"),
            (1e6, "1000000.0"),
            (0.0001, "0.0001"),
            (0.000_099, "9.9e-05"),
            (1e-5, "1e-05"),
            (1.5e-7, "1.5e-07"),
            (-2.5e-10, "-2.5e-10"),
            (9_007_199_254_740_993.0, "9007199254740992.0"),
            (1e16, "1e+16"),
            (1.234_567e22, "1.234567e+22"),
            (1e100, "1e+100"),
            (5e-324, "5e-324"),
            (f64::INFINITY, "inf"),
            (f64::NEG_INFINITY, "-inf"),
            (f64::NAN, "nan"),
        ];
        for (x, expected) in cases {
            assert_eq!(text(push_shortest, x), expected);
        }
    }

    #[test]
    fn the_digits_of_thousandths_are_the_shortest() {
        for thousandths in (-1_100_000..1_100_000).step_by(7) {
            let x = f64::from(thousandths) / 1000.0;
            assert_eq!(text(push_shortest, x), format!("{x:?}"));
        }
    }

    #[test]
    fn significant_digits_are_those_of_python() {
        let cases = [
            (0.0, "0"),
            (-0.0, "-0"),
            (1.0, "1"),
            (0.548_813_5, "0.549"),
            (0.097_627, "0.0976"),
            (0.8, "0.8"),
            (-0.152_690, "-0.153"),
            (0.9996, "1"),
            (0.000_123_456, "0.000123"),
            (0.000_012_345, "1.23e-05"),
            (0.000_01, "1e-05"),
            (99.95, "100"),
            (999.4, "999"),
            (999.6, "1e+03"),
            (12_345.0, "1.23e+04"),
            (f64::NAN, "nan"),
        ];
        for (x, expected) in cases {
            assert_eq!(text(push_significant, x), expected);
        }
    }

    #[test]
    fn fixed_decimals_are_those_of_python() {
        for (x, expected) in [(0.645_894, "0.646"), (2.0, "2.000"), (-0.0, "-0.000"), (0.0005, "0.001"), (f64::INFINITY, "inf")] {
            assert_eq!(text(push_fixed, x), expected);
        }
    }

    #[test]
    fn integers_have_no_point() {
        let text = |x| {
            let mut out = String::new();
            push_integer(&mut out, x);
            out
        };
        assert_eq!([0, 9, 10, -1, 255, 256, i64::MIN].map(text).join(" "), "0 9 10 -1 255 256 -9223372036854775808");
    }
}
