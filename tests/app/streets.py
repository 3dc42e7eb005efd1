"""A model that knows nothing of the world but runs like any other, and streets for it to label."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from budgetseg.datasets.synthetic import CLASSES, render
from budgetseg.descriptors.registry import BUILT_IN
from budgetseg.models.bundle import Model, save_model
from budgetseg.video import write_overlay
from tests.models.made import random_model

N_FRAMES = 12
SIZE = (96, 64)


def street_model(descriptors: tuple[str, ...] = ("colour", "hog"), seed: int = 0) -> Model:
    """A model with descriptors of the true lengths and classes of the rendered world."""
    model = random_model({name: BUILT_IN[name]().length for name in descriptors}, CLASSES, seed=seed)
    h, crf = model.classifiers, model.crf
    # Supervoxels differ by what is computed for them, and neighbours do not talk each other out of it.
    scale = np.repeat(np.array([1, *[0.02] * len(descriptors)], np.float32), h.lengths)
    h = replace(h, centre=0 * h.centre, scale=scale, bias=0 * h.bias)
    return replace(model, classifiers=h, crf=replace(crf, pair=0.1 * crf.pair, unary_bias=0 * crf.unary_bias))


def write_model(folder: Path, descriptors: tuple[str, ...] = ("colour", "hog"), seed: int = 0) -> Path:
    """Such a model in a folder."""
    save_model(street_model(descriptors, seed), folder)
    return folder


def write_networks(folder: Path, n_labels: Mapping[str, int]) -> Path:
    """Networks that mix colours at random, by name, each with so many classes."""
    from tests.networks.models import save_mixer  # needs onnx

    folder.mkdir(parents=True)
    for name, n in n_labels.items():
        weights = np.random.default_rng(0).normal(size=(n, 3)).astype(np.float32)
        save_mixer(folder / f"{name}.onnx", weights, (1, 3, SIZE[1], SIZE[0]), stride=4)
        (folder / f"{name}.toml").write_text('output = "scores"\n')
    return folder


def write_seeing_model(folder: Path) -> Path:
    """A model with one network, which lies beside it."""
    lengths = {"dcnn": len(CLASSES)}
    networks = write_networks(folder.with_name(f"{folder.name}-networks"), lengths)
    save_model(random_model(lengths, CLASSES, networks), folder)
    return folder


def write_street(path: Path, n_frames: int = N_FRAMES, size: tuple[int, int] = SIZE, seed: int = 1) -> Path:
    """A rendered street as a video file."""
    video, _ = render(seed, n_frames, size)
    write_overlay(path, video, rate=25.0)
    return path
