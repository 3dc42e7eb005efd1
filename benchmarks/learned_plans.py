"""Whether a learned policy plans better than the rule, in simulation, on sources that it has not seen.

Usage: python -m benchmarks.learned_plans DATA

A candidate is a network and a way of carrying; strides, key frames and edges are the best for it by the rule. All
candidates are rolled out: the engine runs over recorded answers with no other choice, by a clock that is charged with
stated prices, at budgets of `MS` milliseconds a frame. The policy is linear in logarithms of a few features of each
candidate, the rule's own score among them, and fitted to what rollouts gained (ridge regression within each video and
budget). It is judged on groups of videos that it has not learned from: SUNY's training halves, CamVid's training
sequences (labels, unseeing networks), film (the dearest network for the truth); and on each video after learning from
the others of its group. Nothing is drawn at random.

Printed: mean IoU of the rule and of the candidate that it ends with, and paired differences to that candidate: of the
learned policy's, and of the best one in hindsight. Means over budgets, with half of the 95 % interval over videos.
"""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import product
from pathlib import Path

import numpy as np

from benchmarks.adapted import FILM_S, NETWORK_S, film_tables, labelled, space_of
from benchmarks.families import PRICES, family_tables
from benchmarks.key_frames import Table, miou
from budgetseg.engine.plan import Plan
from budgetseg.engine.request import Request
from budgetseg.engine.window import Window
from budgetseg.evaluation.summary import Mean
from budgetseg.spaces.frames.costs import COPY
from budgetseg.spaces.frames.plan import Options, choose
from budgetseg.spaces.frames.settings import Losses
from budgetseg.spaces.frames.space import Frames
from budgetseg.spaces.frames.state import FrameState
from budgetseg.timing.ledger import Account
from budgetseg.types import Float64
from budgetseg.video import VideoSource

MS = (3, 8, 20)
RIDGE = 1.0
"""Weight of the squared weights, where features have a variance of 1."""
Candidate = tuple[str, str]
"""A network and a way of carrying."""


@dataclass(frozen=True, eq=False)
class Seen:
    """What there was to choose from once frames were read.

    Attributes
    ----------
    options : networks and ways of carrying among them
    left_s : seconds
    state : of the window
    """

    options: Options
    left_s: float
    state: "Watched"


@dataclass(frozen=True, eq=False)
class WatchedFrames(Frames):
    """The space, with a list of what each of its windows had to choose from."""

    seen: list[Seen] = field(default_factory=list)

    def open(self, window: Window, video: VideoSource, request: Request, plan: Plan, account: Account) -> FrameState:  # noqa: ARG002
        """The state of a window."""
        return Watched(self, window, video.rate, Plan(plan.n_frames, plan.size), account)


@dataclass(frozen=True, eq=False)
class ForcedFrames(Frames):
    """The space, with one candidate alone to choose from."""

    only: Candidate = ("", "")

    def open(self, window: Window, video: VideoSource, request: Request, plan: Plan, account: Account) -> FrameState:  # noqa: ARG002
        """The state of a window."""
        return Forced(self, window, video.rate, Plan(plan.n_frames, plan.size), account)


class Watched(FrameState):
    """A state that notes what there is to choose from."""

    def _choose(self, end_s: float, decoding: float) -> Plan | None:
        assert isinstance(self._space, WatchedFrames)
        if decoding == 0.0:
            self._space.seen.append(Seen(self._options(), end_s - self._account.clock.now_s(), self))
        return super()._choose(end_s, decoding)

    def best(self, options: Options, left_s: float) -> Plan | None:
        """The best plan of some options."""
        return choose(options, left_s, self._costs, self._space.settings, self.margins)


class Forced(FrameState):
    """A state with one candidate alone."""

    def _options(self, decoding: float = 0.0) -> Options:
        assert isinstance(self._space, ForcedFrames)
        found = super()._options(decoding)
        network, carry = self._space.only
        carries = [own for own in found.carries if own == carry] or found.carries
        networks = [own for own in found.networks if own == network] or found.networks
        return replace(found, networks=networks, carries=carries)


@dataclass(frozen=True, eq=False)
class Choice:
    """A video at a budget: its candidates, and what came of them.

    Attributes
    ----------
    video : its name
    features : (C, F) of the candidates
    outcomes : (C,) mean IoU of each
    ruled : number of the candidate that the rule ends with
    rule : mean IoU of the rule itself, which also looks for what networks are worth
    """

    video: str
    features: Float64
    outcomes: Float64
    ruled: int
    rule: float


