//! What the program prints, word for word: a page per verb. `TRYCMD=overwrite cargo test -p clrs-cli --release` rewrites the
//! pages: read the difference before you commit it.

#[test]
fn the_program_prints_what_its_pages_show() {
    let cases = trycmd::TestCases::new();
    cases.env("COLUMNS", "100").case("tests/cmd/*.md");
    #[cfg(feature = "networks")]
    cases.case("tests/cmd/networks/*.md");
}
