"""What the code of each page finds around it: videos, models and folders of the names that it uses."""

import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from budgetseg.app.export.formats import export
from budgetseg.descriptors.registry import HAND_MADE as NAMES
from budgetseg.descriptors.table import write_table
from budgetseg.models.bundle import save_model
from budgetseg.policy import plan_policy
from budgetseg.policy.episode import Selection
from budgetseg.simulate import Arena, play, reward, worth_of
from tests.app.streets import write_model, write_seeing_model, write_street
from tests.models.made import HAND_MADE, random_model, random_table
from tests.report.worlds import label_street

Names = dict[str, Any]


def _drive(folder: Path) -> Names:
    write_street(folder / "drive.mp4")
    return {}


def _drive_and_model(folder: Path) -> Names:
    write_model(folder / "model")
    return _drive(folder)


def _clips_and_model(folder: Path) -> Names:
    write_seeing_model(folder / "mymodel")
    (folder / "clips" / "monday").mkdir(parents=True)
    write_street(folder / "clips" / "drive.mp4")
    write_street(folder / "clips" / "monday" / "drive.mp4", n_frames=6)
    return {}


def _trained(folder: Path) -> Names:
    save_model(random_model(HAND_MADE), folder / "model")
    write_table(random_table(HAND_MADE), folder / "results/table/test/street")
    return {}


def _simulated(_: Path) -> Names:
    model, table = random_model(HAND_MADE), random_table(HAND_MADE)
    policy = plan_policy(range(4), 4, len(model.classes))
    known = (Arena, Selection, play, reward, worth_of)
    return {own.__name__: own for own in known} | {"model": model, "table": table, "names": NAMES, "policy": policy}


def _network(folder: Path) -> Names:
    from tests.networks.models import save_mixer

    (folder / "folder").mkdir()
    save_mixer(folder / "folder" / "mynet.onnx", np.ones((4, 3), np.float32))
    return {}


def _exported(folder: Path) -> Names:
    run = label_street(folder)
    for form in ("coco", "zarr"):
        export(run, form, folder / form)
    return {}


WORLDS: dict[str, Callable[[Path], Names]] = {
    "docs/api.md": _drive,
    "docs/budgets.md": _simulated,
    "docs/env.md": _trained,
    "docs/exports.md": _exported,
    "docs/index.md": _drive,
    "docs/label.md": _drive_and_model,
    "docs/many.md": _clips_and_model,
    "docs/live.md": _drive,
    "docs/networks.md": _network,
    "docs/python.md": _drive,
}


def install(folder: Path) -> None:
    """What `pip install -e .` does for a package of one module: its entry points are known."""
    project = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
    info = folder / f"{project['name']}-{project['version']}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
    lines = []
    for group, points in project["entry-points"].items():
        lines += [f"[{group}]", *(f"{name} = {value}" for name, value in points.items())]
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n")


def read_as(language: str, code: str) -> Any:
    """What a block of data says; ValueError where it does not parse."""
    return tomllib.loads(code) if language == "toml" else json.loads(code)
