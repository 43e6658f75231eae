//! The files of a report.

use std::path::Path;

use clrs_store::{OnExisting, create_directory, write_atomic};

use crate::archive;
use crate::error::ReportError;
use crate::figures;
use crate::html;
use crate::report::Report;
use crate::tables::Format;

impl Report<'_> {
    /// The report as one HTML page that needs no other file.
    pub fn to_html(&self) -> String {
        html::page(self)
    }

    /// Checks that files can be written to a directory. Creates nothing.
    ///
    /// # Errors
    /// [`ReportError::Exists`] if it has files that would have to be replaced but may not be.
    pub fn ensure_free(folder: &Path, on_existing: OnExisting) -> Result<(), ReportError> {
        let mut entries = match folder.read_dir() {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            Err(source) => return Err(ReportError::Io { path: folder.into(), source }),
        };
        if on_existing == OnExisting::Fail && entries.next().is_some() {
            return Err(ReportError::Exists(folder.into()));
        }
        Ok(())
    }

    /// Writes `index.html`, `report.json`, `runs.jsonl`, `tables/` and `figures/`. The page is written last, once all other files are
    /// complete.
    ///
    /// # Errors
    /// Those of [`Report::ensure_free`], or if a file cannot be written.
    pub fn write(&self, folder: &Path, on_existing: OnExisting) -> Result<(), ReportError> {
        Report::ensure_free(folder, on_existing)?;
        let [tables, figure_folder] = ["tables", "figures"].map(|name| folder.join(name));
        for directory in [folder, &tables, &figure_folder] {
            create_directory(directory)?;
        }
        // Of an earlier report: its figures may be others.
        for figure in figures::names() {
            for extension in ["svg", "pdf", "csv", "json"] {
                match std::fs::remove_file(figure_folder.join(format!("{figure}.{extension}"))) {
                    Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                        return Err(ReportError::Io { path: figure_folder, source: error });
                    }
                    _ => {}
                }
            }
        }
        let write = |path: &Path, bytes: &[u8]| write_atomic(path, OnExisting::Replace, bytes);
        for table in &self.tables {
            for format in Format::ALL {
                write(&tables.join(format!("{}.{}", table.name, format.extension())), table.to_text(format).as_bytes())?;
            }
        }
        for figure in &self.figures {
            let svg = figure.to_svg();
            let path = |extension: &str| figure_folder.join(format!("{}.{extension}", figure.name));
            #[cfg(feature = "pdf")]
            write(
                &path("pdf"),
                &crate::pdf::from_svg(&svg).map_err(|message| ReportError::Pdf { figure: figure.name, message })?,
            )?;
            write(&path("svg"), svg.as_bytes())?;
            write(&path("csv"), figure.to_csv().as_bytes())?;
            write(&path("json"), figure.to_json().as_bytes())?;
        }
        let json = serde_json::to_string_pretty(&self.to_json()).expect("plain values") + "\n";
        write(&folder.join("report.json"), json.as_bytes())?;
        write(&folder.join(archive::FILE), archive::to_text(&self.results.runs).as_bytes())?;
        Ok(write(&folder.join("index.html"), self.to_html().as_bytes())?)
    }
}
