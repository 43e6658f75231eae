//! A trajectory in a terminal: arrays under the numbers of their nodes, marks where a single node is meant, matrices for
//! edges; after the first step only what changed, the changed cells in colour, or in brackets where there are none.

use std::io::{Result, Write};

use clrs::{AnyAlgorithm, Cells, Kind, Location, Probe, Recorder, Stage, Trajectory};

use super::Step;

pub(crate) fn trajectory(out: &mut impl Write, algorithm: &dyn AnyAlgorithm, recorder: &Recorder, colours: bool) -> Result<()> {
    let run = recorder.trajectories().get(0);
    let paint = Paint { colours };
    writeln!(out, "{}: {} nodes, {} steps", algorithm.name(), run.nodes(), run.steps())?;
    stage(out, &run, Stage::Input, "input", &paint)?;
    for (step, site) in recorder.step_locations(0).iter().enumerate() {
        hints(out, algorithm, &Step { run, place: step, site }, &paint)?;
    }
    stage(out, &run, Stage::Output, "output", &paint)
}

fn stage(out: &mut impl Write, run: &Trajectory<'_>, stage: Stage, title: &str, paint: &Paint) -> Result<()> {
    writeln!(out, "\n{}", paint.title(title))?;
    let rows: Vec<_> = run.iter().filter(|(probe, _)| probe.stage == stage).map(|(probe, cells)| (probe, cells, None)).collect();
    probes(out, &rows, run.nodes(), paint)
}

fn hints(out: &mut impl Write, algorithm: &dyn AnyAlgorithm, step: &Step<'_>, paint: &Paint) -> Result<()> {
    let line = algorithm.source().line(step.site.line()).unwrap_or_default().trim();
    let file = step.site.file().rsplit('/').next().unwrap_or_default();
    let title = format!("step {} of {}", step.place + 1, step.run.steps());
    writeln!(out, "\n{}  {}", paint.title(&title), paint.quiet(&format!("{file}:{} {line}", step.site.line())))?;
    let rows: Vec<_> = step.run.spec().iter().enumerate().filter(|(_, probe)| probe.stage == Stage::Hint).collect();
    let rows: Vec<_> = rows.into_iter().map(|(place, probe)| (probe, step.row(place))).collect();
    let (changed, same): (Vec<_>, Vec<_>) = rows.into_iter().partition(|(_, (now, before))| *before != Some(*now));
    let changed: Vec<_> = changed.into_iter().map(|(probe, (now, before))| (probe, now, before)).collect();
    probes(out, &changed, step.run.nodes(), paint)?;
    if !same.is_empty() {
        let names: Vec<&str> = same.iter().map(|(probe, _)| probe.name.as_ref()).collect();
        writeln!(out, "  {}", paint.quiet(&format!("unchanged: {}", names.join(" "))))?;
    }
    Ok(())
}

type Row<'r> = (&'r Probe, Cells<'r>, Option<Cells<'r>>);

