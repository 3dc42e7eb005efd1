"""The why map shows what labels come from, in arrays and in a picture, for both spaces."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from budgetseg.app.model import LoadedModel
from budgetseg.app.why import PictureStyle, Strip, frames_shown, write_why
from budgetseg.engine.request import Request
from budgetseg.engine.result import Result
from budgetseg.spaces.frames.evidence import FrameEvidence
from budgetseg.spaces.regions.evidence import RegionEvidence
from budgetseg.types import Budget
from budgetseg.video import open_video, read_image
from tests.app.streets import N_FRAMES, SIZE


@pytest.fixture(scope="module")
def results(loaded: LoadedModel, street: Path) -> list[Result]:
    """A street by regions, at two budgets, in two windows."""
    budgets = Budget(0.05, is_share=True), Budget(0.6, is_share=True)
    return loaded.run(street, Request(budgets, "descriptors", window=7), "regions")


@pytest.fixture(scope="module")
def frames_results(seeing: LoadedModel, street: Path) -> list[Result]:
    """A street by whole frames, some of which a network saw, in two windows."""
    return seeing.run(street, Request((Budget(0.04), Budget(0.08)), window=7, explain=True), "frames")


WIDTH, GREY = PictureStyle.width, PictureStyle.no_descriptor


def write(
    folder: Path,
    results: Sequence[Result],
    sources: Sequence[str],
    street: Path,
    style: PictureStyle | None = None,
) -> list[int]:
    frames, numbers = open_video(street).read().frames, frames_shown(len(results[-1].labels))
    write_why(folder, results, sources, Strip(numbers, frames[numbers], results[-1].labels[numbers]), style)
    return numbers


def regions_of(results: Sequence[Result]) -> list[RegionEvidence]:
    return [own for own in results[-1].evidence if isinstance(own, RegionEvidence)]


def test_arrays_of_regions_agree_with_the_labels(tmp_path: Path, results: list[Result], street: Path) -> None:
    write(tmp_path, results, ("colour", "hog"), street)
    last = results[-1]
    with np.load(tmp_path / "why.npz") as why:
        assert why["descriptors"].tolist() == ["colour", "hog"]
        assert why["classes"].tolist() == list(last.classes.names)
        pixels, n_computed = 0, 0
        for k in range(2):
            ids, start = why[f"{k}/ids"], int(why[f"{k}/first_frame"])
            assert np.array_equal(why[f"{k}/labels"][ids], last.labels[start : start + len(ids)])
            assert np.array_equal(why[f"{k}/computed"], why[f"{k}/subsets"] > 0)
            assert 0 < why[f"{k}/confidence"].min() < why[f"{k}/confidence"].max() <= 1
            pixels += ids.size
            n_computed += sum(int(subset).bit_count() for subset in why[f"{k}/subsets"])
        assert pixels == last.labels.size
        assert n_computed == sum(entry.count for entry in last.ledger.sources.values())


def test_probabilities_of_regions_are_those_of_each_budget(tmp_path: Path, results: list[Result], street: Path) -> None:
    write(tmp_path, results, ("colour", "hog"), street)
    with np.load(tmp_path / "why.npz") as why:
        for k, (own, window) in enumerate(zip(regions_of(results), results[-1].windows, strict=True)):
            found = why[f"{k}/probabilities"]
            assert found.shape == (2, len(own.labels), len(results[-1].classes))
            assert np.allclose(found.sum(axis=2), 1, atol=1e-5)
            assert np.array_equal(found[-1].max(axis=1), why[f"{k}/confidence"])
            # What had its descriptors at the smaller budget is the same there; others had neighbours to ask.
            first, last = (
                np.bincount([event.place for event in window.events[: finish.n_events]], minlength=len(own.labels))
                for finish in window.finishes
            )
            settled = (first == last) & why[f"{k}/computed"]
            assert settled.any()
            assert np.array_equal(found[0][settled], found[-1][settled])
            assert not np.array_equal(found[0][~settled], found[-1][~settled])


def test_the_picture_of_regions_is_grey_where_nothing_was_computed(
    tmp_path: Path, results: list[Result], street: Path
) -> None:
    numbers = write(tmp_path, results, ("colour", "hog"), street)
    picture = read_image(tmp_path / "why.png")
    assert picture.shape[1] == pytest.approx(len(numbers) * WIDTH, rel=0.05)
    share = np.mean([np.mean(own.subsets[own.supervoxels.ids] == 0) for own in regions_of(results)])
    grey = (picture == GREY).all(axis=2).sum() / (3 * WIDTH * WIDTH * SIZE[1] / SIZE[0] * len(numbers))
    assert 3 * grey == pytest.approx(share, abs=0.15)


def test_many_mixes_of_descriptors_are_drawn_by_their_number_alone(
    tmp_path: Path, results: list[Result], street: Path
) -> None:
    write(tmp_path, results, ("colour", "hog"), street, PictureStyle(most_subsets=0))
    assert read_image(tmp_path / "why.png").size


def test_arrays_of_whole_frames_name_the_key_frame_and_the_network_of_every_cell(
    tmp_path: Path, frames_results: list[Result], street: Path
) -> None:
    write(tmp_path, frames_results, ("dcnn",), street)
    last, n_frames = frames_results[-1], 0
    with np.load(tmp_path / "why.npz") as why:
        assert why["networks"].tolist() == ["dcnn"]
        assert why["classes"].tolist() == list(last.classes.names)
        for k, (own, window) in enumerate(zip(last.evidence, last.windows, strict=True)):
            assert isinstance(own, FrameEvidence)
            start, keys = int(why[f"{k}/first_frame"]), why[f"{k}/key_frame"]
            assert start == n_frames
            assert set(np.unique(keys)) <= {start + event.place for event in window.events}
            assert (why[f"{k}/network"] == 0).all()
            numbers = start + np.arange(window.n_frames)[:, None, None]
            assert np.array_equal(why[f"{k}/distance"], np.abs(keys - numbers))
            assert np.array_equal(why[f"{k}/confidence"], own.cells)
            n_frames += window.n_frames
    assert n_frames == N_FRAMES


def test_the_picture_of_whole_frames_has_rows_of_labels_networks_distances_and_confidence(
    tmp_path: Path, frames_results: list[Result], street: Path
) -> None:
    numbers = write(tmp_path, frames_results, ("dcnn",), street)
    picture = read_image(tmp_path / "why.png")
    assert picture.shape[1] == pytest.approx(len(numbers) * WIDTH, rel=0.05)
    assert picture.shape[0] > 4 * WIDTH * SIZE[1] / SIZE[0]


def test_a_run_that_came_to_nothing_has_an_empty_map(tmp_path: Path, seeing: LoadedModel, street: Path) -> None:
    results = seeing.run(street, Request((Budget(1e-6),), explain=True), "frames")
    write(tmp_path, results, ("dcnn",), street)
    with np.load(tmp_path / "why.npz") as why:
        assert set(why.files) == {"classes", "networks"}
    assert read_image(tmp_path / "why.png").size


def test_frames_are_spread_over_the_whole_video() -> None:
    assert frames_shown(1) == [0]
    assert frames_shown(5) == [0, 1, 2, 3, 4]
    assert frames_shown(600) == [50, 150, 250, 350, 450, 550]
