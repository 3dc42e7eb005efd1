"""`budgetseg label`, as a user meets it."""

import json
import logging
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from budgetseg.cli.app import app
from budgetseg.errors import UsageError
from budgetseg.models.bundle import load_any, with_calibration
from budgetseg.models.find import bundled_models
from budgetseg.video import read_label_pngs
from tests.app.streets import N_FRAMES, write_model, write_seeing_model, write_street
from tests.spaces.frames.calibrations import calibration

MOTION = ("colour", "hog", "hof", "mbh")


pytestmark = pytest.mark.usefixtures("own_cache")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_model(tmp_path_factory.mktemp("models") / "street", MOTION)


@pytest.fixture(scope="module")
def seeing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("onnx")
    return write_seeing_model(tmp_path_factory.mktemp("models") / "seeing")


@pytest.fixture(scope="module")
def street(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_street(tmp_path_factory.mktemp("videos") / "street.mp4")


def run(*words: object) -> str:
    result = CliRunner().invoke(app, ["label", *map(str, words)])
    assert result.exit_code == 0, result.output
    assert all(line.endswith(" ...") for line in result.stderr.splitlines()), result.stderr
    return result.stdout


def test_the_help_teaches_the_command() -> None:
    result = CliRunner().invoke(app, ["label", "--help"], env={"COLUMNS": "200"})
    text = " ".join(result.stdout.split())
    options = (
        "--budget --scope --model --space --engine --select --policy --seed --threads --resume --replay --why --npz "
        "--json --output --no-overlay --no-png --start --end --stride"
    )
    assert all(option in text for option in options.split())
    assert "budgetseg label drive.mp4 --budget 10s -o out" in text
    assert "Ctrl-C ends the spending and still writes complete labels" in text


def test_people_get_a_ledger_and_the_place_of_the_results(street: Path, model: Path, tmp_path: Path) -> None:
    lines = run(street, "--budget", "inf", "--model", model, "-o", tmp_path / "out").splitlines()
    words = [line.split() for line in lines if line]
    assert words[0] == ["stage", "planned", "s", "spent", "s"]
    assert {"supervoxels", "descriptors", "expansion", "colour", "hog"} <= {row[0] for row in words}
    assert ["descriptor", "computed", "planned", "s", "spent", "s"] in words
    assert ["budget", "seconds", "spent", "s", "overrun", "s"] in words
    assert "Labelled by regions." in lines
    assert lines[-1] == f"Results are in {tmp_path / 'out'}"


def test_whole_frames_are_explained_with_a_map_and_a_picture(street: Path, seeing: Path, tmp_path: Path) -> None:
    lines = run(street, "--budget", "inf", "--model", seeing, "--why", "-o", tmp_path / "out").splitlines()
    words = [line.split() for line in lines if line]
    assert ["network", "computed", "planned", "s", "spent", "s"] in words
    assert {"networks", "flow", "fusing", "pixels", "dcnn"} <= {row[0] for row in words}
    assert "Labelled by frames." in lines
    with np.load(tmp_path / "out" / "why.npz") as why:
        for name in ("key_frame", "network", "distance", "confidence"):
            assert len(why[f"0/{name}"]) == N_FRAMES
    assert (tmp_path / "out" / "why.png").stat().st_size > 0
    assert json.loads((tmp_path / "out" / "ledger.json").read_text())["space"] == "frames"


@pytest.mark.parametrize("option", ["--engine", "--space"])
def test_the_old_name_of_regions_still_works(street: Path, seeing: Path, tmp_path: Path, option: str) -> None:
    words = (street, "--budget", "inf", "--model", seeing, option, "supervoxels", "-o", tmp_path / "out", "--json")
    (ledger,) = json.loads(run(*words))["ledgers"]
    assert ledger["space"] == "regions"
    assert "supervoxels" in ledger["stages"]


def test_an_old_trace_is_one_line_that_says_to_label_anew(
    refused: Callable[..., str], street: Path, model: Path, tmp_path: Path
) -> None:
    run(street, "--budget", "10%", "--scope", "descriptors", "--model", model, "-o", tmp_path / "out")
    path = tmp_path / "out" / "trace.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"format": 6}))
    for words in (["--replay", tmp_path / "out"], ["--budget", "1s", "--resume", tmp_path / "out"]):
        line = refused("label", street, *words, "-o", tmp_path / "again")
        assert line == f"budgetseg: '{path}' has format 6, not 8; label the video again"
    assert [folder.name for folder in tmp_path.iterdir()] == ["out"]


def test_programs_get_the_ledgers_alone_and_the_log_goes_elsewhere(street: Path, model: Path, tmp_path: Path) -> None:
    options = ["--model", model, "-o", tmp_path / "out", "--json", "--scope", "descriptors", "--threads", 1]
    words = ["-v", "label", street, "--budget", "10%,inf", *options]
    result = CliRunner().invoke(app, list(map(str, words)))
    found, lines = json.loads(result.stdout), result.stderr.splitlines()
    lines = [line for line in lines if not line.endswith(" ...")]
    for text in (f"from {model}", os.environ["BUDGETSEG_CACHE"], "ready after", "by regions within 10% inf", "plan: "):
        assert any(text in line for line in lines), text
    assert all(re.match(r"\d\d:\d\d:\d\d\.\d{3} budgetseg\.", line) for line in lines)
    assert not logging.getLogger("budgetseg").handlers
    some, everything = found["ledgers"]
    assert some == json.loads((tmp_path / "out" / "10%" / "ledger.json").read_text())
    assert some["environment"]["budgetseg"]
    assert everything["budget_s"] is None
    assert everything["work_left"] is False


def test_a_run_is_resumed_and_replayed_with_its_own_model(
    street: Path, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run(street, "--budget", "10%", "--scope", "descriptors", "--model", os.path.relpath(model))
    run(street, "--budget", "10%", "--scope", "descriptors", "--resume", "labelled")
    run(street, "--replay", "labelled")
    again, first = (read_label_pngs(tmp_path / name / "labels") for name in ("replayed", "labelled"))
    assert np.array_equal(again, first)


@pytest.mark.parametrize("budget", ["0", "0s", "-1s", "nothing", "10", "2s,1s", "2s,20%"])
def test_budgets_that_make_no_sense_are_one_line(
    refused: Callable[..., str], street: Path, tmp_path: Path, budget: str
) -> None:
    line = refused("label", street, f"--budget={budget}", "-o", tmp_path / "out")
    assert "budget" in line
    assert "for example" in line
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ([], "a budget is missing; for example --budget 10s"),
        (["--budget", "1s", "--model", "moon"], "no model 'moon'; "),
        (["--budget", "1s", "--scope", "half"], "no scope 'half'; choose from total, descriptors"),
        (["--budget", "1s", "--select", "small", "--model", "MODEL"], "no order of selection 'small'"),
        (
            ["--budget", "1s", "--policy", "wise", "--model", "MODEL"],
            "no policy 'wise'; choose from learned, static, random",
        ),
        (["--budget", "1s", "--space", "pixels"], "no space 'pixels'; choose from auto, frames, regions"),
        (["--budget", "1s", "--engine", "pixels"], "no space 'pixels'; choose from auto, frames, regions"),
        (["--budget", "1s", "--space", "frames", "--model", "MODEL"], "the model has no network for its classes"),
        (["--budget", "1s", "--space", "frames", "--policy", "static"], "--policy needs regions; leave it out, or use"),
        (["--budget", "1s", "--resume", "nowhere"], "'nowhere' holds no run"),
        (["--budget", "1s", "--replay", "nowhere"], "--replay takes no --budget"),
        (["--replay", "nowhere"], "'nowhere' holds no run"),
        (["--budget", "1s", "--start", "99"], "none from number 99 on; choose an earlier start"),
        (["--budget", "1s", "--start", "5", "--end", "5"], "the end must come after the start. Got frames 5 to 5"),
        (["--budget", "5"], "write 5s; for example 500ms, 10s"),
        (["--target-accuracy", "80"], "must be a share of the pixels, 0 to 1. Got 80; for 80 % write 0.8"),
        (["--target-accuracy", "-1"], "must be a share of the pixels, 0 to 1. Got -1"),
        (["--budget", "1s", "--model", "net.onnx"], "'net.onnx' is a network, and no model; give it by --network"),
    ],
)
def test_what_makes_no_sense_is_one_line_and_leaves_nothing(
    refused: Callable[..., str], street: Path, model: Path, tmp_path: Path, words: list[str], line: str
) -> None:
    given = [str(model) if word == "MODEL" else word for word in words]
    assert line in refused("label", street, *given, "-o", tmp_path / "out")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["--backend", "tensorrt"], "the back end 'tensorrt' is not installed; pip install onnxruntime-gpu tensorrt"),
        (["--backend", "abacus"], "no back end 'abacus'; choose from auto, onnxruntime, openvino, cuda, tensorrt"),
        (["--precision", "f8"], "no precision 'f8'; choose from auto, f32, bf16, int8"),
        (["--backend", "onnxruntime", "--precision", "bf16"], "the back end 'onnxruntime' has no bf16; leave out"),
        (["--precision", "int8"], "dcnn.onnx: has no 8-bit convolutions, which --precision int8 needs"),
    ],
)
def test_a_back_end_or_precision_that_is_not_there_is_refused(
    refused: Callable[..., str], street: Path, tmp_path: Path, words: list[str], line: str
) -> None:
    assert line in refused("label", street, "--budget", "1s", *words, "-o", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_without_a_model_the_bundled_ones_are_named(refused: Callable[..., str], street: Path, tmp_path: Path) -> None:
    line = refused("label", street, "--budget", "1s", "--model", "moon", "-o", tmp_path / "out")
    assert all(name in line for name in bundled_models())
    assert "'budgetseg train' made" in line


def test_videos_that_are_none_and_places_that_are_closed_are_refused_before_the_work(
    refused: Callable[..., str], street: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("budgetseg.app.model.load_any", None)
    (tmp_path / "text.mp4").write_text("no video\n" * 50)
    (tmp_path / "empty").mkdir()
    for video in ("text.mp4", "missing.mp4", "empty"):
        assert video in refused("label", tmp_path / video, "--budget", "1s", "-o", tmp_path / "out")
    assert "cannot write" in refused("label", street, "--budget", "1s", "-o", "/proc/nowhere/out")
    assert "cannot write" in refused("label", street, "--budget", "1s", "-o", tmp_path / "text.mp4")


def test_a_budget_too_short_for_one_frame_has_an_exit_status_of_its_own(
    street: Path, seeing: Path, tmp_path: Path
) -> None:
    words = ["label", street, "--model", seeing, "--budget", "1ms", "-o", tmp_path / "out", "--json"]
    result = CliRunner().invoke(app, list(map(str, words)))
    assert result.exit_code == 3, result.output
    assert "0.001s was too short to predict a single frame, so every pixel is '" in result.stderr
    (ledger,) = json.loads(result.stdout)["ledgers"]
    assert ledger["prior_only"]
    assert len(np.unique(read_label_pngs(tmp_path / "out" / "labels"))) == 1


def test_the_classes_found_are_printed_most_first(street: Path, seeing: Path, tmp_path: Path) -> None:
    lines = run(street, "--budget", "inf", "--model", seeing, "-o", tmp_path / "out").splitlines()
    rows = lines[next(k for k, line in enumerate(lines) if line.split() == ["class", "share"]) + 1 :]
    shares = [float(line.split()[-2]) for line in rows[: rows.index("")]]
    assert shares == sorted(shares, reverse=True)
    assert sum(shares) == pytest.approx(100, abs=1)
    assert min(shares) >= 0.1


def test_a_part_of_a_video_and_files_are_chosen_by_options(street: Path, seeing: Path, tmp_path: Path) -> None:
    words = ["--start", 2, "--end", 11, "--stride", 3, "--no-overlay", "--budget", "inf", "--model", seeing]
    run(street, *words, "-o", tmp_path / "out")
    assert read_label_pngs(tmp_path / "out" / "labels").shape[0] == 3
    assert not (tmp_path / "out" / "overlay.mp4").exists()


def _as_from_a_terminal() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # a suite that a shell runs in the background ignores Ctrl-C


def begin(*words: object, before: Callable[[], None] = _as_from_a_terminal) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "budgetseg", "label", *map(str, words)]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, preexec_fn=before)