/// Probes of nodes share one head of node numbers; those of graphs and edges stand for themselves.
fn probes(out: &mut impl Write, rows: &[Row<'_>], nodes: usize, paint: &Paint) -> Result<()> {
    let at = |location: Location| rows.iter().filter(move |(probe, ..)| probe.location == location);
    let name = rows.iter().map(|(probe, ..)| probe.name.len()).max().unwrap_or(0);
    for (probe, now, before) in at(Location::Graph) {
        let changed = before.is_some();
        writeln!(out, "  {:<name$}  {}", probe.name, paint.cell(&text(probe, *now, 0), changed, 0))?;
    }
    let arrays: Vec<_> =
        at(Location::Node).map(|&(probe, now, before)| (probe.name.as_ref(), cells(probe, now, before, nodes))).collect();
    grid(out, nodes, &arrays, name, paint)?;
    for &(probe, now, before) in at(Location::Edge) {
        let all = cells(probe, now, before, nodes * nodes);
        let lines: Vec<(String, Vec<(String, bool)>)> =
            all.chunks(nodes).enumerate().map(|(row, cells)| (row.to_string(), cells.to_vec())).collect();
        let first = before.is_none();
        let lines: Vec<(&str, Vec<(String, bool)>)> = lines
            .iter()
            .filter(|(_, cells)| first || cells.iter().any(|(_, changed)| *changed))
            .map(|(row, cells)| (row.as_str(), cells.clone()))
            .collect();
        writeln!(out, "  {} (from row to column)", probe.name)?;
        grid(out, nodes, &lines, name, paint)?;
    }
    Ok(())
}

/// Lines of cells under the numbers of the nodes.
fn grid(out: &mut impl Write, nodes: usize, lines: &[(&str, Vec<(String, bool)>)], name: usize, paint: &Paint) -> Result<()> {
    if lines.is_empty() {
        return Ok(());
    }
    let widest = lines.iter().flat_map(|(_, cells)| cells).map(|(text, _)| text.chars().count()).max().unwrap_or(1);
    let width = widest.max(nodes.saturating_sub(1).to_string().len()) + paint.margin();
    let head: Vec<String> = (0..nodes).map(|node| paint.cell(&node.to_string(), false, width)).collect();
    writeln!(out, "  {:<name$}  {}", "", paint.quiet(head.join(" ").trim_end()))?;
    for (label, cells) in lines {
        let cells: Vec<String> = cells.iter().map(|(text, changed)| paint.cell(text, *changed, width)).collect();
        writeln!(out, "  {label:<name$}  {}", cells.join(" ").trim_end())?;
    }
    Ok(())
}

/// Every cell as text, and whether it changed. A one-hot mask becomes a mark at its node.
fn cells(probe: &Probe, now: Cells<'_>, before: Option<Cells<'_>>, count: usize) -> Vec<(String, bool)> {
    if let (Kind::MaskOne, Cells::Node(marked)) = (probe.kind, now) {
        let is = |place: usize| marked[0] as usize == place;
        return (0..count).map(|place| (if is(place) { "^" } else { "" }.to_owned(), is(place) && before.is_some())).collect();
    }
    let changed = |place: usize| before.is_some_and(|before| before.slice(place..place + 1) != now.slice(place..place + 1));
    (0..count).map(|place| (text(probe, now, place), changed(place))).collect()
}

fn text(probe: &Probe, cells: Cells<'_>, place: usize) -> String {
    match cells {
        Cells::Scalar(cells) => number(cells[place]),
        Cells::Node(cells) => cells[place].to_string(),
        Cells::Class(cells) => match (cells[place], probe.kind) {
            (-1, _) => "-".into(),
            (0, Kind::Mask) => ".".into(),
            (class, _) => class.to_string(),
        },
    }
}

/// Four digits tell numbers apart without filling the screen.
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

/// Emphasis: colours in a terminal, brackets elsewhere.
struct Paint {
    colours: bool,
}

impl Paint {
    fn title(&self, text: &str) -> String {
        if self.colours { format!("\x1b[1m{text}\x1b[0m") } else { text.to_owned() }
    }

    fn quiet(&self, text: &str) -> String {
        if self.colours { format!("\x1b[2m{text}\x1b[0m") } else { text.to_owned() }
    }

    /// Room that emphasis takes.
    fn margin(&self) -> usize {
        if self.colours { 0 } else { 2 }
    }

    fn cell(&self, text: &str, changed: bool, width: usize) -> String {
        match (changed, self.colours) {
            (false, true) => format!("{text:>width$}"),
            (true, true) => format!("{:>1$}\x1b[1;33m{text}\x1b[0m", "", width.saturating_sub(text.chars().count())),
            (false, false) => format!("{:>width$}", format!("{text} ")),
            (true, false) => format!("{:>width$}", format!("[{text}]")),
        }
    }
}
