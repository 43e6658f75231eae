"""The Python listings of the documentation are executed."""

import doctest
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).parents[3]
PAGES = [path for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))) if "```pycon" in path.read_text()]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_listings_print_what_they_say(page):
    # What is not a listing becomes empty lines, so that line numbers stay.
    kept, is_listing = [], False
    for line in page.read_text().splitlines():
        is_listing = line == "```pycon" or is_listing and line != "```"
        kept.append(line if is_listing and line != "```pycon" else "")
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    test = doctest.DocTestParser().get_doctest("\n".join(kept) + "\n", {}, page.name, str(page), 0)
    assert test.examples
    output = []
    failed, _ = doctest.DocTestRunner(optionflags=flags, verbose=False).run(test, out=output.append)
    assert not failed, "".join(output)


def test_pages_of_the_package_have_listings():
    assert {page.name for page in PAGES} >= {"python.md", "migration.md"}
    assert all(re.search(r"^>>> ", page.read_text(), re.MULTILINE) for page in PAGES)
