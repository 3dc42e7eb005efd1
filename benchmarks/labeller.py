"""Labels videos by one method after the other, as `benchmarks.decisions` asks: one JSON line in, one out.

Usage: python benchmarks/labeller.py TIMES. Networks run so many times for each answer: they are as dear as larger ones.

It imports nothing of `benchmarks`, so that a checkout on PYTHONPATH is what labels. A line asks for prices,
{"case": FOLDER, "keys": [2, 4], "threads": 2}: seconds of a unit of each kind of work ("rates", measured unless the
line has them), and of so many key frames for each 100 frames with all frames read and carried to along flow. Or it asks
for labels, {"case": FOLDER, "method": NAME, "budget_s": SECONDS, "labels": FILE}. With "rates" as well, the run is
simulated: they alone are charged, one thread works, and it is always the same.
"""

import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from budgetseg.baselines.keyframe_plan import COPY, FLOW, KeyframeCosts, KeyframeSettings, plan_keyframes
from budgetseg.baselines.keyframes import KeyframeLabeller, key_frames, label_keyframes_within, measure_costs
from budgetseg.engine.request import Request
from budgetseg.engine.run import run
from budgetseg.engine.window import Reader
from budgetseg.networks.card import read_card
from budgetseg.networks.run import OnnxNetwork
from budgetseg.propagate.fusion import n_sources
from budgetseg.spaces.frames import warm_up
from budgetseg.spaces.frames.space import Frames
from budgetseg.timing.clock import Clock, CostClock, WallClock
from budgetseg.timing.prices import Prices
from budgetseg.types import Budget, Classes, Float32, UInt8
from budgetseg.video import VideoSource, read_image
from budgetseg.video.core import Span
from budgetseg.video.images import ImageFolder

Row = dict[str, Any]
Rates = Mapping[str, float]
Found = tuple[UInt8, int, str]
"""Labels (T, H, W), how often networks were asked, and how predictions came to other frames."""
Label = Callable[[float], Found]
"""From a budget in seconds."""

CORES = os.cpu_count() or 1
WORKS = ("looking", "flow", "fusing", "pixels", "edges", "copies")
"""Kinds of work of the frames space that have prices, beside networks and decoding."""
WARM_RUNS = 2
"""Runs before a method is timed on a video, so that prices follow it."""
ROUNDS = 3
"""Times that prices are measured, of which the least count: other programs can only raise them."""


class Folded:
    """A network that is one file for some frames and another for others, told apart by their pixels."""

    def __init__(self, files: Sequence[Path], frames: Sequence[Path], times: int) -> None:
        opened = {file: OnnxNetwork(read_card(file), 1) for file in dict.fromkeys(files)}
        self._networks = list(opened.values())
        self._of = {}
        if len(opened) > 1:
            self._of = {_key(read_image(frame)): opened[file] for frame, file in zip(frames, files, strict=True)}
        self._times = times
        self.shape = self._networks[0].shape

    def __call__(self, frame: UInt8) -> Float32:
        """Probabilities (h, w, L) of a frame (H, W, 3)."""
        for _ in range(self._times - 1):
            self.once(frame)
        return self.once(frame)

    def once(self, frame: UInt8) -> Float32:
        """The same, at the price of the file."""
        network = self._of.get(_key(frame), self._networks[0]) if self._of else self._networks[0]
        return network(frame)

    def cut_off(self) -> None:
        """Let every call that is under way end with LateError."""
        for network in self._networks:
            network.cut_off()


class Remembered:
    """A network that is asked about each frame once, for runs whose time is simulated."""

    def __init__(self, network: Folded) -> None:
        self.shape = network.shape
        self._network = network
        self._known: dict[int, Float32] = {}

    def __call__(self, frame: UInt8) -> Float32:
        """Probabilities (h, w, L) of a frame (H, W, 3)."""
        key = _key(frame)
        if key not in self._known:
            self._known[key] = self._network.once(frame)
        return self._known[key]

    def cut_off(self) -> None:
        """Nothing is ever under way."""


def _key(frame: UInt8) -> int:
    return hash(np.ascontiguousarray(frame[::9, ::9]).tobytes())


