//! What the program prints, word for word. `TRYCMD=overwrite cargo test -p clrs-cli --release` writes it anew: read the
//! difference before you commit it.

#[test]
fn the_program_prints_what_its_pages_show() {
    trycmd::TestCases::new().case("tests/cmd/*.md");
}
