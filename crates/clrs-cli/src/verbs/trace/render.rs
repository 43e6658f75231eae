//! A trace in a terminal: arrays below the numbers of their nodes, marks for one-hot masks, matrices for edges. After the first
//! step, only what changed: changed cells in color, or in brackets without colors.

use std::io::{Result, Write};

use clrs::source::Source;
use clrs::trace::ProbeTrace;
use clrs::{Cells, Kind, Location, Stage, Trace};

use crate::table::plural;

pub(crate) fn trace(out: &mut impl Write, trace: &Trace, source: Source, colors: bool) -> Result<()> {
    let paint = Paint { colors };
    let (nodes, steps) = (plural(trace.nodes, "node"), plural(trace.steps, "step"));
    writeln!(out, "{}: {nodes}, {steps}", trace.algorithm)?;
    stage(out, trace, Stage::Input, "input", &paint)?;
    for step in 0..trace.steps {
        hints(out, trace, step, source, &paint)?;
    }
    stage(out, trace, Stage::Output, "output", &paint)
}

/// A row of a probe, and the row of the step before, if there is one.
struct Row<'t> {
    probe: &'t ProbeTrace,
    now: Cells<'t>,
    before: Option<Cells<'t>>,
}

impl<'t> Row<'t> {
    fn new(probe: &'t ProbeTrace, step: usize) -> Row<'t> {
        let before = step.checked_sub(1).map(|before| probe.rows[before].cells());
        Row { probe, now: probe.rows[step].cells(), before }
    }
}

fn rows(trace: &Trace, stage: Stage, step: usize) -> impl Iterator<Item = Row<'_>> {
    trace.probes.iter().filter(move |probe| probe.stage == stage).map(move |probe| Row::new(probe, step))
}

fn stage(out: &mut impl Write, trace: &Trace, stage: Stage, title: &str, paint: &Paint) -> Result<()> {
    writeln!(out, "\n{}", paint.title(title))?;
    probes(out, &rows(trace, stage, 0).collect::<Vec<_>>(), trace.nodes, paint)
}

fn hints(out: &mut impl Write, trace: &Trace, step: usize, source: Source, paint: &Paint) -> Result<()> {
    let title = format!("step {} of {}", step + 1, trace.steps);
    let location = trace.step_locations.get(step).map(|location| {
        let line = source.line(location.line).unwrap_or_default().trim();
        let file = location.file.rsplit('/').next().unwrap_or_default();
        format!("{file}:{} {line}", location.line)
    });
    writeln!(out, "\n{}  {}", paint.title(&title), paint.dim(&location.unwrap_or_default()))?;
    let (changed, same): (Vec<_>, Vec<_>) = rows(trace, Stage::Hint, step).partition(|row| row.before != Some(row.now));
    probes(out, &changed, trace.nodes, paint)?;
    if !same.is_empty() {
        let names: Vec<&str> = same.iter().map(|row| row.probe.name.as_str()).collect();
        writeln!(out, "  {}", paint.dim(&format!("unchanged: {}", names.join(" "))))?;
    }
    Ok(())
}

/// A cell as text, and whether it changed.
type Cell = (String, bool);

