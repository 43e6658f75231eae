//! Numbers as Python and `NumPy` print them.

use std::io::Write;

use clrs::Location;

/// Appends an integer.
pub(crate) fn push_integer(out: &mut Vec<u8>, x: i64) {
    // Most are small: masks and classes, which are -1 where they are masked out, and nodes.
    match u8::try_from(x) {
        Ok(small @ 0..=9) => out.push(b'0' + small),
        Ok(small @ 10..=99) => out.extend([b'0' + small / 10, b'0' + small % 10]),
        _ if x == -1 => out.extend(b"-1"),
        _ => write!(out, "{x}").expect("memory"),
    }
}

/// Appends the shortest decimal that parses to the same number, as `str` does: `0.1`, `2.0`, `-0.0`, `1e-05`, `1e+16`.
pub(crate) fn push_shortest(out: &mut Vec<u8>, x: f64) {
    // Most weights of a graph.
    if x.to_bits() == 0 {
        return out.extend(b"0.0");
    }
    if let Some(thousandths) = as_thousandths(x) {
        return push_thousandths(out, thousandths);
    }
    if !x.is_finite() {
        return push_not_finite(out, x);
    }
    let start = out.len();
    // The digits and the range without an exponent are those of Python; the exponent is not.
    write!(out, "{x:?}").expect("memory");
    if let Some(at) = out[start..].iter().position(|&byte| byte == b'e') {
        let exponent = std::str::from_utf8(&out[start + at + 1..]).ok().and_then(|exponent| exponent.parse().ok());
        out.truncate(start + at);
        push_exponent(out, exponent.expect("an exponent"));
    }
}

/// Appends a number of `text@2.0.1`: three decimals at the graph, three significant digits at nodes and edges.
pub(crate) fn push_rounded(out: &mut Vec<u8>, x: f64, location: Location) {
    match location {
        Location::Graph => push_fixed(out, x),
        Location::Node | Location::Edge => push_significant(out, x),
    }
}

/// Appends three significant digits, as `f'{x:.3g}'` does: `0.549`, `0.8`, `0`, `1e-05`.
fn push_significant(out: &mut Vec<u8>, x: f64) {
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
fn push_fixed(out: &mut Vec<u8>, x: f64) {
    if x.is_finite() {
        write!(out, "{x:.3}").expect("memory");
    } else {
        push_not_finite(out, x);
    }
}

/// The number in thousandths, if a decimal with three places parses to it. Its digits are then the shortest: no two decimals of at
/// most 15 digits parse to the same number. Problems with truncated numbers have no others, and formatting them is most of the work.
fn as_thousandths(x: f64) -> Option<i32> {
    #[expect(clippy::cast_possible_truncation, reason = "saturates at numbers that are too large")]
    let thousandths = (x * 1000.0 + 0.5f64.copysign(x)) as i32;
    // Neither -0.0, which is equal to 0.0, nor numbers that need an exponent.
    let is_thousandths = thousandths.unsigned_abs() < 1_000_000 && f64::from(thousandths) / 1000.0 == x;
    (is_thousandths && (thousandths != 0 || x.is_sign_positive())).then_some(thousandths)
}

fn push_thousandths(out: &mut Vec<u8>, thousandths: i32) {
    if thousandths < 0 {
        out.push(b'-');
    }
    let thousandths = thousandths.unsigned_abs();
    push_integer(out, i64::from(thousandths / 1000));
    let place = |unit: u32| b'0' + u8::try_from(thousandths / unit % 10).expect("a digit");
    out.extend([b'.', place(100)]);
    if !thousandths.is_multiple_of(100) {
        out.push(place(10));
    }
    if !thousandths.is_multiple_of(10) {
        out.push(place(1));
    }
}

fn push_exponent(out: &mut Vec<u8>, exponent: i32) {
    let sign = if exponent < 0 { '-' } else { '+' };
    write!(out, "e{sign}{:02}", exponent.unsigned_abs()).expect("memory");
}

fn push_without_zeros(out: &mut Vec<u8>, decimal: &str) {
    let trimmed = if decimal.contains('.') { decimal.trim_end_matches('0').trim_end_matches('.') } else { decimal };
    out.extend(trimmed.as_bytes());
}

fn push_not_finite(out: &mut Vec<u8>, x: f64) {
    let name = match x {
        x if x.is_nan() => "nan",
        x if x > 0.0 => "inf",
        _ => "-inf",
    };
    out.extend(name.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text<T>(push: fn(&mut Vec<u8>, T), x: T) -> String {
        let mut out = Vec::new();
        push(&mut out, x);
        String::from_utf8(out).expect("ASCII")
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
        let texts = [0, 9, 10, 42, 99, 100, -1, -2, 255, 256, i64::MIN].map(|x| text(push_integer, x));
        assert_eq!(texts.join(" "), "0 9 10 42 99 100 -1 -2 255 256 -9223372036854775808");
    }
}
