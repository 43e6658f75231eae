//! The page: one HTML document with its scripts, its styles and, if it is saved, its traces inside.
//!
//! Its content security policy allows these scripts and styles, by their hashes, and nothing else: whatever a trace
//! contains, it is data.

use std::fmt::Write as _;
use std::sync::LazyLock;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

use crate::document::Saved;

const TEMPLATE: &str = include_str!("../ui/index.html");
const EARLY_SCRIPT: &str = include_str!("../bundle/early.js");
const SCRIPT: &str = include_str!("../bundle/app.js");
const PICTURE_CSS: &str = include_str!("../bundle/picture.css");
const PAGE_CSS: &str = include_str!("../bundle/page.css");

/// The content security policy of every page.
pub static POLICY: LazyLock<String> = LazyLock::new(|| {
    let hash = |text: &str| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)));
    let (early, script) = (hash(EARLY_SCRIPT), hash(SCRIPT));
    let (picture, page) = (hash(PICTURE_CSS), hash(PAGE_CSS));
    format!(
        "default-src 'none'; script-src {early} {script}; style-src {picture} {page}; img-src data:; connect-src 'self'; base-uri 'none'; \
         form-action 'none'"
    )
});

/// The page that asks its server for traces.
pub fn served() -> String {
    fill("clrs explorer", EARLY_SCRIPT, "")
}

/// A page with traces inside, which needs neither a server nor a network.
pub fn standalone(saved: &Saved) -> String {
    let data = serde_json::to_string(saved).expect("traces have text keys");
    fill(&escape(&saved.title()), "", &data.replace('<', "\\u003c"))
}

/// Replaces `{{name}}` in the template. `early` is a script that runs before the rest is read.
fn fill(title: &str, early: &str, data: &str) -> String {
    let mut html = String::with_capacity(TEMPLATE.len() + SCRIPT.len() + PICTURE_CSS.len() + PAGE_CSS.len() + data.len());
    let mut parts = TEMPLATE.split("{{");
    html += parts.next().unwrap_or_default();
    for part in parts {
        let (name, rest) = part.split_once("}}").expect("the template closes what it opens");
        let value = match name {
            "csp" => &POLICY,
            "title" => title,
            "early" => early,
            "picture_css" => PICTURE_CSS,
            "page_css" => PAGE_CSS,
            "data" => data,
            "script" => SCRIPT,
            _ => unreachable!("the template has no other names"),
        };
        html += value;
        html += rest;
    }
    html
}

fn escape(text: &str) -> String {
    let mut escaped = String::new();
    for char in text.chars() {
        match char {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            _ => {
                let _ = escaped.write_char(char);
            }
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use clrs::{Registry, Trace};

    use super::*;

    #[test]
    fn a_script_in_a_trace_stays_data() {
        let sort = Registry::builtin().find("insertion_sort").expect("a built-in algorithm");
        let mut trace = Trace::record(sort, r#"{"key": [2, 1]}"#).expect("a valid problem");
        trace.algorithm = "</script><script>alert(1)</script>".into();
        let html = standalone(&Saved::new(sort, trace));
        assert!(!html.contains("<script>alert") && html.contains("\\u003c/script>"));
        assert_eq!(html.matches("</script>").count(), 3, "the early script, which is empty, the data and the program");
    }

    #[test]
    fn the_bundle_is_small_and_fits_into_a_page() {
        assert!(EARLY_SCRIPT.len() + SCRIPT.len() + PICTURE_CSS.len() + PAGE_CSS.len() < 200_000);
        assert!(
            !EARLY_SCRIPT.contains("</script")
                && !SCRIPT.contains("</script")
                && !PICTURE_CSS.contains("</style")
                && !PAGE_CSS.contains("</style")
        );
        // The program has the template, too, for pages that it saves.
        assert!(!served().replace(SCRIPT, "").contains("{{"));
    }
}
