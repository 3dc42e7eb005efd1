"""Which engine labels, and that frames leave the same kinds of results behind."""

import json
import math
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from budgetseg.app.engines import choose_engine
from budgetseg.app.loaded import LoadedModel, load

from budgetseg.app.job import Job, Order
from budgetseg.app.output import Wanted
from budgetseg.datasets.synthetic import CLASSES
from budgetseg.engine.request import Request
from budgetseg.errors import UsageError
from budgetseg.models.bundle import save_model
from budgetseg.types import Budget
from budgetseg.video import read_label_pngs
from tests.app.streets import N_FRAMES, SIZE
from tests.models.made import random_model
from tests.networks.models import save_mixer


@pytest.fixture(scope="module")
def seeing(tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    """A model with a network that mixes colours at random."""
    folder = tmp_path_factory.mktemp("seeing")
    (folder / "networks").mkdir()
    weights = np.random.default_rng(0).normal(size=(len(CLASSES), 3)).astype(np.float32)
    save_mixer(folder / "networks" / "dcnn.onnx", weights, (1, 3, SIZE[1], SIZE[0]), stride=4)
    (folder / "networks" / "dcnn.toml").write_text('output = "scores"\n')
    save_model(random_model({"dcnn": len(CLASSES)}, CLASSES, folder / "networks"), folder / "model")
    return load(folder / "model", threads=2)


def carry_out(model: LoadedModel, video: Path, out: Path, *budgets_s: float, **options: Any) -> dict[str, Any]:
    request = Request(tuple(map(Budget, budgets_s))) if budgets_s else None
    order = Order([video], request, output=out, **options)
    (done,) = Job(model).run(order, order.tasks())
    return dict(done.ledgers[-1])


def test_frames_are_labelled_unless_something_asks_for_supervoxels() -> None:
    assert choose_engine("auto", (), True) == "frames"
    assert choose_engine("auto", ("--why",), True) == choose_engine("auto", (), False) == "supervoxels"
    with pytest.raises(UsageError, match="--why is of supervoxels"):
        choose_engine("frames", ("--why",), True)
    with pytest.raises(UsageError, match="no network that tells its classes apart"):
        choose_engine("frames", (), False)
    with pytest.raises(UsageError, match="no engine 'pixels'; choose from auto, frames, supervoxels"):
        choose_engine("pixels", (), True)


def test_a_model_with_a_network_labels_frames_and_says_so(seeing: LoadedModel, street: Path, tmp_path: Path) -> None:
    ledger = carry_out(seeing, street, tmp_path / "out", 2.0, wanted=Wanted(npz=True))
    assert ledger["engine"] == "frames"
    assert ledger["descriptors"]["dcnn"]["count"] == N_FRAMES
    assert set(ledger["stages"]) == {"decode", "networks", "flow", "fusing and pixels", "edges"}
    assert read_label_pngs(tmp_path / "out" / "labels").shape == (N_FRAMES, SIZE[1], SIZE[0])
    assert json.loads((tmp_path / "out" / "trace.json").read_text())["settings"]["engine"] == "frames"


def test_frames_are_replayed_exactly_and_gone_on_from(seeing: LoadedModel, street: Path, tmp_path: Path) -> None:
    first, again, more = tmp_path / "first", tmp_path / "again", tmp_path / "more"
    carry_out(seeing, street, first, 0.02, 1.0)
    carry_out(seeing, street, again, replay=first)
    for budget in ("0.02s", "1s"):
        assert np.array_equal(read_label_pngs(first / budget / "labels"), read_label_pngs(again / budget / "labels"))
    ledger = carry_out(seeing, street, more, 1.0, resume=first)
    assert any("beside the budget" in note for note in ledger["notes"])
    with pytest.raises(UsageError, match="that run was by frames"):
        carry_out(seeing, street, more, 1.0, resume=first, engine="supervoxels")


def test_supervoxels_are_there_on_request(seeing: LoadedModel, street: Path) -> None:
    result = seeing.label(street, budget_s=2, engine="supervoxels")
    assert "supervoxels" in result.ledger.stages
    assert seeing.choose("auto", Request((Budget(1),), "descriptors")) == "supervoxels"


def test_supervoxels_are_replayed_exactly_and_gone_on_from(seeing: LoadedModel, street: Path, tmp_path: Path) -> None:
    first, again, more, last = (tmp_path / name for name in ("first", "again", "more", "last"))
    carry_out(seeing, street, first, 0.1, 1.0, engine="supervoxels")
    carry_out(seeing, street, again, replay=first)
    for budget in ("0.1s", "1s"):
        assert np.array_equal(read_label_pngs(first / budget / "labels"), read_label_pngs(again / budget / "labels"))
    carry_out(seeing, street, more, 1.0, resume=first)
    assert np.array_equal(read_label_pngs(first / "1s" / "labels"), read_label_pngs(more / "labels"))
    carry_out(seeing, street, last, replay=more)
    assert np.array_equal(read_label_pngs(more / "labels"), read_label_pngs(last / "labels"))


def test_confidence_of_frames_is_a_probability_at_every_pixel(seeing: LoadedModel, street: Path) -> None:
    result = seeing.label(street, budget_s=math.inf)
    assert result.confidence.shape == result.labels.shape
    assert 1 / len(CLASSES) - 0.01 < result.confidence.min() < result.confidence.max() <= 1
    assert not result.ledger.work_left


def test_a_budget_of_real_seconds_is_kept(seeing: LoadedModel, street: Path) -> None:
    seeing.label(street, budget_s=1)
    started = time.perf_counter()
    result = seeing.label(street, budget_s=0.5)
    assert time.perf_counter() - started < 1.0  # seen from outside, on a machine that others use, too
    assert result.ledger.spent_s < 0.75
