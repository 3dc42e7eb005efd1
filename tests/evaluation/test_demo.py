"""What the demo labels and measures."""

from pathlib import Path

import numpy as np
import pytest

from budgetseg.app.labeller import Labeller
from budgetseg.app.model import load
from budgetseg.cli.demo import SEED
from budgetseg.datasets import open_dataset
from budgetseg.datasets.synthetic import render
from budgetseg.evaluation.demo import NO_BOUND, label_street
from budgetseg.models.bundle import load_model
from budgetseg.models.find import find_model
from budgetseg.video import open_video, read_label_pngs


def test_its_street_is_none_that_the_model_has_learned_from() -> None:
    settings = load_model(find_model("synthetic")).settings
    seen = {video.name for split in settings["splits"] for video in open_dataset(settings["dataset"]).videos(split)}
    assert f"street-{SEED:04d}" not in seen


def test_labels_at_every_budget_are_measured_against_the_truth(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BUDGETSEG_CACHE", str(tmp_path / "cache"))
    video, truth = render(SEED, n_frames=10, size=(160, 120))
    rows = label_street(Labeller(load("synthetic", threads=1)), video, truth, tmp_path / "demo")
    *bounded, whole = rows
    assert (len(bounded), whole.budget) == (3, NO_BOUND)
    for row in bounded:
        labels = read_label_pngs(tmp_path / "demo" / "street" / row.budget / "labels")
        assert row.accuracy.overall == pytest.approx(np.mean(labels == truth.labels))
        assert (tmp_path / "demo" / "street" / row.budget / "overlay.mp4").stat().st_size > 0
    assert whole.accuracy.overall > 0.6  # the most frequent class has a third
    assert sorted({row.ledger["budget_s"] for row in bounded}) == [row.ledger["budget_s"] for row in bounded]
    street = open_video(tmp_path / "demo" / "street.mp4").read()
    assert np.abs(street.frames.astype(int) - video.frames).mean() < 8
