"""Write the page: the results and videos of a folder in an HTML template."""

import json
import re
from collections.abc import Callable, Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

from budgetseg.app.export.run import find_runs, folders_in, read_run
from budgetseg.checked import read_json
from budgetseg.errors import UsageError
from budgetseg.files import atomic_file
from budgetseg.report.player import player_of
from budgetseg.report.results import tables_of

__all__ = ["write_report"]

HEAD = 2000  # characters at the start of a file in which the name of a bench must stand
_DAMAGES = (OSError, ValueError, LookupError, TypeError, AttributeError)


def write_report(
    folder: Path, page: Path, n_frames: int = 60, width: int = 480, advance: Callable[[int], None] = lambda _: None
) -> None:
    """Write a page with everything in a folder: results, deadlines, labelled videos.

    Parameters
    ----------
    folder : that is searched, a few folders deep
    page : file to write
    n_frames, width : of each video, at most; of longer videos every second frame is shown, every third, and so on
    advance : called with 1 for each frame
    """
    if not folder.is_dir():
        raise UsageError(f"no folder '{folder}'; give one that 'budgetseg evaluate' or 'budgetseg label' wrote")
    places = list(folders_in(folder))
    results = [path for place in places if (path := place / "results.json").is_file()]
    benches = [path for place in places for path in sorted(place.glob("*.json")) if _is_deadline(path)]
    runs = [read_run(place) for place in find_runs(folder)]
    if not (results or benches or runs):
        raise UsageError(f"'{folder}' holds no results; run 'budgetseg label' or 'budgetseg evaluate' with -o {folder}")
    data: dict[str, Any] = {
        "title": folder.resolve().name,
        "videos": [player_of(run, n_frames, width, advance) for run in runs],
        "tables": _read(results, lambda found: tables_of(found["rows"])),
        "deadlines": _read(benches, lambda found: [_deadline(found["rows"])]),
        "environment": next((_json(path).get("environment", {}) for path in (*results, *benches)), {}),
    }
    with atomic_file(page) as part:
        part.write_text(_filled(data), encoding="utf-8")


def _is_deadline(path: Path) -> bool:
    if not path.is_file():  # to open a pipe would wait for its writer
        return False
    with path.open(encoding="utf-8", errors="replace") as file:
        return '"bench": "deadline"' in file.read(HEAD)


def _json(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = read_json(path)
    return found


def _read(paths: Sequence[Path], use: Callable[[dict[str, Any]], list[Any]]) -> list[Any]:
    """What `use` returns for the contents of these files, joined; UsageError if one of them is damaged."""
    found = []
    for path in paths:
        try:
            found += use(_json(path))
        except _DAMAGES as error:
            raise UsageError(f"'{path}' cannot be used ({type(error).__name__}: {error}); write it again") from None
    return found


def _deadline(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    from budgetseg.evaluation.bench_deadline import summarise

    names = ("load", "budget_s", "spent_s", "used_share", "times_floor", "video")
    both = {"idle", "loaded"} <= {row["load"] for row in rows}
    return {"rows": [{name: row[name] for name in names} for row in rows], "summary": summarise(rows) if both else []}


def _filled(data: dict[str, Any]) -> str:
    """The template with data, style and script. Data are escaped, so that no name in them can end the script."""
    parts = {name: (files(__package__) / f"page.{name}").read_text(encoding="utf-8") for name in ("html", "css", "js")}
    text = json.dumps(data, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
    filled = {"title": escape(str(data["title"])), "css": parts["css"], "js": parts["js"], "data": text}
    # In one pass: names within data may look like places of the template.
    return re.sub(r"\{\{(title|css|js|data)\}\}", lambda place: filled[place[1]], parts["html"])
