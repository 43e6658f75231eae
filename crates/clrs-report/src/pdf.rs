//! Figures as PDF files, with the font of their text.

use std::sync::Arc;

use svg2pdf::usvg::{self, fontdb};
use svg2pdf::{ConversionOptions, PageOptions};

/// Converts an SVG file of [`Figure::to_svg`](crate::figures::Figure::to_svg): vector graphics, text as text.
///
/// Only one font is used, the same on every machine. With two, the order of the font objects would differ from run to run.
///
/// # Errors
/// If it is not such a file.
pub fn from_svg(svg: &str) -> Result<Vec<u8>, String> {
    let mut fonts = fontdb::Database::new();
    fonts.load_font_data(dejavu::sans::regular().to_vec());
    fonts.set_sans_serif_family("DejaVu Sans");
    let options = usvg::Options { fontdb: Arc::new(fonts), ..usvg::Options::default() };
    let tree = usvg::Tree::from_str(svg, &options).map_err(|error| error.to_string())?;
    let pdf = svg2pdf::to_pdf(&tree, ConversionOptions::default(), PageOptions::default()).map_err(|error| error.to_string())?;
    Ok(with_sorted_resources(&pdf))
}

/// The file with the entries of its resource dictionaries in order. svg2pdf writes them in the order of a hash map; each is a line, and
/// lines that change places change no offset of an object.
fn with_sorted_resources(pdf: &[u8]) -> Vec<u8> {
    let mut lines: Vec<&[u8]> = pdf.split_inclusive(|byte| *byte == b'\n').collect();
    let mut is_stream = false;
    let mut first = 0;
    for index in 0..=lines.len() {
        let line = lines.get(index).copied().unwrap_or_default();
        is_stream = (is_stream || line.ends_with(b"stream\n")) && !line.ends_with(b"endstream\n");
        if is_stream || !is_resource(line) {
            // Shorter names first: numbers in order.
            lines[first..index].sort_by_key(|line| (line.len(), *line));
            first = index + 1;
        }
    }
    lines.concat()
}

/// Whether a line is an entry that names an object: `/gs12 7 0 R`.
fn is_resource(line: &[u8]) -> bool {
    let words: Vec<&[u8]> = line.trim_ascii().split(|byte| *byte == b' ').collect();
    let is_numbered = |name: &[u8]| name.starts_with(b"/") && name.last().is_some_and(u8::is_ascii_digit);
    matches!(words[..], [name, _, b"0", b"R"] if is_numbered(name))
}
