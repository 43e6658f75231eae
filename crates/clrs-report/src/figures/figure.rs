//! A figure: panels with one legend.

use std::fmt::Write;

use serde_json::{Map, Value};

use super::panel::{HEIGHT, Panel, WIDTH};
use super::style::Style;
use super::svg::{self, Anchor, FONT_SIZE, FONTS, number, text, text_width};
use crate::tables::csv_records;

/// A figure: panels, and the same results as records.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Figure {
    /// Name of its files.
    pub name: &'static str,
    /// Title.
    pub title: &'static str,
    /// What it shows.
    pub caption: String,
    /// Label of all horizontal axes.
    pub x_label: &'static str,
    /// Label of all vertical axes.
    pub y_label: &'static str,
    /// Panels.
    pub panels: Vec<Panel>,
    /// Everything that is drawn, with full precision and before thinning.
    pub records: Vec<Map<String, Value>>,
    pub(super) legend: Vec<(String, Style)>,
}

impl Figure {
    /// All panels in one SVG file, with the legend above them.
    pub fn to_svg(&self) -> String {
        let columns = columns(self.panels.len());
        let rows = self.panels.len().div_ceil(columns);
        let width = MARGIN + columns as f64 * WIDTH + (columns - 1) as f64 * GAP;
        let (legend, legend_height) = self.legend(width);
        let height = legend_height + rows as f64 * (HEIGHT + GAP) + 12.0;
        let mut out = open(width, height, self.title);
        let _ = write!(out, "<rect width=\"{}\" height=\"{}\" fill=\"#ffffff\"/>{legend}", number(width), number(height));
        for (index, panel) in self.panels.iter().enumerate() {
            let x = MARGIN + (index % columns) as f64 * (WIDTH + GAP);
            let y = legend_height + (index / columns) as f64 * (HEIGHT + GAP);
            let _ = write!(out, "\n<g transform=\"translate({},{})\">{}</g>", number(x), number(y), panel.draw());
        }
        let middle = f64::midpoint(MARGIN, width);
        out += &text(middle, height - 4.0, Anchor::Middle, "ink", self.x_label);
        let middle = number(f64::midpoint(legend_height, height));
        let _ = write!(out, "\n<g transform=\"translate(11,{middle}) rotate(-90)\">");
        out += &text(0.0, 0.0, Anchor::Middle, "ink", self.y_label);
        out + "</g>\n</svg>\n"
    }

    /// The records as comma-separated values.
    pub fn to_csv(&self) -> String {
        csv_records(&self.records)
    }

    /// The records as JSON, one per line: there can be many.
    pub fn to_json(&self) -> String {
        let Figure { name, title, caption, records, .. } = self;
        let text = |text: &str| Value::from(text).to_string();
        let lines: Vec<String> = records.iter().map(|record| Value::Object(record.clone()).to_string()).collect();
        format!(
            "{{\"figure\":{},\"title\":{},\"caption\":{},\"records\":[\n{}\n]}}\n",
            text(name),
            text(title),
            text(caption),
            lines.join(",\n")
        )
    }

    /// Every panel as an SVG element of its own, for pages that arrange them by their width.
    pub(crate) fn panel_svgs(&self) -> impl Iterator<Item = String> {
        self.panels.iter().map(|panel| open(WIDTH, HEIGHT, &panel.title) + &panel.draw() + "</svg>")
    }

    /// Every entry of the legend: its line, and its label.
    pub(crate) fn legend_svgs(&self) -> impl Iterator<Item = (String, &str)> {
        let svg = |style: &Style| open(LEGEND_LINE, LEGEND_HEIGHT, "") + &sample(*style, 0.0, LEGEND_HEIGHT / 2.0) + "</svg>";
        self.legend.iter().map(move |(label, style)| (svg(style), label.as_str()))
    }

    /// The legend in lines of at most `width`, and its height.
    fn legend(&self, width: f64) -> (String, f64) {
        let (mut out, mut x, mut y) = (String::new(), MARGIN, LEGEND_HEIGHT / 2.0 + 2.0);
        for (label, style) in &self.legend {
            let entry = LEGEND_LINE + 6.0 + text_width(label);
            if x > MARGIN && x + entry > width {
                (x, y) = (MARGIN, y + LEGEND_HEIGHT);
            }
            out += &sample(*style, x, y);
            out += &text(x + LEGEND_LINE + 6.0, y + 4.0, Anchor::Start, "ink", label);
            x += entry + 16.0;
        }
        (out, y + LEGEND_HEIGHT / 2.0 + 8.0)
    }
}

/// Space for the label of vertical axes.
const MARGIN: f64 = 16.0;
/// Space between panels.
const GAP: f64 = 6.0;
/// An entry of the legend.
const LEGEND_LINE: f64 = 30.0;
const LEGEND_HEIGHT: f64 = 16.0;

/// Panels per row: few rows that fill a page.
fn columns(panels: usize) -> usize {
    match panels {
        0..=3 => panels.max(1),
        4..=16 => 4,
        _ => 5,
    }
}

/// The line of a style with a marker.
fn sample(style: Style, x: f64, y: f64) -> String {
    let line = svg::path(&[(x, y), (x + LEGEND_LINE, y)]);
    format!("<path {} d=\"{line}\"/>{}", style.stroke(), style.marker(x + LEGEND_LINE / 2.0, y))
}

/// The first tag of an SVG file. A title is read by screen readers.
fn open(width: f64, height: f64, title: &str) -> String {
    let (width, height) = (number(width), number(height));
    let title = if title.is_empty() { String::new() } else { format!("<title>{}</title>", svg::escaped(title)) };
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"{FONTS}\" font-size=\"{FONT_SIZE}\" role=\"img\">{title}"
    )
}
