"""What a worker of a job does: it gets ready once, keeps to its lease, and refuses what differs from the driver's."""

import math
from dataclasses import replace
from pathlib import Path

import pytest

from budgetseg.app import worker
from budgetseg.app.model import LoadedModel
from budgetseg.app.worker import Setup, _rest_of, label_video, look_at, stamp_of
from budgetseg.errors import UsageError
from budgetseg.types import Budget
from budgetseg.video import read_label_pngs
from tests.app.jobs import order_of, setup_of, simulated
from tests.app.streets import N_FRAMES, write_seeing_model, write_street


@pytest.fixture(scope="module")
def setup(tmp_path_factory: pytest.TempPathFactory) -> Setup:
    pytest.importorskip("onnx")
    return setup_of(write_seeing_model(tmp_path_factory.mktemp("models") / "seeing"))


def test_a_model_is_loaded_once_for_many_videos(setup: Setup, street: Path, tmp_path: Path) -> None:
    loaded: list[str] = []

    def load(model: str, *args: object, **options: object) -> LoadedModel:
        loaded.append(model)
        return simulated(model, *args, **options)  # type: ignore[arg-type]

    own = replace(setup, load=load)
    (looked,) = look_at(own, order_of([street], tmp_path), [street])
    assert looked.outlook is not None
    assert looked.stamp == stamp_of(street)
    for name in ("a", "b"):
        order = order_of([], tmp_path / name)
        done = label_video(own, order, street, order.request.budgets, tmp_path / "stop", {"by": "us"})  # type: ignore[union-attr]
        assert done.seconds > 0
        assert len(read_label_pngs(tmp_path / name / "labels")) == N_FRAMES
    assert loaded == [own.model]


def test_what_a_killed_worker_has_left_is_removed(setup: Setup, street: Path, tmp_path: Path) -> None:
    (tmp_path / ".a.0123abcd").mkdir()
    order = order_of([], tmp_path / "a")
    label_video(setup, order, street, (Budget(0.5, is_share=True),), tmp_path / "stop", {})
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a"]


def test_the_stop_file_ends_the_spending(setup: Setup, tmp_path: Path) -> None:
    video = write_street(tmp_path / "street.mp4")
    (tmp_path / "stop").touch()
    order = order_of([], tmp_path / "a")
    stopped = label_video(setup, order, video, (Budget(math.inf),), tmp_path / "stop", {})
    whole = label_video(setup, order, video, (Budget(math.inf),), tmp_path / "none", {})
    assert stopped.spent_s < whole.spent_s


def test_another_model_of_the_same_name_is_refused(setup: Setup, street: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"has another model 'made'; install the same one everywhere"):
        look_at(replace(setup, digest="0" * 64), order_of([street], tmp_path), [street])


def test_a_lease_goes_on_while_a_worker_gets_ready() -> None:
    budgets = (Budget(2.0), Budget(10.0))
    assert _rest_of(budgets, 0.1) == budgets
    assert [own.amount for own in _rest_of(budgets, 4.0)] == pytest.approx([1.2, 6.0])
    assert [own.amount for own in _rest_of(budgets, 50.0)] == pytest.approx([0.2, 1.0])
    for free in ((Budget(0.5, is_share=True),), (Budget(math.inf),)):
        assert _rest_of(free, 4.0) == free


def test_others_wait_only_until_something_was_measured_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BUDGETSEG_CACHE", str(tmp_path))
    locked: list[int] = []
    monkeypatch.setattr("budgetseg.app.worker.fcntl.lockf", lambda _, how: locked.append(how))
    for _ in range(3):
        with worker._once_alone("model", 640, 480):
            pass
    with worker._once_alone("model", 320, 240):
        pass
    assert len(locked) == 2
