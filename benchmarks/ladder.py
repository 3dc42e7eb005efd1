"""The trainings behind the bundled networks, in a few calls of a machine with a GPU that has only PyTorch.

Usage: python benchmarks/ladder.py COMMAND …

    prepare DATA FOLDER               sets and weights, below 64 MB a call, from the folder with camvid/ and suny/
    run PLAN FOLDER OUT [SCALE]       the jobs of a plan, with all seconds times SCALE; OUT/results-PLAN.json and
                                      archives of checkpoints are kept up to date, so that little is lost when a call
                                      is cut off; jobs continue from FOLDER/resume/NAME.safetensors
    export FOLDER OUT DATA TO [open]  checkpoints as ONNX files with their card, calibrated on what was left out;
                                      open: for frames of any shape
    time                              milliseconds of the shapes against the bundled small network, in alternation

`notebook/ladder.md` has the plan. `run` needs PyTorch, NumPy, safetensors and Pillow.
"""

import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn.functional import interpolate

from benchmarks.ladder_data import FrameSet, pack_set, read_set, unlabelled, write_weights
from benchmarks.ladder_plan import PLANS, SMALLEST, Job
from budgetseg.evaluation.accuracy import accuracy_of, confusion_of_pixels
from budgetseg.files import atomic_file
from budgetseg.networks.architecture import SHAPES, build
from budgetseg.networks.calibrate import sample_scores, temperature_of
from budgetseg.networks.card import Card, card_text
from budgetseg.networks.checkpoint import load_checkpoint
from budgetseg.networks.encoder import load_published
from budgetseg.networks.pyramid import Pyramid, PyramidShape
from budgetseg.networks.recipe import LADDER, NetworkRecipe, Rung
from budgetseg.networks.sizes import input_size
from budgetseg.networks.training import Checkpoints, Teacher, Teaching, class_scores, train_networks
from budgetseg.timing.clock import WallClock
from budgetseg.types import IGNORE, Float32, UInt8

ROOT = Path(__file__).resolve().parent.parent
TIMED = (*SMALLEST, ("lite0", 1.0), ("lite2", 1.0), ("lite2", 1.5), ("lite2-wide", 1.5))
LIMIT_STEPS = 10**7
"""More steps than any job can take: seconds end it."""
GRACE_S = 75.0
"""Seconds that a job may take to start, to read its set and to be measured."""


def prepare(data: Path, folder: Path) -> None:
    """Write the sets camvid, camvid_720, suny and film, and the weights, and print their sizes."""
    import cv2

    from budgetseg.datasets import open_dataset
    from budgetseg.networks.fit import footage_of
    from budgetseg.networks.folds import frame_folds
    from budgetseg.networks.run import at_size
    from budgetseg.video import read_image, read_index_png

    for name, quality in (("camvid", 95), ("suny", 99)):
        dataset = open_dataset(name, data / name)
        footage = footage_of(dataset.videos("train"))
        folds = frame_folds([video.labels for video in footage], 4)
        names = np.concatenate([np.full(len(own.labels), own.name.split("_")[0]) for own in footage])
        size = footage[0].labels.shape[:0:-1]
        frames = np.stack([at_size(frame, size) for own in footage for frame in own.frames])
        labels = [cv2.resize(frame, size, interpolation=cv2.INTER_NEAREST) for own in footage for frame in own.labels]
        found = FrameSet(frames, np.stack(labels), names, np.concatenate(folds).astype(np.int64), len(dataset.classes))
        pack_set(folder / f"{name}.npz", found, quality)
    native = data / "camvid_960"
    paths = sorted((native / "train").glob("*.jpg"))
    large = [at_size(read_image(path), (720, 540)) for path in paths]
    truths = [read_index_png(native / "trainannot" / f"{path.stem}.png") for path in paths]
    joined = np.stack([cv2.resize(own, (720, 540), interpolation=cv2.INTER_NEAREST) for own in truths])
    merged = np.where(joined > 10, IGNORE, joined).astype(np.uint8)
    sequences = np.array([path.stem.split("_")[0] for path in paths])
    pack_set(
        folder / "camvid_720.npz",
        FrameSet(np.stack(large), merged, sequences, np.full(len(paths), -1, np.int64), 11),
        88,
    )
    pack_set(folder / "film.npz", unlabelled(_film(data), "film"), 88)
    for name in ("lite0", "lite2"):
        write_weights(folder / f"{name}.safetensors", name)
    for path in sorted(folder.iterdir()):
        print(f"{path}: {path.stat().st_size / 1e6:.1f} MB")