def wait_for(process: subprocess.Popen[str], folder: Path, pattern: str, steady_s: float = 0.0) -> None:
    """Until a file is there, and still there later: whether a place can be written is tried before the work."""
    while process.poll() is None:
        found = list(folder.glob(pattern))
        time.sleep(steady_s if found else 0.002)
        if any(path.exists() for path in found):
            return


@pytest.fixture
def warm(long_street: Path, street: Path, model: Path, tmp_path_factory: pytest.TempPathFactory) -> list[object]:
    """Words of a long run, the machine being known."""
    if not (Path(os.environ["BUDGETSEG_CACHE"]) / "prices.json").exists():
        run(street, "--budget", "1s", "--model", model, "-o", tmp_path_factory.mktemp("warm") / "out")
    return [long_street, "--budget", "10m", "--model", model, "--threads", 2]


def test_ctrl_c_ends_the_spending_and_still_writes_complete_labels(warm: list[object], tmp_path: Path) -> None:
    with begin(*warm, "-o", tmp_path / "out", "--json") as process:
        wait_for(process, tmp_path, ".out.*", steady_s=0.5)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()
    assert process.returncode == 130, err
    assert "Ctrl-C: spending ends" in err
    (ledger,) = json.loads(out)["ledgers"]
    assert ledger["stopped"]
    assert ledger["work_left"]
    assert read_label_pngs(tmp_path / "out" / "labels").shape == (150, 240, 320)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_ctrl_c_twice_leaves_nothing(warm: list[object], tmp_path: Path) -> None:
    with begin(*warm, "-o", tmp_path / "out") as process:
        wait_for(process, tmp_path, ".out.*", steady_s=0.1)
        process.send_signal(signal.SIGINT)
        assert process.stderr is not None
        while not process.stderr.readline().startswith("Ctrl-C: spending ends"):
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()
    assert (process.returncode, out) == (130, "")
    assert err == "budgetseg: interrupted; no half-written file is left\n"
    assert not list(tmp_path.iterdir())


