"""The page of the Python API is what the docstrings say."""

import re

import pytest

import budgetseg
from docs.scripts import api

NAMES = re.findall(r"<!-- api: (\S+?)(?:, given)? -->", api.PAGE.read_text())


def test_the_page_is_up_to_date() -> None:
    text = api.PAGE.read_text()
    assert text == api.page(text), "the code has changed: run 'make commands'"


def test_all_that_the_package_offers_is_there() -> None:
    offered = {f"budgetseg.{name}" for name in budgetseg.__all__ if not name.startswith("_")}
    assert offered <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_names_are_documented(name: str) -> None:
    assert api.resolve(name).__doc__


def test_a_part_has_the_signature_and_what_is_named() -> None:
    part = api.part("budgetseg.app.model.LoadedModel.label")
    assert "budget_s=10.0" in part
    assert "self" not in part
    assert " at 0x" not in part
    assert "| `budget_s` | seconds; `math.inf` for no bound |" in part


def test_a_function_comes_before_the_module_of_its_name() -> None:
    assert callable(api.resolve("budgetseg.supervoxels.segment"))
