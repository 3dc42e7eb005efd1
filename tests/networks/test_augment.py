"""Random views of labelled frames."""

import torch

from budgetseg.networks.augment import random_views
from budgetseg.types import IGNORE


def views(seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    frames = torch.zeros(8, 3, 40, 60)
    frames[:, :, :, 30:] = 1.0
    labels = torch.zeros(8, 40, 60, dtype=torch.uint8)
    labels[:, :, 30:] = 1
    labels[:, 10:12] = IGNORE
    return random_views(frames, labels, torch.Generator().manual_seed(seed))


def test_labels_move_with_the_picture() -> None:
    frames, labels = views(0)
    bright, dark = frames.mean(1)[labels == 1], frames.mean(1)[labels == 0]
    assert bright.median() > dark.median() + 0.4


def test_nothing_but_classes_and_ignored_comes_out() -> None:
    _, labels = views(1)
    assert set(labels.flatten().tolist()) == {0, 1, IGNORE}


def test_the_seed_decides_the_views() -> None:
    assert torch.equal(views(2)[0], views(2)[0])
    assert not torch.equal(views(2)[0], views(3)[0])
