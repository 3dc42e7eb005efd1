"""Links lead to files and headings that are there, as GitHub shows them; mkdocs sees only those between its pages."""

import re
from pathlib import Path

import pytest

from docs.scripts.hooks import NOTES, on_page_content, on_page_markdown
from tests.docs.blocks import NOTEBOOK, PAGES, ROOT

_BLOCK = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\((?!\w+:)([^)#]*)(?:#([^)]*))?\)")
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


def anchors_of(page: Path) -> set[str]:
    """What headings are called in links."""
    headings = _HEADING.findall(_BLOCK.sub("", page.read_text()))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken_links(page: Path, text: str) -> list[str]:
    """Links of a text that lead nowhere, seen from where the page is."""
    found = []
    for path, anchor in _LINK.findall(_BLOCK.sub("", text)):
        target = page.parent / path if path else page
        if not target.exists() or (anchor and anchor not in anchors_of(target)):
            found.append(f"{path}#{anchor}" if anchor else path)
    return found


@pytest.mark.parametrize(
    "page", [ROOT / "CHANGELOG.md", *PAGES, *NOTEBOOK], ids=lambda page: str(page.relative_to(ROOT))
)
def test_links_lead_somewhere(page: Path) -> None:
    assert not broken_links(page, page.read_text())


def test_a_link_that_leads_nowhere_is_found_out() -> None:
    text = "[a](none.md) [b](README.md#none) [c](#none) [d](README.md) [e](notebook/benchmarks.md#α-expansion)"
    assert broken_links(ROOT / "README.md", text) == ["none.md", "README.md#none", "#none"]


def test_the_site_leads_to_the_notes_from_pages_at_its_top() -> None:
    assert on_page_markdown(f"[a]({NOTES}benchmarks.md#deciding)") == "[a](notebook:benchmarks.md#deciding)"
    assert on_page_content('<a href="notebook:benchmarks.md#deciding">') == f'<a href="{NOTES}benchmarks.md#deciding">'
    with_links = [page for page in (ROOT / "docs").rglob("*.md") if "notebook/" in page.read_text()]
    assert {page.parent for page in with_links} == {ROOT / "docs"}
