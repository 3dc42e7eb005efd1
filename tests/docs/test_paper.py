"""The map from the paper to the code names what is there."""

import ast
import re

import pytest

from tests.docs.blocks import ROOT

PAGE = ROOT / "docs" / "paper.md"
ROWS = re.findall(r"^\| (.+?) \| `(.+?)` \|(.*)\|$", PAGE.read_text(), re.MULTILINE)


def names_in(path: str) -> set[str]:
    """What a file defines, methods as Class.method."""
    found = set()
    for node in ast.parse((ROOT / path).read_text()).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found.add(node.name)
        if isinstance(node, ast.ClassDef):
            found |= {f"{node.name}.{own.name}" for own in node.body if isinstance(own, ast.FunctionDef)}
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        found |= {one.id for target in targets if target for one in ast.walk(target) if isinstance(one, ast.Name)}
    return found


@pytest.mark.parametrize(("what", "path", "names"), ROWS, ids=[what for what, *_ in ROWS])
def test_files_and_names_are_there(what: str, path: str, names: str) -> None:
    assert (ROOT / path).is_file(), f"{what}: no file {path}"
    wanted = set(re.findall(r"`(.+?)`", names))
    assert bool(wanted) == path.endswith(".py")
    if wanted:
        assert wanted <= names_in(path), f"{what}: {path} has no {wanted - names_in(path)}"


def test_every_equation_algorithm_table_and_figure_is_there() -> None:
    text = PAGE.read_text()
    for part in ("Eq. 1", "Eq. 2", "Algorithm 1", "Table 1", "Table 2", "Fig. 1", "Fig. 2", "Fig. 3"):
        assert part in text, part
