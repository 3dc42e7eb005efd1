"""`budgetseg supervoxels`, as a user meets it."""

import json
from pathlib import Path

import cv2
import numpy as np
import pytest
from typer.testing import CliRunner

from budgetseg.cli import app as program
from budgetseg.cli.app import app
from budgetseg.supervoxels import neighbourhood_graph
from budgetseg.types import Int32
from budgetseg.video import open_video, read_image, write_overlay


@pytest.fixture
def clip(tmp_path: Path) -> Path:
    """Twelve frames of a bright square moving over a dark ground."""
    folder = tmp_path / "clip"
    folder.mkdir()
    for t in range(12):
        frame = np.full((47, 61, 3), 40, np.uint8)
        frame[10:30, 10 + t : 30 + t] = (60, 180, 220)
        cv2.imwrite(str(folder / f"{t}.png"), frame)
    return folder


def load_ids(folder: Path) -> Int32:
    with np.load(folder / "ids.npz") as stored:
        ids: Int32 = stored["ids"]
    return ids


def run(*arguments: object) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["supervoxels", *map(str, arguments)])
    return result.exit_code, result.stdout


def refused(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *arguments: object) -> str:
    """The line that a command with bad input ends with, after checking that the exit code is 2."""
    monkeypatch.setattr("sys.argv", ["budgetseg", "supervoxels", *map(str, arguments)])
    with pytest.raises(SystemExit) as exit_:
        program.main()
    assert exit_.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    return line


@pytest.mark.parametrize("tier", ["quality", "fast"])
def test_ids_graph_and_overlay_are_written_and_agree(clip: Path, tmp_path: Path, tier: str) -> None:
    code, out = run(clip, "-n", 20, "--tier", tier, "-o", tmp_path / "out", "--json", "--pngs")
    summary = json.loads(out)
    ids = load_ids(tmp_path / "out")
    assert code == 0
    assert ids.shape == (12, 47, 61)
    assert len(np.unique(ids)) == ids.max() + 1 == summary["n"] == 20
    graph = neighbourhood_graph(ids)
    with np.load(tmp_path / "out" / "graph.npz") as stored:
        for name in ("edges", "contact", "sizes", "boxes", "bins", "key_frames"):
            assert np.array_equal(stored[name], getattr(graph, name)), name
    assert open_video(tmp_path / "out" / "overlay.mp4").read().shape == (12, 48, 62)  # padded to even sides
    picture = read_image(tmp_path / "out" / "ids" / "000003.png").astype(np.int32)
    assert np.array_equal(picture @ [1, 256, 65536], ids[3])


def test_windows_give_the_number_asked_for_and_ids_that_go_on(clip: Path, tmp_path: Path) -> None:
    run(clip, "-n", 20, "--window", 5, "-o", tmp_path / "out", "--no-overlay")
    ids = load_ids(tmp_path / "out")
    assert len(np.unique(ids)) == 20
    assert not (tmp_path / "out" / "overlay.mp4").exists()
    for border in (4, 8):
        assert np.mean(ids[border - 1] == ids[border]) > 0.8


def test_threads_do_not_change_the_ids(clip: Path, tmp_path: Path) -> None:
    for threads in (1, 2):
        run(clip, "-n", 9, "--threads", threads, "-o", tmp_path / str(threads), "--no-overlay")
    one, two = (load_ids(tmp_path / name) for name in "12")
    assert np.array_equal(one, two)


def test_a_level_may_be_asked_for_instead_of_a_number(clip: Path, tmp_path: Path) -> None:
    counts = [json.loads(run(clip, "--level", k, "-o", tmp_path / "out", "--json")[1])["n"] for k in (0, 9, 20)]
    assert counts == sorted(counts, reverse=True)


def test_a_real_clip_is_cut_within_the_number_asked_for(data_root: Path, tmp_path: Path) -> None:
    video = data_root / "clips" / "carphone_pristine.mp4"
    _, out = run(video, "-n", 200, "--end", 40, "-o", tmp_path / "out", "--json")
    assert json.loads(out)["n"] == 200
    assert json.loads(out)["n_frames"] == 40


def test_people_get_a_table_and_the_place_of_the_results(clip: Path, tmp_path: Path) -> None:
    _, out = run(clip, "-n", 20, "-o", tmp_path / "out")
    assert out.splitlines()[0] == "12 frames of 61×47"
    assert out.splitlines()[-1] == f"Results are in {tmp_path / 'out'}"


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("-n", 0, "n must be 1 or more. Got 0"),
        ("--level", 21, "level must be 0 to 20. Got 21; 9 is the paper's"),
        ("--tier", "best", "no supervoxel tier 'best'; choose from quality, fast"),
        ("--size", "big", "size must be WIDTHxHEIGHT. Got 'big'; for example 480x360"),
        ("--window", 0, "window must be 1 or more. Got 0"),
        ("--threads", 0, "invalid value for '--threads': Input should be greater than or equal to 1"),
        ("--start", 12, "none from number 12 on; choose an earlier start"),
    ],
)
def test_a_bad_option_gets_one_line_and_leaves_nothing(
    clip: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    option: str,
    value: object,
    message: str,
) -> None:
    line = refused(capsys, monkeypatch, clip, option, value, "-o", tmp_path / "out")
    assert message in line
    assert sorted(tmp_path.iterdir()) == [clip]


def test_a_frame_of_another_size_is_named_and_leaves_nothing(
    clip: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    cv2.imwrite(str(clip / "7.png"), np.zeros((10, 10, 3), np.uint8))
    assert "7.png" in refused(capsys, monkeypatch, clip, "-o", tmp_path / "out")
    assert sorted(tmp_path.iterdir()) == [clip]


def test_videos_that_are_none_get_one_line_and_leave_nothing(
    data_root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = (data_root / "clips" / "bikes.mp4").read_bytes()
    contents = {"empty.mp4": b"", "text.mp4": b"not a video\n" * 50, "cut.mp4": whole[: len(whole) // 2]}
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
    for name in (*contents, "missing.mp4"):
        line = refused(capsys, monkeypatch, tmp_path / name, "-o", tmp_path / "out")
        assert name in line
        assert ";" in line, "the line should say what to do"
        assert not (tmp_path / "out").exists()


def test_a_place_that_cannot_be_written_is_said_before_the_work(
    clip: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setattr("budgetseg.supervoxels.export._windows", None)  # the first frame would fail on this
    assert "it is a file" in refused(capsys, monkeypatch, clip, "-o", tmp_path / "file")


def test_what_an_earlier_run_left_does_not_stay_beside_the_new(clip: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "notes.txt").write_text("mine")
    run(clip, "-n", 9, "-o", tmp_path / "out", "--pngs")
    run(clip, "-n", 9, "-o", tmp_path / "out", "--end", 5, "--no-overlay")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "graph.npz",
        "ids.npz",
        "notes.txt",
        "summary.json",
    ]


def test_more_supervoxels_than_there_can_be_is_said(clip: Path, tmp_path: Path) -> None:
    _, out = run(clip, "-n", 100_000, "-o", tmp_path / "out")
    assert "at the finest level; 100000 were asked for" in out


def test_a_container_that_does_not_know_its_length_is_refused_like_any_other(
    clip: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write_overlay(tmp_path / "clip.mkv", open_video(clip).read())
    line = refused(capsys, monkeypatch, tmp_path / "clip.mkv", "--start", 99, "-o", tmp_path / "out")
    assert "12 frames, none from number 99 on" in line
    assert not (tmp_path / "out").exists()
