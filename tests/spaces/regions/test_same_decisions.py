"""A run of the regions space takes the decisions of the compiled simulator, one by one.

Both see the same supervoxels, prices and probabilities. The simulator looks the probabilities up in a table that was
made before; the run computes descriptors and asks H. Prices are powers of two, so that seconds add up without rounding.
The table is made by what asks H in a run, to the last bit: orders by confidence compare supervoxels that have one
neighbour in common, and so differ by rounding alone.
"""

from dataclasses import replace

import numpy as np
import pytest

from budgetseg.classifiers.samples import place_of
from budgetseg.descriptors.core import Scene
from budgetseg.descriptors.live import LiveDescriptors
from budgetseg.descriptors.measure import measure
from budgetseg.descriptors.prices import price
from budgetseg.descriptors.registry import BUILT_IN
from budgetseg.descriptors.table import VideoTable
from budgetseg.engine.request import Request
from budgetseg.engine.result import Result
from budgetseg.policy.episode import Chooser, Episode, Selection
from budgetseg.policy.features import n_features
from budgetseg.policy.linear import LinearPolicy, plan_policy, random_policy
from budgetseg.policy.state import world_of
from budgetseg.policy.steps import ORDERS
from budgetseg.simulate import Arena, play
from budgetseg.simulate.simulate import no_times
from budgetseg.spaces.regions.evidence import RegionEvidence
from budgetseg.spaces.regions.settings import RegionSettings
from budgetseg.spaces.regions.space import Regions
from budgetseg.spaces.regions.worker import Worker
from budgetseg.timing.clock import CostClock
from budgetseg.timing.margins import Margins
from budgetseg.timing.prices import FIELDS, Prices
from budgetseg.types import Action, Batch, Float32
from tests.spaces.regions.worlds import NAMES, label, model_of, rates_of, request_of, space_of, street, video_of

FRAMES = street(8)
MODEL = model_of(scale=0.1)
D, L = len(NAMES), MODEL.classifiers.n_labels
DENSITY = 12.0
ASKING_S = 2.0**-19
CALLS = {"colour": 2.0**-12, "hog": 2.0**-11, "hog cells": 2.0**-9}
"""Seconds of a call, whatever its work."""


def learned(extended: bool, seed: int, noise: float = 0.0) -> LinearPolicy:
    """Weights that nobody learned."""
    shape = D + 1, n_features(D, L, extended)
    return LinearPolicy(np.random.default_rng(seed).normal(size=shape).astype(np.float32), extended, noise)


POLICIES = {
    "plan": plan_policy([0, 1], D, L),
    "random": random_policy(D, L),
    "paper": learned(False, 0),
    "extended": learned(True, 1),
    "noisy": learned(True, 2, noise=0.5),
}


def prices() -> Prices:
    lines = {name: np.array([seconds, 0.0, *[1.0] * (len(FIELDS) - 2)]) for name, seconds in CALLS.items()}
    return Prices(rates_of() | {"asking H": ASKING_S}, lines, frozen=True)


class Watched:
    """A policy that remembers how many seconds were left whenever it was asked."""

    def __init__(self, policy: Chooser) -> None:
        self.left_s: list[float] = []
        self._policy = policy

    def __call__(self, episode: Episode, n: int = 1, most_s: float = np.inf) -> Batch:
        self.left_s.append(episode.left_s)
        return self._policy(episode, n, most_s)


def space_with(policy: Chooser, selection: Selection) -> Regions:
    """A space that decides one action at a time, with nothing kept back."""
    return space_of(
        MODEL,
        prices=prices(),
        strategy=lambda _: (policy, selection),
        margins=Margins(action=1.0),
        settings=RegionSettings(batch=1),
    )


@pytest.fixture(scope="module")
def scene() -> Scene:
    """The supervoxels that runs make of the video."""
    policy = POLICIES["plan"]
    (result,) = label(space_with(policy, Selection()), video_of(FRAMES), request_of(np.inf, density=DENSITY))
    (evidence,) = result.evidence
    assert isinstance(evidence, RegionEvidence)
    return Scene.of(FRAMES, evidence.supervoxels)


@pytest.fixture(scope="module")
def table(scene: Scene) -> VideoTable:
    """All descriptors of the video, at the prices of the runs."""
    descriptors = [BUILT_IN[name]() for name in NAMES]
    values, _ = measure(scene, descriptors)
    costs = price(scene, descriptors, prices())
    costs = replace(costs, private_s=costs.private_s + ASKING_S)
    truth = np.zeros((len(scene.supervoxels), L), np.int64)
    return VideoTable("street", len(FRAMES), scene.supervoxels.graph, truth, values, costs, {})


@pytest.fixture(scope="module")
def arena(scene: Scene, table: VideoTable) -> Arena:
    """The video as the simulator sees it."""
    return Arena.of(MODEL, table, probabilities=asked_of_all_subsets(scene))


def asked_of_all_subsets(scene: Scene) -> Float32:
    """H's probabilities for every subset of descriptors, (N, 2^D, L), as a run asks for them."""
    h, n = MODEL.classifiers, len(scene.supervoxels)
    live = LiveDescriptors(scene, [BUILT_IN[name]() for name in NAMES], prices())
    worker = Worker(live, h, CostClock())
    world = world_of(scene.supervoxels.graph, price(scene, list(live.descriptors.values()), prices()))
    episode = Episode.begin(world, L, np.inf)
    probabilities = np.zeros((n, 1 << D, L), np.float32)
    for subset in range(1, 1 << D):  # those with fewer descriptors come first
        d = subset.bit_length() - 1
        episode.state.subsets[:] = subset & ~(1 << d)
        batch = Batch(np.arange(n), np.full(n, d), np.zeros(n))
        probabilities[:, subset] = worker(episode, batch).values
    return probabilities