def test_sigterm_ends_all_threads_at_once(warm: list[object], tmp_path: Path) -> None:
    with begin(*warm, "-o", tmp_path / "out") as process:
        wait_for(process, tmp_path, ".out.*", steady_s=0.1)
        process.send_signal(signal.SIGTERM)
        process.communicate()  # threads that went on would have ten minutes, and the suite has not
    assert process.returncode == 143
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("pattern", [".out.*", ".out.*/labels", ".out.*/state.npz"])
def test_a_killed_command_leaves_nothing_that_looks_whole(
    street: Path, model: Path, tmp_path: Path, pattern: str
) -> None:
    with begin(street, "--budget", "2s", "--model", model, "-o", tmp_path / "out") as process:
        wait_for(process, tmp_path, pattern)
        process.kill()
        process.communicate()
    assert process.returncode == -signal.SIGKILL
    assert not [path for path in tmp_path.iterdir() if not path.name.startswith(".")]


def test_a_full_disk_is_one_line_and_leaves_nothing(street: Path, model: Path, tmp_path: Path) -> None:
    def small_files() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))  # EFBIG, where a disk would say ENOSPC

    with begin(street, "--budget", "2s", "--model", model, "-o", tmp_path / "out", before=small_files) as process:
        _, err = process.communicate()
    assert process.returncode == 2, err
    assert err.splitlines()[-1].startswith("budgetseg: cannot write")
    assert err.count("budgetseg: ") == 1
    assert not list(tmp_path.iterdir())