class Opened:
    """A case that is ready to be labelled by any method."""

    def __init__(self, folder: Path, known: dict[str, Prices], times: int) -> None:
        card = json.loads((folder / "case.json").read_text())
        files = tuple(map(Path, card["files"]))
        size = tuple(card["size"])
        self.source = VideoSource(ImageFolder(files[0].parent, files, size, card["rate"]), Span(), size)
        self.n_frames = len(files)
        networks = {name: Folded(list(map(Path, own)), files, times) for name, own in card["networks"].items()}
        shares = np.array(card["shares"], np.float32)
        self._unpriced = Frames(networks, shares, known.setdefault(card["dataset"], Prices()), CORES)
        n_labels = len(shares)
        self.classes = Classes(tuple(map(str, range(n_labels))), np.zeros((n_labels, 3), np.uint8))
        self._networks = networks
        self._methods: dict[str, Label] = {}
        self._remembered: dict[str, Remembered] = {}

    @cached_property
    def space(self) -> Frames:
        """The frames space with what its work costs on this machine."""
        space = self._unpriced
        if space.costs(1).key("pixels") not in space.prices:
            warm_up.warm_up(space)
        warm_up.calibrate(space)
        return _by_price(space)

    def ready(self, method: str, budget_s: float) -> Label:
        """A method; the first time after some runs that nobody sees."""
        if method not in self._methods:
            self._methods[method] = self._method(method)
            for _ in range(WARM_RUNS):
                self._methods[method](budget_s)
        return self._methods[method]

    def _method(self, name: str) -> Label:
        if name.startswith("frames"):
            return self._by_frames(_spread(self.space, name))
        network = self.space.networks_in_order[_place(name)]
        settings = _settings(name)
        costs = measure_costs(network, self.source.size, threads=CORES, settings=settings)

        def label(budget_s: float) -> Found:
            done = label_keyframes_within(self.source, network, budget_s, costs, threads=CORES, settings=settings)
            return done.labels, len(done.keys), FLOW if done.frames[FLOW] else COPY

        return label

    def _by_frames(self, space: Frames) -> Label:
        return lambda budget_s: self._run(space, budget_s, WallClock())

    def _run(self, space: Frames, budget_s: float, clock: Clock) -> Found:
        (result,) = run(space, self.source, Request((Budget(budget_s),)), self.classes, clock)
        n_asked = sum(len(window.events) for window in result.windows)
        n_read = sum(len(window.read) for window in result.windows)
        carries = {window.finishes[-1].carry for window in result.windows}
        return result.labels, n_asked, f"{', '.join(sorted(carries))}, {n_read} read"

    # Prices

    def rates(self) -> dict[str, float]:
        """Seconds of a unit of each kind of work on this video, of one thread."""
        found: list[dict[str, float]] = []
        for _ in range(ROUNDS):
            prices = Prices()
            space = replace(self.space, prices=prices)
            warm_up.calibrate(space)
            read_s = self._read_s()
            self._by_frames(space)(4 * read_s)
            costs = space.costs(1)
            keys = [costs.key(work) for work in (*space.sources, *WORKS)]
            reader = Reader(self.source, CORES)
            own = {key: prices.usual(key, 1.0) for key in keys}
            found.append(own | {reader.key: CORES * read_s / reader.work(self.n_frames)})
        return {key: min(own[key] for own in found) for key in found[0]}

    def seconds(self, rates: Rates, per_hundred: Sequence[int], threads: int) -> dict[str, float]:
        """What so many key frames of the cheapest network for each 100 frames take, with everything that is due."""
        width, height = self.source.size
        space = self._priced(rates, threads)
        costs = space.costs(width * height)
        n = self.n_frames
        read_s = Reader(self.source, threads).predict_s(space.prices, n)
        ready_s = read_s + costs.look_s(n) + costs.flow_s(n - 1)
        found = {}
        for share in per_hundred:
            n_keys = max(1, round(share * n / 100))
            n_fused = n_sources(n, n_keys, space.settings.propagation.reach, 1.0)
            end_s = costs.finish_s(n, n_keys, n_fused, FLOW, 0)
            found[str(share)] = ready_s + n_keys * costs.network_s(space.sources[0]) / threads + end_s
        return found

    def _priced(self, rates: Rates, threads: int) -> Frames:
        """The space with these prices, which stay as they are. Decoding has a price for all threads together."""
        key = Reader(self.source, threads).key
        prices = Prices({**rates, key: rates[key] / threads}, frozen=True)
        return _by_price(replace(self._unpriced, prices=prices, threads=threads))

    def _read_s(self) -> float:
        clock = WallClock()
        for _ in Reader(self.source, CORES).read(range(self.n_frames)):
            pass
        return clock.now_s()

    # Simulated

    def simulated(self, method: str, budget_s: float, rates: Rates) -> tuple[Found, float]:
        """What a method finds, and in how many seconds, where nothing but prices is charged."""
        space = self._priced(rates, 1)
        if not self._remembered:
            self._remembered = {name: Remembered(own) for name, own in self._networks.items()}
        space = replace(space, networks={name: self._remembered[name] for name in space.sources})
        if method.startswith("frames"):
            clock = CostClock()
            return self._run(_spread(space, method), budget_s, clock), clock.now_s()
        return self._simulated_key_frames(method, budget_s, space)

    def _simulated_key_frames(self, method: str, budget_s: float, space: Frames) -> tuple[Found, float]:
        """Even key frames, as many as the plan of the baseline has."""
        settings = _settings(method)
        place = _place(method)
        width, height = self.source.size
        costs = space.costs(width * height)
        frame_s = Reader(self.source, 1).predict_s(space.prices, 1)
        read_s = self.n_frames * frame_s if settings.flow_worth else 0.0
        ask_s = costs.network_s(space.sources[place]) + costs.paint_s(1) + (0.0 if settings.flow_worth else frame_s)
        carry_s = costs.flow_s(1) + costs.fuse_s(2) + costs.paint_s(1)
        left_s = (1 - settings.reserve) * max(budget_s - read_s, 1e-9)
        plan = plan_keyframes(self.n_frames, left_s, KeyframeCosts(ask_s, carry_s, costs.copy_s(1)), settings=settings)
        frames = self.source.read().frames
        with KeyframeLabeller(frames, space.networks_in_order[place]) as labeller:
            labeller.advance(key_frames(self.n_frames, plan.n_keys), plan.carry)
            labeller.finish(plan.carry)
        return (labeller.labels, plan.n_keys, plan.carry), read_s + plan.foreseen_s


