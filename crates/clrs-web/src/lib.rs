//! The explorer: pictures of algorithms and networks, step by step, in a browser.
//!
//! One page draws everything from [traces](clrs::Trace). It is served with an API by `server` (feature `server`), or written
//! into a file with a trace inside by [`page::standalone`]; such a file needs neither a server nor a network.
//!
//! ```
//! use clrs::{Registry, Trace};
//! use clrs_web::document::Saved;
//!
//! let sort = Registry::builtin().find("insertion_sort")?;
//! let trace = Trace::record(sort, r#"{"key": [5, 2, 4, 3, 1]}"#)?;
//! let html = clrs_web::page::standalone(&Saved::new(sort, trace));
//! assert!(html.starts_with("<!doctype html>") && html.contains("Insertion sort"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A module uses only modules above it in this table.
//!
//! | module | contents |
//! |---|---|
//! | [`document`] | what a page contains: traces, and the texts of their algorithms |
//! | [`page`] | the bundle of the page, and pages as text |
//! | [`presets`] | problems with a title |
//! | [`networks`] | networks of runs: their decisions, their training (feature `networks`) |
//! | [`server`] | the HTTP server (feature `server`) |

pub mod document;
#[cfg(feature = "networks")]
pub mod networks;
pub mod page;
pub mod presets;
#[cfg(feature = "server")]
pub mod server;