@pytest.fixture
def promising(seeing: Path, tmp_path: Path) -> Path:
    """A model that knows what its labels by frames are worth."""
    folder = shutil.copytree(seeing, tmp_path / "promising")
    with_calibration(folder, calibration(len(load_any(folder).classes)))
    return folder


def test_every_budget_has_a_line_on_the_accuracy_to_expect(street: Path, promising: Path, tmp_path: Path) -> None:
    lines = run(street, "--budget", "1s,2s", "--model", promising, "-o", tmp_path / "out").splitlines()
    found = [line for line in lines if "Expected: about" in line]
    assert [line.split(":")[0] for line in found] == ["1s", "2s"]


def test_a_video_out_of_domain_is_called_so(street: Path, promising: Path, tmp_path: Path) -> None:
    with_calibration(promising, calibration(len(load_any(promising).classes), usual=100.0))
    found = run(street, "--budget", "1s", "--model", promising, "-o", tmp_path / "out")
    assert "This video does not look like what 'made' was trained on; expect less than" in found
    expected = json.loads((tmp_path / "out" / "ledger.json").read_text())["expected"]
    assert (expected["in_domain"], expected["low"]) == (False, 0.0)


def test_an_accuracy_is_aimed_at_by_frames(street: Path, promising: Path, tmp_path: Path) -> None:
    found = run(street, "--target-accuracy", "0.01", "--model", promising, "-o", tmp_path / "out")
    assert "Labelled by frames." in found
    assert "Expected: about" in found
    assert "is not what to expect here" not in found


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--budget", "1s"), "takes no --budget, --resume or --replay"),
        (("--space", "frames"), "has no calibration to predict its accuracy by frames"),
        (("--space", "regions"), "has no learned policy to predict its accuracy"),
    ],
)
def test_an_accuracy_that_cannot_be_aimed_at_is_refused(
    street: Path, seeing: Path, tmp_path: Path, options: tuple[str, ...], message: str
) -> None:
    words = ["label", street, "--target-accuracy", 0.5, "--model", seeing, "-o", tmp_path / "out", *options]
    result = CliRunner().invoke(app, list(map(str, words)))
    assert isinstance(result.exception, UsageError)
    assert message in str(result.exception)
    assert not (tmp_path / "out").exists()
