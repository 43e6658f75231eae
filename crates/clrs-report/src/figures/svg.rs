//! SVG elements as text, with the same bytes everywhere.

use std::fmt::Write;

/// Sans-serif fonts that readers' machines have. The widths of [`text_width`] are those of the last named one, which is the widest.
pub(super) const FONTS: &str = "Inter, 'Helvetica Neue', Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif";

/// Size of text in pixels.
pub(super) const FONT_SIZE: f64 = 11.0;

/// A coordinate with at most two decimals.
pub(super) fn number(value: f64) -> String {
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".into() } else { text.into() }
}

/// Text for elements and attributes.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Points as the commands of a path, relative to each other: shorter than absolute ones.
pub(super) fn path(points: &[(f64, f64)]) -> String {
    // Tenths of a pixel, as integers: rounding errors do not accumulate.
    #[expect(clippy::cast_possible_truncation, reason = "pixels of a figure")]
    let tenths = |value: f64| (value * 10.0).round() as i64;
    let mut commands = String::new();
    let mut last = (0, 0);
    for (index, &(x, y)) in points.iter().enumerate() {
        let at = (tenths(x), tenths(y));
        let (x, y) = (tenth(at.0 - last.0), tenth(at.1 - last.1));
        let command = match index {
            0 => "M",
            1 => "l",
            _ => " ",
        };
        let _ = write!(commands, "{command}{x},{y}");
        last = at;
    }
    commands
}

fn tenth(tenths: i64) -> String {
    let sign = if tenths < 0 { "-" } else { "" };
    let (whole, rest) = (tenths.abs() / 10, tenths.abs() % 10);
    match (whole, rest) {
        (whole, 0) => format!("{sign}{whole}").replace("-0", "0"),
        (0, rest) => format!("{sign}.{rest}"),
        (whole, rest) => format!("{sign}{whole}.{rest}"),
    }
}

/// Where a text is relative to its point.
#[derive(Clone, Copy)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// A text of the usual size. Its class lets a page choose its color.
pub(super) fn text(x: f64, y: f64, anchor: Anchor, class: &str, content: &str) -> String {
    let fill = if class == "muted" { "#5c6470" } else { "#1c2128" };
    let anchor = match anchor {
        Anchor::Start => "",
        Anchor::Middle => " text-anchor=\"middle\"",
        Anchor::End => " text-anchor=\"end\"",
    };
    let (x, y) = (number(x), number(y));
    format!("<text class=\"{class}\" x=\"{x}\" y=\"{y}\"{anchor} fill=\"{fill}\">{}</text>", escaped(content))
}

/// An upper bound on the width of a text.
pub(super) fn text_width(text: &str) -> f64 {
    let width = |c: char| match c {
        'i' | 'j' | 'l' | '.' | ',' | ':' | ';' | '\'' | '|' | 'I' | ' ' => 0.34,
        'f' | 'r' | 't' | '(' | ')' | '[' | ']' | '-' | '/' => 0.42,
        'm' | 'w' | 'M' | 'W' | '@' | '%' | '±' | '=' | '+' => 0.98,
        c if c.is_uppercase() => 0.75,
        _ => 0.64,
    };
    FONT_SIZE * text.chars().map(width).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_coordinates_add_up() {
        assert_eq!(path(&[(1.04, 2.0), (1.54, 1.0), (0.5, 1.0)]), "M1,2l.5,-1 -1,0");
        assert_eq!(path(&[(0.0, 10.0), (0.0, 9.9)]), "M0,10l0,-.1");
    }

    #[test]
    fn numbers_have_no_needless_digits() {
        assert_eq!([0.0, -0.001, 1.5, 2.0, 100.0].map(number), ["0", "0", "1.5", "2", "100"]);
    }
}
