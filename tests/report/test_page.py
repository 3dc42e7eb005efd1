"""One file that needs nothing else."""

import json
import re
from pathlib import Path

import pytest

from budgetseg.errors import UsageError
from budgetseg.report import write_report
from tests.report.worlds import result_row, result_rows


def write_results(folder: Path, content: object) -> None:
    (folder / "results.json").write_text(json.dumps(content))


def test_nothing_is_fetched(page: Path) -> None:
    text = page.read_text()
    assert not re.findall(r'(?:src|href)="(?!#)', text)
    assert not re.findall(r"https?://(?!www\.w3\.org/2000/svg)", text)
    assert "default-src 'none'" in text


def test_no_name_can_end_the_script(tmp_path: Path) -> None:
    write_results(tmp_path, {"rows": [result_row("</script><script>alert(1)</script>", None, 0, 0.9)]})
    write_report(tmp_path, tmp_path / "page.html")
    assert "<script>alert" not in (tmp_path / "page.html").read_text()


def test_a_page_of_results_alone_is_small(tmp_path: Path) -> None:
    write_results(tmp_path, {"environment": {}, "rows": result_rows()})
    write_report(tmp_path, tmp_path / "page.html")
    assert (tmp_path / "page.html").stat().st_size < 100_000


def test_a_folder_without_results_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="holds no results"):
        write_report(tmp_path, tmp_path / "page.html")
    with pytest.raises(UsageError, match="no folder"):
        write_report(tmp_path / "none", tmp_path / "page.html")


@pytest.mark.parametrize(
    "content", [{}, [], {"rows": [{}]}, {"rows": 3}, {"rows": [result_row("crf", None, 0, 0.9) | {"accuracy": None}]}]
)
def test_damaged_results_are_refused_and_no_page_is_written(tmp_path: Path, content: object) -> None:
    write_results(tmp_path, content)
    with pytest.raises(UsageError, match="cannot be used"):
        write_report(tmp_path, tmp_path / "page.html")
    assert not (tmp_path / "page.html").exists()
