"""A small player for notebooks: labels over frames, with a slider for the budget, as one piece of HTML."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files

import cv2
import numpy as np

from budgetseg.types import Classes, UInt8
from budgetseg.video.data_url import labels_url, photo_url
from budgetseg.video.read import VideoSource, fitted

__all__ = ["PlayerSettings", "player_html"]


@dataclass(frozen=True)
class PlayerSettings:
    """Settings of the player.

    Attributes
    ----------
    most_frames : frames of a longer video are evenly spaced; 40 at three budgets are about 1 MB
    width : pixels of a row, at most
    controls : pixels of height that buttons and the key of classes take
    """

    most_frames: int = 40
    width: int = 360
    controls: int = 150


def player_html(
    source: VideoSource | None,
    labels: Sequence[UInt8],
    names: Sequence[str],
    classes: Classes,
    settings: PlayerSettings | None = None,
) -> str:
    """A player of labels over their video, in a frame of its own that loads nothing.

    Parameters
    ----------
    source : the video; None to show labels alone
    labels : (T, H, W) for each budget
    names : of the budgets
    classes : names and colours of the labels
    settings : size of the player
    """
    settings = settings or PlayerSettings()
    n_frames, height, width = labels[0].shape
    step = -(-n_frames // settings.most_frames)
    numbers = range(0, n_frames, step)
    columns = min(width, settings.width)
    size = columns, max(1, round(height * columns / width))
    found = np.bincount(np.concatenate([one[numbers].ravel()[::97] for one in labels]), minlength=256)[: len(classes)]
    data = {
        "frames": [] if source is None else [photo_url(fitted(one.pixels, size)) for one in source.pick(numbers)],
        "labels": [[_label_url(one[t], classes, size) for t in numbers] for one in labels],
        "budgets": list(names),
        "numbers": list(numbers),
        "rate": (25.0 if source is None else source.rate) / step,
        "classes": [
            [classes.names[k], "#" + bytes(classes.colours[k].tolist()).hex()]
            for k in np.argsort(-found, kind="stable").tolist()
            if found[k]
        ],
    }
    text = json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")
    page = (files(__package__) / "player.html").read_text(encoding="utf-8").replace("{{data}}", text)
    most = 2 * settings.width
    tall = size[1] * most // columns + settings.controls
    style = f"width:100%;max-width:{most}px;height:{tall}px;border:0"
    return f'<iframe srcdoc="{escape(page)}" sandbox="allow-scripts" style="{style}" title="Labels"></iframe>'


def _label_url(labels: UInt8, classes: Classes, size: tuple[int, int]) -> str:
    small = np.asarray(cv2.resize(labels, size, interpolation=cv2.INTER_NEAREST), np.uint8)
    return labels_url(small, classes.colours)
