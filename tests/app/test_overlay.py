"""Overlays have the times of their video, a legend, and a bounded size."""

import json
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest

from budgetseg.app.export.run import read_run
from budgetseg.app.labeller import Labeller, Order
from budgetseg.app.model import LoadedModel
from budgetseg.app.output import Wanted
from budgetseg.app.overlay import OverlaySettings, overlay_size, run_legend
from budgetseg.datasets.synthetic import render
from budgetseg.engine.request import Request
from budgetseg.errors import UsageError
from budgetseg.report.player import player_of
from budgetseg.types import Budget
from budgetseg.video import open_video, read_label_pngs
from tests.app.streets import N_FRAMES, SIZE


def label(model: LoadedModel, video: Path, out: Path, **wanted: bool) -> Path:
    order = Order([video], Request((Budget(9.0),)), output=out, wanted=Wanted(**wanted))
    Labeller(model).run(order, order.task())
    return out


def write_uneven(path: Path, counts: list[int], rate: int = 25) -> Path:
    """A street whose frames are shown at uneven times, in frames of a rate."""
    frames = render(1, len(counts), SIZE)[0].frames
    with av.open(str(path), "w") as container:
        stream = container.add_stream("mpeg4", rate=rate)
        assert isinstance(stream, av.VideoStream)
        stream.width, stream.height = SIZE
        stream.pix_fmt = "yuv420p"
        stream.max_b_frames = 0
        for pixels, count in zip(frames, counts, strict=True):
            frame = av.VideoFrame.from_ndarray(pixels)
            frame.pts, frame.time_base = count, Fraction(1, rate)
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
    return path


@pytest.mark.parametrize("name", ["uneven.mp4", "uneven.avi", "slow.avi"])
def test_an_overlay_is_shown_at_the_times_of_the_video(seeing: LoadedModel, tmp_path: Path, name: str) -> None:
    counts = list(range(10)) if name.startswith("slow") else [0, 1, 14, 15, 40, 52, 53, 70, 71, 99]
    video = write_uneven(tmp_path / name, counts, 2 if name.startswith("slow") else 25)
    out = label(seeing, video, tmp_path / "out")
    times_s = [frame.time_s for frame in open_video(video)]
    shown_s = [frame.time_s for frame in open_video(out / "overlay.mp4")]
    assert shown_s == pytest.approx(times_s, abs=2e-3)
    assert times_s[-1] == pytest.approx(counts[-1] / (2 if name.startswith("slow") else 25))


def test_only_what_is_wanted_is_written(seeing: LoadedModel, street: Path, tmp_path: Path) -> None:
    names = {
        name.name
        for name in label(seeing, street, tmp_path / "none", overlay=False, png=False, npz=True, why=True).iterdir()
    }
    assert names == {"labels.npz", "ledger.json", "state.npz", "trace.json", "why.npz", "why.png"}
    assert (label(seeing, street, tmp_path / "a", overlay=False) / "labels").is_dir()
    assert (label(seeing, street, tmp_path / "b", png=False) / "overlay.mp4").is_file()
    with pytest.raises(UsageError, match=r"overlay\.mp4', which pictures are taken from; label without --no-"):
        player_of(read_run(tmp_path / "a"), 60, 480)
    with pytest.raises(UsageError, match=r"there are no label pictures in .*; label without --no-png"):
        read_run(tmp_path / "b")


def test_shares_of_classes_are_in_the_ledger_and_beside_the_pictures(
    seeing: LoadedModel, street: Path, tmp_path: Path
) -> None:
    out = label(seeing, street, tmp_path / "out")
    shares = json.loads((out / "ledger.json").read_text())["class_shares"]
    labels = read_label_pngs(out / "labels")
    rows = json.loads((out / "labels" / "classes.json").read_text())
    for row in rows:
        assert row["share"] == shares[row["name"]] == pytest.approx((labels == row["index"]).mean())
    assert sum(shares.values()) == pytest.approx(1)


def test_the_legend_names_the_classes_that_were_found(seeing: LoadedModel, street: Path, tmp_path: Path) -> None:
    out = label(seeing, street, tmp_path / "out")
    shares = json.loads((out / "ledger.json").read_text())["class_shares"]
    legend = run_legend(seeing.classes, shares, SIZE)
    assert legend is None  # 64 rows have no room for one
    large = run_legend(seeing.classes, shares, (640, 480))
    assert large is not None
    shown = [bool((large.pixels == colour).all(axis=2).sum() > 20) for colour in seeing.classes.colours]
    assert shown == [shares[name] > 0.001 for name in seeing.classes.names]


def test_overlays_of_long_videos_are_smaller_and_the_page_still_shows_them(
    seeing: LoadedModel, street: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert overlay_size((641, 361), 10) == (641, 361)
    assert overlay_size((641, 361), 10, OverlaySettings(1e6)) == (320, 180)
    monkeypatch.setattr(OverlaySettings, "__init__", lambda self: object.__setattr__(self, "most_pixels", 1e3))
    out = label(seeing, street, tmp_path / "out")
    assert open_video(out / "overlay.mp4").size == (SIZE[0] // 2, SIZE[1] // 2)
    assert open_video(out / "overlay.mp4").count() == N_FRAMES
    assert len(player_of(read_run(out), 60, 480)["frames"]) == N_FRAMES
    assert np.unique(read_label_pngs(out / "labels")).size > 1


def test_a_part_of_a_video_is_labelled_repeated_and_continued(
    seeing: LoadedModel, street: Path, tmp_path: Path
) -> None:
    from budgetseg.video.core import Span

    request = Request((Budget(9.0),))
    order = Order([street], request, output=tmp_path / "out", span=Span(3, 10, 2))
    Labeller(seeing).run(order, order.task())
    labels = read_label_pngs(tmp_path / "out" / "labels")
    assert len(labels) == 4
    again = Order([street], None, replay=tmp_path / "out", output=tmp_path / "again")
    Labeller(seeing).run(again, again.task())
    assert np.array_equal(read_label_pngs(tmp_path / "again" / "labels"), labels)
    more = Order([street], request, resume=tmp_path / "out", output=tmp_path / "more")
    assert more.task().source.n_frames == 4
    other = Order([street], request, resume=tmp_path / "out", output=tmp_path / "more", span=Span(1))
    with pytest.raises(UsageError, match="the earlier run took --start 3, --end 10, --stride 2; leave these options"):
        other.task()