def _film(data: Path) -> UInt8:
    """About 150 frames of the unlabelled clips, evenly spread, at 480×360."""
    from budgetseg.networks.run import at_size
    from budgetseg.video import open_video

    frames = []
    for path in sorted([*(data / "film").glob("*.mp4"), *(data / "clips").glob("bikes.mp4")]):
        n_frames = sum(1 for _ in open_video(path))
        shown = open_video(path, stride=max(1, n_frames // 30))
        frames += [at_size(frame.pixels, (480, 360)) for frame in shown]
    return np.stack(frames)


def recipe_of(job: Job, device: str) -> NetworkRecipe:
    """The recipe of a job: that of the ladder, or of networks from random weights, for its seconds."""
    pretrained = isinstance(SHAPES[job.shape], PyramidShape)
    rungs = (Rung("network", job.shape, job.zoom),)
    usual = LADDER if pretrained else replace(LADDER, rate=NetworkRecipe().rate)
    slower = (job.batch / usual.batch) ** 0.5  # smaller batches have noisier gradients
    return replace(
        usual,
        rate=slower * usual.rate,
        encoder_rate=slower * usual.encoder_rate,
        average=job.average,
        bf16=job.bf16,
        rungs=rungs,
        n_steps=LIMIT_STEPS,
        batch=job.batch,
        time_limit_s=job.seconds,
        seed=job.seed,
        device=device,
        cameras=LADDER.cameras if job.cameras else None,
        distil=1.0 if job.teachers else 0.0,
        teacher_mirrors=True,
        channels_last=job.channels_last,
        teacher_zooms=(0.75, 1.0),
    )


def network_of(job: Job, folder: Path, n_labels: int) -> nn.Module:
    """A network with the published weights of its encoder, from the folder."""
    from safetensors.torch import load_file

    network = build(job.shape, n_labels, published=False)
    if isinstance(network, Pyramid):
        shape = SHAPES[job.shape]
        assert isinstance(shape, PyramidShape)
        weights = load_file(folder / f"{shape.backbone}.safetensors")
        load_published(network.encoder, {name: value.float() for name, value in weights.items()})
    return network


def run_job(job: Job, folder: Path, out: Path) -> None:
    """Train and measure one network: OUT/NAME.safetensors and OUT/NAME.json."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.backends.cudnn.benchmark = True  # all batches have one size
    found = read_set(folder / f"{job.data}.npz")
    held = found.left_out(job.left_out)
    teaching = Teaching([_teacher(name, job.teacher_zoom, folder, found.n_labels, device) for name in job.teachers])
    if job.teachers and found.frames.shape[1:3] == (360, 480):
        teaching = replace(teaching, unlabelled=read_set(folder / "film.npz").frames)
    steps: list[int] = []
    checkpoint = out / f"{job.name}.safetensors"
    networks = train_networks(
        found.frames[~held],
        found.labels[~held],
        found.n_labels,
        recipe_of(job, device),
        lambda line: print(f"{job.name}: {line}", flush=True),
        steps.append,
        teaching=teaching,
        checkpoints=Checkpoints(checkpoint, 45.0),
        networks={"network": network_of(job, folder, found.n_labels)},
    )
    row: dict[str, Any] = {**asdict(job), "steps": len(steps), "torch": torch.__version__, "device": device}
    if device == "cuda":
        row["gpu_gb"] = torch.cuda.max_memory_allocated() / 1e9
    if held.any():
        row |= measured(networks["network"].to(device), job, found.frames[held], found.labels[held], device)
    (out / f"{job.name}.json").write_text(json.dumps(row))


def _teacher(name: str, zoom: float, folder: Path, n_labels: int, device: str) -> Teacher:
    """A teacher from a checkpoint `teachers/NAME.safetensors`, whose facts say its shape."""
    from safetensors import safe_open

    path = folder / "teachers" / f"{name}.safetensors"
    with safe_open(path, framework="pt") as file:
        rung = Rung(**json.loads(file.metadata()["budgetseg"])["rungs"][0])
    network = build(rung.shape, n_labels, published=False)
    load_checkpoint(path, {rung.name: network})
    network = network.to(device, memory_format=torch.channels_last).eval()  # type: ignore[call-overload]
    return Teacher(network, zoom)


def measured(network: nn.Module, job: Job, frames: UInt8, labels: UInt8, device: str) -> dict[str, float]:
    """Accuracy on frames that were left out, in one view, and the temperature that calibrates the network there."""
    zoom = job.zoom / job.published
    if job.published != 1:
        frames, labels = reduced(frames, labels, job.published)
    scores = network.get_submodule("scores")
    assert isinstance(scores, nn.Conv2d)
    n_labels = scores.out_channels
    confusion = np.zeros((n_labels, n_labels), np.int64)
    for planes, truth in _scored(network, zoom, frames, labels, device):
        confusion += confusion_of_pixels(truth, planes.argmax(axis=0).astype(np.uint8), n_labels)
    accuracy = accuracy_of(confusion)
    few = slice(None, None, -(-len(frames) // 40))
    shown = _scored(network, zoom, frames[few], labels[few], device)
    return {
        "miou": 100 * accuracy.miou,
        "class_average": 100 * accuracy.class_average,
        "global": 100 * accuracy.overall,
        "temperature": temperature_of(*sample_scores(shown, np.random.default_rng(0))),
    }


def reduced(frames: UInt8, labels: UInt8, share: float) -> tuple[UInt8, UInt8]:
    """Frames (N, H, W, 3) and labels (N, H, W) with smaller sides: frames by area, labels by the nearest pixel."""
    height, width = (round(share * side) for side in labels.shape[1:])
    planes = torch.from_numpy(frames).permute(0, 3, 1, 2)
    small = [interpolate(own[None].float(), size=(height, width), mode="area").round() for own in planes]
    rows = (np.arange(height) * labels.shape[1] // height)[:, None]
    columns = np.arange(width) * labels.shape[2] // width
    return torch.cat(small).to(torch.uint8).permute(0, 2, 3, 1).contiguous().numpy(), labels[:, rows, columns]


def _scored(
    network: nn.Module, zoom: float, frames: UInt8, labels: UInt8, device: str
) -> Iterator[tuple[Float32, UInt8]]:
    """Class scores (L, H, W) and labels (H, W) of each frame."""
    for frame, truth in zip(frames, labels, strict=True):
        yield class_scores(network, frame, zoom, device)[0].cpu().numpy(), truth


def run(plan: str, folder: Path, out: Path, scale: float = 1.0) -> None:
    """All jobs of a plan, a process for each; the jobs of a wave at the same time."""
    clock = WallClock()
    out.mkdir(parents=True, exist_ok=True)
    results = out / f"results-{plan}.json"
    work = Path(tempfile.mkdtemp(prefix="ladder-"))
    for wave in PLANS[plan]:
        jobs = [replace(job, seconds=scale * job.seconds) for job in wave]
        for job in jobs:
            started = folder / "resume" / f"{job.name}.safetensors"
            if started.is_file():
                shutil.copy(started, work)
        threads = str(max(1, len(os.sched_getaffinity(0)) // len(jobs)))
        places = {"PYTHONPATH": os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))}
        environment = {**os.environ, **places, "OMP_NUM_THREADS": threads, "PYTHONUNBUFFERED": "1"}
        base = [sys.executable, __file__, "job", str(folder), str(work)]
        running = [subprocess.Popen([*base, json.dumps(asdict(job))], env=environment) for job in jobs]
        end_s = clock.now_s() + max(job.seconds for job in jobs) + GRACE_S
        while (busy := [process for process in running if process.poll() is None]) and clock.now_s() < end_s:
            with suppress(subprocess.TimeoutExpired):
                busy[0].wait(timeout=20)
            collect(jobs, work, results)
        for process in running:
            process.kill()
            process.wait()
        collect(jobs, work, results)
        print(f"{clock.now_s():.0f} s: wave of {', '.join(job.name for job in jobs)} done", flush=True)
    for row in json.loads(results.read_text()):
        print(_line(row))


def collect(jobs: Sequence[Job], work: Path, results: Path) -> None:
    """Bring results and, beside them, the archives of checkpoints up to date; each appears whole or not at all."""
    found = [json.loads(path.read_text()) for path in sorted(work.glob("*.json"))]
    with atomic_file(results) as part:
        part.write_text(json.dumps(found, indent=1))
    for archive in sorted({job.kept for job in jobs} - {""}):
        names = [job.name for job in jobs if job.kept == archive]
        files = [work / f"{name}.safetensors" for name in names if (work / f"{name}.safetensors").exists()]
        if files:
            with atomic_file(results.with_name(f"{archive}.tar")) as part, tarfile.open(part, "w") as tar:
                for path in files:
                    tar.add(path, path.name)


def _line(row: dict[str, Any]) -> str:
    figures = "not measured"
    if "miou" in row:
        figures = f"mIoU {row['miou']:.1f}, class average {row['class_average']:.1f}, global {row['global']:.1f}"
    return f"{row['name']}: {row['steps']} steps, {figures}, {row.get('gpu_gb', 0):.1f} GB"


def export(folder: Path, out: Path, data: Path, to: Path, *, is_open: bool = False) -> None:
    """Checkpoints of archives in OUT as TO/DATASET/[fold-K/]NAME.onnx, for frames as published, with networks.json.

    A network that left a fold out has the temperature of that fold; one of all frames has the mean of all measured
    temperatures of its shape, in OUT/results*.json.
    """
    rows = [row for path in sorted(out.glob("results*.json")) for row in json.loads(path.read_text())]
    rungs: dict[str, list[Rung]] = {}
    for archive in sorted(out.glob("*.tar")):
        with tarfile.open(archive) as tar, tempfile.TemporaryDirectory() as place:
            tar.extractall(place, filter="data")
            for path in sorted(Path(place).glob("*.safetensors")):
                row = next(row for row in rows if row["name"] == path.stem)
                fold = row["left_out"]
                if fold and not fold.startswith("fold-"):
                    continue
                dataset = row["data"].split("_")[0]
                target = to / dataset / fold / f"{row['network']}.onnx"
                size = _export_one(path, row, _temperature(row, rows), folder, target, is_open)
                if is_open:
                    card = Card(target, longest=max(size), multiple=4)
                    target.with_suffix(".toml").write_text(card_text(card, target.name), encoding="utf-8")
                if not fold:
                    rung = Rung(row["network"], row["shape"], row["zoom"] / row["published"])
                    rungs.setdefault(dataset, []).append(rung)
    for dataset, own in rungs.items():
        write_card(dataset, data, replace(LADDER, rungs=tuple(own), device="cuda"), to / dataset)


def write_card(dataset: str, data: Path, recipe: NetworkRecipe, to: Path) -> None:
    """Write networks.json beside networks: their classes, the recipe, and the frames that they have seen."""
    from budgetseg.datasets import open_dataset
    from budgetseg.networks.fit import footage_of, network_card
    from budgetseg.networks.folds import frame_folds
    from budgetseg.networks.seen import CARD

    source = open_dataset(dataset, data / dataset)
    footage = footage_of(source.videos("train"))
    folds = frame_folds([video.labels for video in footage], 4)
    with atomic_file(to / CARD) as part:
        part.write_text(json.dumps(network_card(footage, source.classes, recipe, folds), indent=2) + "\n")


def _temperature(row: dict[str, Any], rows: Sequence[dict[str, Any]]) -> float:
    if "temperature" in row:
        return float(row["temperature"])
    like = [own["temperature"] for own in rows if own["shape"] == row["shape"] and "temperature" in own]
    return float(np.exp(np.mean(np.log(like or [1.0]))))


def _export_one(
    path: Path, row: dict[str, Any], temperature: float, folder: Path, target: Path, is_open: bool
) -> tuple[int, int]:
    """Write one network; the width and height that it was trained for."""
    from budgetseg.networks.export import export_onnx

    found = read_set(folder / f"{row['data']}.npz")
    network = build(row["shape"], found.n_labels, published=False)
    load_checkpoint(path, {"network": network})
    size = input_size((found.frames.shape[2], found.frames.shape[1]), row["zoom"])
    export_onnx(network.eval(), target, size, temperature, is_open=is_open)
    print(f"{target}: {size[0]}x{size[1]}, temperature {temperature:.3f}")
    return size


def measure_times(n_rounds: int = 10) -> None:
    """Print the milliseconds of each shape, with random weights, over those of the bundled small network."""
    import onnxruntime

    from budgetseg.models import bundled
    from budgetseg.networks.export import export_onnx
    from budgetseg.timing.clock import process_s

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    with tempfile.TemporaryDirectory() as place:
        files = {("bundled dcnn", (480, 360)): bundled("camvid", "dcnn.onnx")}
        for shape, zoom in TIMED:
            size = input_size((480, 360), zoom)
            files[shape, size] = Path(place) / f"{shape}-{size[0]}.onnx"
            export_onnx(build(shape, 11, published=False).eval(), files[shape, size], size)
        sessions = {
            key: onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
            for key, path in files.items()
        }
    spent: dict[tuple[str, tuple[int, int]], list[float]] = {key: [] for key in sessions}
    rng = np.random.default_rng(0)
    inputs = {key: rng.normal(size=(1, 3, key[1][1], key[1][0])).astype(np.float32) for key in sessions}
    for _ in range(n_rounds):
        for key, session in sessions.items():
            session.run(None, {"frames": inputs[key]})  # after the others, the first run is slower
            began_s = process_s()
            session.run(None, {"frames": inputs[key]})
            spent[key].append(1e3 * (process_s() - began_s))
    first = np.array(next(iter(spent.values()))[1:])
    for (shape, size), own in spent.items():
        ratio = np.median(np.array(own[1:]) / first)
        print(f"{shape} at {size[0]}x{size[1]}: {np.median(own[1:]):.1f} ms, ratio {ratio:.2f}")


def main(command: str, *words: str) -> None:
    """Run one of the commands of the usage."""
    places = [Path(word) for word in words]
    if command == "prepare":
        prepare(places[0], places[1])
    elif command == "run":
        run(words[0], places[1], places[2], *map(float, words[3:]))
    elif command == "job":
        fields = json.loads(words[2])
        run_job(Job(**{**fields, "teachers": tuple(fields["teachers"])}), places[0], places[1])
    elif command == "export":
        export(places[0], places[1], places[2], places[3], is_open="open" in words[4:])
    elif command == "time":
        measure_times()
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(*sys.argv[1:] or ["help"])
