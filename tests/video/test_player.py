"""The player of a notebook has the labels of every budget, in one piece that loads nothing."""

import json
import re
from base64 import b64decode
from html import unescape
from typing import Any

import cv2
import numpy as np

from budgetseg.types import Classes, UInt8
from budgetseg.video import VideoSource
from budgetseg.video.arrays import ArrayClip
from budgetseg.video.core import Span
from budgetseg.video.player import PlayerSettings, player_html
from budgetseg.video.png import decode_image

CLASSES = Classes.of(["road", "sky", "</script>"])


def labels_of(n_frames: int, seed: int) -> UInt8:
    return np.random.default_rng(seed).integers(0, 2, (n_frames, 12, 20), np.uint8)


def page_of(html: str) -> str:
    found = re.fullmatch(r'<iframe srcdoc="([^"]*)" sandbox="allow-scripts" .*></iframe>', html, re.DOTALL)
    assert found
    return unescape(found[1])


def data_of(page: str) -> dict[str, Any]:
    found = re.search(r'id="data">(.*?)</script>', page, re.DOTALL)
    assert found
    data: dict[str, Any] = json.loads(found[1])
    return data


def test_every_budget_has_its_labels() -> None:
    budgets = [labels_of(3, seed) for seed in range(2)]
    data = data_of(page_of(player_html(None, budgets, ["1 s", "2 s"], CLASSES)))
    assert data["budgets"] == ["1 s", "2 s"]
    assert data["frames"] == []
    for shown, labels in zip(data["labels"], budgets, strict=True):
        for url, own in zip(shown, labels, strict=True):
            colours = decode_image(b64decode(url.split(",")[1]), cv2.IMREAD_COLOR)
            assert colours is not None
            assert np.array_equal(colours[..., ::-1], CLASSES.colours[own])


def test_frames_of_a_long_video_are_evenly_spaced_and_small() -> None:
    pixels = np.zeros((95, 12, 20, 3), np.uint8)
    source = VideoSource(ArrayClip(pixels), Span(), (20, 12))
    settings = PlayerSettings(most_frames=10, width=10)
    data = data_of(page_of(player_html(source, [labels_of(95, 0)], ["1 s"], CLASSES, settings)))
    assert data["numbers"] == list(range(0, 95, 10))
    assert len(data["frames"]) == len(data["labels"][0]) == 10
    assert data["rate"] == 2.5


def test_nothing_is_loaded_and_no_name_ends_the_script() -> None:
    labels = np.full((1, 12, 20), 2, np.uint8)
    page = page_of(player_html(None, [labels], ["1 s"], CLASSES))
    assert "default-src 'none'" in page
    assert not re.findall(r"https?://", page)
    assert data_of(page)["classes"][0][0] == "</script>"