def simulated(
    arena: Arena, policy: LinearPolicy, selection: Selection, budget_s: float, seed: int
) -> tuple[Episode, list[Action]]:
    """What the compiled simulator does, in order."""
    episode = arena.begin(budget_s, NAMES, selection, seed)
    times_s = no_times(episode)
    play(episode, arena.probabilities, policy, times_s)
    when = times_s.ravel()
    cells = [int(cell) for cell in np.argsort(when, kind="stable") if np.isfinite(when[cell])]
    assert len(np.unique(when[cells])) == len(cells)
    return episode, [Action(*divmod(cell, D)) for cell in cells]


def actions_of(result: Result) -> list[Action]:
    return [Action(event.place, event.source) for event in result.windows[0].events]


def check_same(result: Result, episode: Episode, expected: list[Action]) -> None:
    """The same actions in the same order, and the same state at the end."""
    found = actions_of(result)
    differing = [k for k, (one, other) in enumerate(zip(found, expected, strict=False)) if one != other]
    assert not differing, f"decision {differing[0]} of {len(expected)}"
    assert len(found) == len(expected)
    (evidence,) = result.evidence
    assert isinstance(evidence, RegionEvidence)
    assert np.array_equal(evidence.subsets, episode.state.subsets)
    assert result.ledger.decisions == episode.n_decisions
    spent_s = [event.spent_s for event in result.windows[0].events]
    assert sum(spent_s) == episode.state.scalars.spent_s


def descriptors_for(budget_s: float, seed: int = 0) -> Request:
    """So many seconds of descriptors are wanted."""
    return replace(request_of(budget_s, scope="descriptors", density=DENSITY), seed=seed)


def in_binary(seconds: float) -> float:
    """Seconds that add up without rounding."""
    return round(seconds * 2**20) / 2**20


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(("start", "reopen"), [(1.0, True), (0.1, False)], ids=["all", "some"])
def test_a_run_under_the_clock_of_its_prices_takes_the_decisions_of_the_simulator(
    arena: Arena, policy: str, order: str, start: float, reopen: bool
) -> None:
    selection = Selection(order, start, reopen)
    for seed, fraction in enumerate((0.05, 0.4, 2.0)):
        budget_s = in_binary(fraction * arena.full_s(NAMES))
        space = space_with(POLICIES[policy], selection)
        (result,) = label(space, video_of(FRAMES), descriptors_for(budget_s, seed))
        check_same(result, *simulated(arena, POLICIES[policy], selection, budget_s, seed))


@pytest.mark.parametrize("policy", ["plan", "extended"])
@pytest.mark.parametrize("order", ["random", "wanted"])
def test_where_the_end_must_be_paid_too_both_take_the_same_decisions_with_what_is_left(
    arena: Arena, policy: str, order: str
) -> None:
    """Scope `total`: the run keeps seconds back for its end; the simulator is given the rest."""
    selection, watched = Selection(order), Watched(POLICIES[policy])
    request = request_of(0.1, density=DENSITY)
    (result,) = label(space_with(watched, selection), video_of(FRAMES), request, CostClock())
    episode, expected = simulated(arena, POLICIES[policy], selection, watched.left_s[0], seed=0)
    assert 20 < len(expected) < D * len(arena)
    check_same(result, episode, expected)


def test_batches_are_planned_with_the_same_prices_and_spend_the_same_without_a_bound(arena: Arena) -> None:
    space = space_with(POLICIES["extended"], Selection("wanted"))
    space = replace(space, settings=RegionSettings(batch=32))
    (result,) = label(space, video_of(FRAMES), descriptors_for(np.inf))
    episode, expected = simulated(arena, POLICIES["extended"], Selection("wanted"), np.inf, seed=0)
    assert sorted(actions_of(result)) == sorted(expected)
    spent_s = sum(event.spent_s for event in result.windows[0].events)
    assert spent_s == pytest.approx(episode.state.scalars.spent_s)


def test_the_table_is_what_h_makes_of_all_descriptors_of_all_supervoxels(arena: Arena, table: VideoTable) -> None:
    expected = MODEL.classifiers.predict_all(table.values, place_of(table.graph))
    assert np.allclose(arena.probabilities[:, 1:], expected[:, 1:], atol=1e-5)


@pytest.mark.parametrize("policy", ["plan", "random", "extended"])
@pytest.mark.parametrize("order", ["random", "large", "wanted"])
def test_a_table_that_differs_by_rounding_leads_to_the_same_decisions_where_confidence_does_not_order_them(
    table: VideoTable, policy: str, order: str
) -> None:
    rounded, selection = Arena.of(MODEL, table), Selection(order)
    budget_s = in_binary(0.4 * rounded.full_s(NAMES))
    (result,) = label(space_with(POLICIES[policy], selection), video_of(FRAMES), descriptors_for(budget_s))
    check_same(result, *simulated(rounded, POLICIES[policy], selection, budget_s, seed=0))
