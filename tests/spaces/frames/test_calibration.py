"""From signs of labels to what is promised of them."""

import json
from dataclasses import replace

import numpy as np
import pytest

from budgetseg.errors import UsageError
from budgetseg.spaces.frames.calibration import Calibration, log_odds, seen_of
from budgetseg.spaces.frames.signs import Signs
from tests.spaces.frames.calibrations import calibration

EVEN = np.full((6, 8, 3), 1 / 3)


def test_confident_labels_are_promised_more_and_carried_ones_less() -> None:
    known = calibration()
    sure, unsure = (known.promise(Signs(share, 0.0, EVEN)) for share in (0.9, 0.7))
    carried = known.promise(Signs(0.9, 10.0, EVEN))
    assert sure.accuracy == pytest.approx(0.9)
    assert unsure.accuracy < sure.accuracy
    assert carried.accuracy < sure.accuracy
    assert sure.low is not None
    assert sure.high is not None
    assert 0 < sure.low < sure.accuracy < sure.high < 1


def test_nothing_is_promised_beyond_what_training_has_shown() -> None:
    known = calibration()
    assert known.promise(Signs(0.999, 0.0, EVEN)) == known.promise(Signs(0.99, 0.0, EVEN))


def test_a_video_with_classes_where_they_never_are_is_out_of_domain() -> None:
    layout = np.full((6, 8, 3), 0.01)
    layout[:3, :, 0] = layout[3:, :, 1] = 0.98
    known = replace(calibration(), layout=layout, usual=(-5.0, -1.0, 0.0))
    upright, turned = known.promise(Signs(0.9, 0.0, layout)), known.promise(Signs(0.9, 0.0, layout[::-1]))
    assert upright.in_domain is True
    assert (turned.in_domain, turned.low) == (False, 0.0)


def test_signs_are_log_odds_and_shares() -> None:
    seen = seen_of(Signs(0.5, 7.0, EVEN), EVEN)
    assert seen.confidence == 0
    assert seen.layout == pytest.approx(np.log(1 / 3))
    assert seen.shares == pytest.approx(1)
    assert seen.lost == 7
    assert log_odds(1.0) == log_odds(0.999)  # no infinity


def test_a_calibration_comes_back_from_json() -> None:
    known = calibration()
    back = Calibration.from_dict(json.loads(json.dumps(known.as_dict())), 3)
    signs = Signs(0.8, 3.0, EVEN)
    assert back.promise(signs).accuracy == pytest.approx(known.promise(signs).accuracy, abs=1e-4)
    assert (back.truth, back.n_videos) == ("labels", 4)


@pytest.mark.parametrize(
    "change",
    [
        {"bias": float("nan")},
        {"within": -1.0},
        {"weights": [1.0, 2.0]},
        {"least": [5.0, 0.0, 0.0]},
        {"layout": [[[0.5, 0.5]]]},
        {"layout": [[[0.0, 0.5, 0.5]]]},
    ],
)
def test_a_calibration_that_makes_no_sense_is_refused(change: dict[str, object]) -> None:
    with pytest.raises((UsageError, ValueError)):
        Calibration.from_dict({**calibration().as_dict(), **change}, 3)
