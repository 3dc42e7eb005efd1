"""The site has all pages, the notebook lists its own, and figures come from scripts."""

import re

from tests.docs.blocks import NOTEBOOK, ROOT

DOCS = ROOT / "docs"
SETTINGS = (ROOT / "mkdocs.yml").read_text()


def test_every_page_can_be_found() -> None:
    listed = re.findall(r"(\S+\.md)$", SETTINGS, re.MULTILINE)
    assert sorted(listed) == sorted(path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md"))


def test_every_decision_is_in_the_index() -> None:
    folder = ROOT / "notebook" / "decisions"
    decisions, index = list(folder.glob("0*.md")), (folder / "index.md").read_text()
    assert decisions
    assert all(f"({path.name})" in index for path in decisions)


def test_every_note_is_listed_in_the_notebook() -> None:
    overview = ROOT / "notebook" / "README.md"
    listed = re.findall(r"^ *- \[[^\]]+\]\(([^)]+)\)", overview.read_text(), re.MULTILINE)
    assert sorted(overview.parent / name for name in listed) == [path for path in NOTEBOOK if path != overview]


def test_figures_of_pages_are_there_and_small() -> None:
    shown = set()
    for page in [*DOCS.rglob("*.md"), *NOTEBOOK]:
        shown |= {(page.parent / name).resolve() for name in re.findall(r"!\[[^\]]*\]\(([^)]+)\)", page.read_text())}
    assert all(path.is_file() and path.stat().st_size < 400_000 for path in shown)


def test_the_diagrams_are_what_their_script_draws() -> None:
    from docs.figures import diagrams

    for make in (diagrams.flow, diagrams.algorithm, diagrams.spaces, diagrams.architecture, diagrams.clock):
        assert (DOCS / "figures" / f"{make.__name__}.svg").read_text() == make().svg()
