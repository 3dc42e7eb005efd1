"""The why map says what was computed, in arrays and in a picture."""

from pathlib import Path

import numpy as np
import pytest
from budgetseg.app.loaded import LoadedModel
from budgetseg.engine.labelled import Labelled

from budgetseg.app.why import GREY, WIDTH, Strip, frames_shown, write_why
from budgetseg.engine.request import Request
from budgetseg.types import Budget
from budgetseg.video import open_video, read_image


@pytest.fixture(scope="module")
def labelled(loaded: LoadedModel, street: Path) -> Labelled:
    budgets = Budget(0.05, is_share=True), Budget(0.6, is_share=True)
    return loaded.labeller.label(street, Request(budgets, "descriptors", window=7))


def write(folder: Path, labelled: Labelled, loaded: LoadedModel, street: Path) -> list[int]:
    frames, numbers = open_video(street).read().frames, frames_shown(len(labelled.labels[0]))
    strip = Strip(numbers, frames[numbers], labelled.labels[-1][numbers])
    assert labelled.plan is not None
    write_why(folder, labelled.whys, labelled.plan, loaded.labeller.model, strip)
    return numbers


def test_arrays_agree_with_the_labels(tmp_path: Path, labelled: Labelled, loaded: LoadedModel, street: Path) -> None:
    write(tmp_path, labelled, loaded, street)
    with np.load(tmp_path / "why.npz") as why:
        assert why["descriptors"].tolist() == ["colour", "hog"]
        assert why["classes"].tolist() == list(loaded.classes.names)
        pixels, n_computed = 0, 0
        for k in range(2):
            ids, start = why[f"{k}/ids"], int(why[f"{k}/first_frame"])
            assert np.array_equal(why[f"{k}/labels"][ids], labelled.labels[-1][start : start + len(ids)])
            assert np.array_equal(why[f"{k}/computed"], why[f"{k}/subsets"] > 0)
            assert 0 < why[f"{k}/confidence"].min() < why[f"{k}/confidence"].max() <= 1
            pixels += ids.size
            n_computed += sum(int(subset).bit_count() for subset in why[f"{k}/subsets"])
        assert pixels == labelled.labels[0].size
        assert n_computed == sum(entry.count for entry in labelled.ledgers[-1].descriptors.values())


def test_probabilities_are_those_of_each_budget(
    tmp_path: Path, labelled: Labelled, loaded: LoadedModel, street: Path
) -> None:
    write(tmp_path, labelled, loaded, street)
    with np.load(tmp_path / "why.npz") as why:
        for k, one in enumerate(labelled.whys):
            found = why[f"{k}/probabilities"]
            assert found.shape == (2, len(one.labels), len(loaded.classes))
            assert np.allclose(found.sum(axis=2), 1, atol=1e-5)
            assert np.array_equal(found[-1].max(axis=1), why[f"{k}/confidence"])
            computed = why[f"{k}/computed"]
            assert np.array_equal(found[-1][computed], one.known.said[computed])
            # What had its descriptors at the smaller budget is told the same there; others had neighbours to ask.
            early = np.bincount(
                [step.region for step in one.trace[: one.closings[one.painted[0]][0]]], minlength=len(computed)
            )
            late = np.bincount([step.region for step in one.trace], minlength=len(computed))
            settled = (early == late) & computed
            assert np.array_equal(found[0][settled], found[-1][settled])
            assert not np.array_equal(found[0][~settled], found[-1][~settled])


def test_the_picture_is_grey_where_nothing_was_computed(
    tmp_path: Path, labelled: Labelled, loaded: LoadedModel, street: Path
) -> None:
    numbers = write(tmp_path, labelled, loaded, street)
    picture = read_image(tmp_path / "why.png")
    assert picture.shape[1] == pytest.approx(len(numbers) * WIDTH, rel=0.05)
    share = np.mean([np.mean(why.known.subsets[why.known.supervoxels.ids] == 0) for why in labelled.whys])
    grey = (picture == GREY).all(axis=2).sum() / (3 * WIDTH * WIDTH * 64 / 96 * len(numbers))
    assert 3 * grey == pytest.approx(share, abs=0.15)


def test_frames_are_spread_over_the_whole_video() -> None:
    assert frames_shown(1) == [0]
    assert frames_shown(5) == [0, 1, 2, 3, 4]
    assert frames_shown(600) == [50, 150, 250, 350, 450, 550]


def test_many_mixes_are_told_apart_by_their_number_alone(
    tmp_path: Path, labelled: Labelled, loaded: LoadedModel, street: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("budgetseg.app.why.MOST_SUBSETS", 0)
    write(tmp_path, labelled, loaded, street)
    assert read_image(tmp_path / "why.png").size