def _by_price(space: Frames) -> Frames:
    """With networks from the cheapest to the dearest."""
    names = sorted(space.networks, key=lambda name: space.costs(1).network_s(name))
    return replace(space, networks={name: space.networks[name] for name in names})


def _spread(space: Frames, method: str) -> Frames:
    """The space of a method: its key frames are even, or follow what changes."""
    if method == "frames":
        return space
    settings = space.settings
    return replace(space, settings=replace(settings, distances=replace(settings.distances, even=True)))


def _place(method: str) -> int:
    """Of a baseline's network, in the order of prices."""
    return -1 if method.endswith("-large") else 0


def _settings(method: str) -> KeyframeSettings:
    return KeyframeSettings(flow_worth=0.0 if method.startswith("every-frame") else KeyframeSettings.flow_worth)


def answer(opened: Opened, asked: Row) -> Row:
    """What one line asks for."""
    if "keys" in asked:
        rates = asked.get("rates") or opened.rates()
        budgets_s = opened.seconds(rates, asked["keys"], asked["threads"])
        return {"rates": rates, "budgets_s": budgets_s}
    if "rates" in asked:
        (labels, n_asked, carry), spent_s = opened.simulated(asked["method"], asked["budget_s"], asked["rates"])
    else:
        label = opened.ready(asked["method"], asked["budget_s"])
        clock = WallClock()
        labels, n_asked, carry = label(asked["budget_s"])
        spent_s = clock.now_s()
    np.save(asked["labels"], labels)
    return {"spent_s": spent_s, "n_asked": n_asked, "carry": carry}


def main(times: int) -> None:
    """Answer lines until there are none."""
    opened: dict[str, Opened] = {}
    known: dict[str, Prices] = {}
    for line in sys.stdin:
        asked = json.loads(line)
        if asked["case"] not in opened:
            if "method" in asked and "rates" in asked:
                opened.clear()  # what is remembered of a video takes much memory
            opened[asked["case"]] = Opened(Path(asked["case"]), known, times)
        print(json.dumps(answer(opened[asked["case"]], asked)), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]))