/// Probes of nodes share one header of node numbers; those of the graph have a line, and those of edges a matrix each.
fn probes(out: &mut impl Write, rows: &[Row<'_>], nodes: usize, paint: &Paint) -> Result<()> {
    let at = |location: Location| rows.iter().filter(move |row| row.probe.location == location);
    let name_width = rows.iter().map(|row| row.probe.name.len()).max().unwrap_or(0);
    for row in at(Location::Graph) {
        let value = paint.cell(&text(row.probe.kind, row.now, 0), row.before.is_some(), 0);
        writeln!(out, "  {:<name_width$}  {value}", row.probe.name)?;
    }
    let arrays: Vec<(String, Vec<Cell>)> = at(Location::Node).map(|row| (row.probe.name.clone(), cells(row, nodes))).collect();
    grid(out, nodes, &arrays, name_width, paint)?;
    for row in at(Location::Edge) {
        let all = cells(row, nodes * nodes);
        let lines = all.chunks(nodes).enumerate().map(|(from, cells)| (from.to_string(), cells.to_vec()));
        let is_shown = |cells: &[Cell]| row.before.is_none() || cells.iter().any(|(_, changed)| *changed);
        let lines: Vec<(String, Vec<Cell>)> = lines.filter(|(_, cells)| is_shown(cells)).collect();
        writeln!(out, "  {} (from row to column)", row.probe.name)?;
        grid(out, nodes, &lines, name_width, paint)?;
    }
    Ok(())
}

/// Lines of cells below the numbers of the nodes.
fn grid(out: &mut impl Write, nodes: usize, lines: &[(String, Vec<Cell>)], name_width: usize, paint: &Paint) -> Result<()> {
    if lines.is_empty() {
        return Ok(());
    }
    let widest = lines.iter().flat_map(|(_, cells)| cells).map(|(text, _)| text.chars().count()).max().unwrap_or(1);
    let width = widest.max(nodes.saturating_sub(1).to_string().len()) + paint.margin();
    let header: Vec<String> = (0..nodes).map(|node| paint.cell(&node.to_string(), false, width)).collect();
    writeln!(out, "  {:<name_width$}  {}", "", paint.dim(header.join(" ").trim_end()))?;
    for (label, cells) in lines {
        let cells: Vec<String> = cells.iter().map(|(text, changed)| paint.cell(text, *changed, width)).collect();
        writeln!(out, "  {label:<name_width$}  {}", cells.join(" ").trim_end())?;
    }
    Ok(())
}

/// All cells of a row. A one-hot mask becomes a mark at its node.
fn cells(row: &Row<'_>, count: usize) -> Vec<Cell> {
    let Row { probe, now, before } = *row;
    if let (Kind::MaskOne, Cells::Node(marked)) = (probe.kind, now) {
        let is_marked = |index: usize| marked[0] as usize == index;
        let mark = |index: usize| if is_marked(index) { "^" } else { "" }.to_owned();
        return (0..count).map(|index| (mark(index), is_marked(index) && before.is_some())).collect();
    }
    let changed = |index: usize| before.is_some_and(|before| before.slice(index..index + 1) != now.slice(index..index + 1));
    (0..count).map(|index| (text(probe.kind, now, index), changed(index))).collect()
}

fn text(kind: Kind, cells: Cells<'_>, index: usize) -> String {
    match cells {
        Cells::Scalar(cells) => number(cells[index]),
        Cells::Node(cells) => cells[index].to_string(),
        Cells::Class(cells) => match (cells[index], kind) {
            (-1, _) => "-".into(),
            (0, Kind::Mask) => ".".into(),
            (class, _) => class.to_string(),
        },
    }
}

/// A number with up to three decimals, which distinguishes values without filling the screen.
fn number(x: f64) -> String {
    if x == 0.0 {
        "0".into()
    } else if x.abs() >= 1e5 || x.abs() < 1e-3 {
        format!("{x:.1e}")
    } else {
        let text = format!("{x:.3}");
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    }
}

/// Emphasis: colors in a terminal, brackets elsewhere.
struct Paint {
    colors: bool,
}

impl Paint {
    fn title(&self, text: &str) -> String {
        if self.colors { format!("\x1b[1m{text}\x1b[0m") } else { text.to_owned() }
    }

    fn dim(&self, text: &str) -> String {
        if self.colors { format!("\x1b[2m{text}\x1b[0m") } else { text.to_owned() }
    }

    /// Characters that the emphasis of a cell takes.
    fn margin(&self) -> usize {
        if self.colors { 0 } else { 2 }
    }

    fn cell(&self, text: &str, changed: bool, width: usize) -> String {
        match (changed, self.colors) {
            (false, true) => format!("{text:>width$}"),
            (true, true) => format!("{:>1$}\x1b[1;33m{text}\x1b[0m", "", width.saturating_sub(text.chars().count())),
            (false, false) => format!("{:>width$}", format!("{text} ")),
            (true, false) => format!("{:>width$}", format!("[{text}]")),
        }
    }
}