def choice_of(table: Table, prices_s: Mapping[str, float], ms: float) -> Choice | None:
    """Roll out every candidate of a video at a budget; None where there is no choice."""
    space = space_of(table, prices_s, Losses())
    parts = {own.name: getattr(space, own.name) for own in fields(space)}
    watched = WatchedFrames(**parts)
    ruled = labelled(watched, table, ms)
    if not watched.seen:
        return None
    seen = watched.seen[0]
    candidates, features, outcomes = [], [], []
    for candidate in product(seen.options.networks, seen.options.carries):
        network, carry = candidate
        plan = seen.state.best(replace(seen.options, networks=[network], carries=[carry]), seen.left_s)
        if plan is not None:
            candidates.append(candidate)
            features.append(features_of(plan, seen.options, prices_s))
            outcomes.append(miou(table, labelled(ForcedFrames(**parts, only=candidate), table, ms).labels))
    asked = {name: entry.count for name, entry in ruled.ledger.sources.items()}
    taken = max(asked, key=lambda name: asked[name]), ruled.windows[0].finishes[-1].carry
    if taken not in candidates or len(candidates) < 2:
        return None
    rule = miou(table, ruled.labels)
    return Choice(table.name, np.array(features), np.array(outcomes), candidates.index(taken), rule)


def features_of(plan: Plan, options: Options, prices_s: Mapping[str, float]) -> list[float]:
    """Of a candidate's best plan."""
    share = plan.n_keys / options.n_frames
    gap = options.distance / share
    ratio = prices_s[plan.network] / min(prices_s.values())
    is_copied = float(plan.carry == COPY)
    return [
        plan.score,
        np.log(share),
        np.log1p(gap),
        np.log(ratio),
        is_copied,
        is_copied * np.log1p(gap),
        np.log(ratio) * np.log1p(gap),
        float(plan.edges),
        np.log(plan.stride),
    ]


def learned(choices: Sequence[Choice]) -> Float64:
    """Weights (F,) that tell by how much candidates of one video and budget differ."""
    x = np.concatenate([own.features - own.features.mean(axis=0) for own in choices])
    y = np.concatenate([own.outcomes - own.outcomes.mean() for own in choices])
    scale = np.maximum(x.std(axis=0), 1e-6)
    x = x / scale
    weights = np.linalg.solve(x.T @ x + RIDGE * np.eye(x.shape[1]), x.T @ y)
    return np.asarray(weights / scale, np.float64)


def judge(choices: Sequence[Choice], weights: Float64) -> tuple[str, list[float], list[float]]:
    """A row of a table, and by video how far the learned candidate and the best one are from that of the rule."""
    by_video: dict[str, list[tuple[float, float]]] = {}
    for own in choices:
        taken = own.outcomes[int(np.argmax(own.features @ weights))]
        base = own.outcomes[own.ruled]
        by_video.setdefault(own.video, []).append((taken - base, own.outcomes.max() - base))
    means = np.array([np.mean(rows, axis=0) for rows in by_video.values()])
    gains, ceilings = means[:, 0].tolist(), means[:, 1].tolist()
    rule = np.mean([own.rule for own in choices])
    forced = np.mean([own.outcomes[own.ruled] for own in choices])
    return f"{len(by_video)} | {rule:.1f} | {forced:.1f} | {_show(gains)} | {_show(ceilings)}", gains, ceilings


def _show(gains: Sequence[float]) -> str:
    mean = Mean.of(gains)
    return f"{mean.value:+.2f}" + ("" if mean.within is None else f" ± {mean.within:.2f}")


def main(data: Path) -> None:
    """Roll out, learn, judge and print."""
    family_s = {name: NETWORK_S * times for name, times in PRICES.items()}
    groups: dict[str, list[Choice]] = {}
    for group in ("suny", "camvid", "film"):
        tables = film_tables(data) if group == "film" else family_tables(data, group)
        prices_s = FILM_S if group == "film" else family_s
        found = [choice_of(table, prices_s, ms) for table in tables for ms in MS]
        groups[group] = [own for own in found if own is not None]
        print(f"{group}: {len(groups[group])} choices", flush=True)
    print("\n| left out | videos | rule | its candidate | learned | best in hindsight |\n|---|---|---|---|---|---|")
    gains: list[float] = []
    ceilings: list[float] = []
    for group, own in groups.items():
        weights = learned([choice for other, choices in groups.items() if other != group for choice in choices])
        line, more, most = judge(own, weights)
        gains += more
        ceilings += most
        print(f"| {group} | {line} |")
    print(f"| all | {len(gains)} | | | {_show(gains)} | {_show(ceilings)} |")
    print("\n| one video left out of | learned |\n|---|---|")
    gains = []
    for group, own in groups.items():
        left_out: list[float] = []
        for video in dict.fromkeys(choice.video for choice in own):
            weights = learned([choice for choice in own if choice.video != video])
            left_out += judge([choice for choice in own if choice.video == video], weights)[1]
        gains += left_out
        print(f"| {group} | {_show(left_out)} |")
    print(f"| all | {_show(gains)} |")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
