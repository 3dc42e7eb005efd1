"""The environment is the MDP of the simulator."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("gymnasium")

from gymnasium.utils.env_checker import check_env

from budgetseg.errors import UsageError
from budgetseg.learning.env import BudgetedVideoEnv
from budgetseg.policy.episode import Selection
from budgetseg.policy.features import n_features
from budgetseg.policy.linear import LinearPolicy, plan_policy, random_policy
from budgetseg.simulate import Arena, play, reward, worth_of
from tests.simulate.arenas import MODEL, NAMES, random_arena, table_with_needs

D, L = len(NAMES), 3
ARENAS = [random_arena(n, seed) for seed, n in enumerate((20, 30, 25))]


def learned(extended: bool) -> LinearPolicy:
    rng = np.random.default_rng(1)
    return LinearPolicy(rng.normal(size=(D + 1, n_features(D, L, extended))).astype(np.float32), extended)


POLICIES = {
    "paper": learned(False),
    "extended": learned(True),
    "plan": plan_policy([0, 2], D, L),
    "random": random_policy(D, L),
}


def arena_of(info: dict[str, Any]) -> Arena:
    (arena,) = [arena for arena in ARENAS if arena.name == info["video"]]
    return arena


def played(env: BudgetedVideoEnv, policy: LinearPolicy, seed: int) -> tuple[float, int, dict[str, Any]]:
    """Reward, steps, and what `reset` told."""
    _, first = env.reset(seed=seed)
    info, steps = first, 0
    while True:
        action = D if info["region"] is None else policy.action(env.episode, info["region"])
        assert info["action_mask"][action]
        _, worth, over, cut, info = env.step(np.int64(action))
        steps += 1
        assert not cut
        if over:
            return worth, steps, first
        assert worth == 0


@pytest.mark.parametrize("extended", [False, True])
@pytest.mark.parametrize("reopen", [False, True])
def test_it_keeps_the_contract_of_gymnasium(extended: bool, reopen: bool) -> None:
    check_env(BudgetedVideoEnv(ARENAS, NAMES, 0.3, Selection("doubt", 0.2, reopen), extended), skip_render_check=True)


@pytest.mark.parametrize("name", POLICIES)
@pytest.mark.parametrize(("order", "start", "reopen"), [("random", 1.0, True), ("sure", 0.1, False)])
@pytest.mark.parametrize("fraction", [0.0, 0.05, 0.4, 5.0])
def test_playing_a_policy_step_by_step_is_what_the_simulator_does(
    name: str, order: str, start: float, reopen: bool, fraction: float
) -> None:
    policy, selection = POLICIES[name], Selection(order, start, reopen)
    env = BudgetedVideoEnv(ARENAS, NAMES[:4], fraction, selection, policy.extended, balance=0.3)
    for seed in range(3):
        worth, _, info = played(env, policy, seed)
        arena = arena_of(info)
        episode = arena.begin(fraction * arena.full_s(NAMES[:4]), NAMES[:4], selection, info["seed"])
        play(episode, arena.probabilities, policy)
        for field in episode.state._fields:
            assert np.array_equal(getattr(env.episode.state, field), getattr(episode.state, field)), field
        assert worth == pytest.approx(reward(arena, episode.state).score(worth_of(arena.truth, 0.3)))


def test_observations_are_what_a_policy_sees() -> None:
    policy = POLICIES["extended"]
    env = BudgetedVideoEnv(ARENAS, NAMES, 0.3)
    seen, info = env.reset(seed=0)
    for _ in range(10):
        scores = np.where(info["action_mask"], policy.weights @ seen, -np.inf)
        assert scores.argmax() == policy.action(env.episode, info["region"])
        seen, *_, info = env.step(np.int64(scores.argmax()))


def test_the_seed_draws_the_video_and_the_episode() -> None:
    env = BudgetedVideoEnv(ARENAS, NAMES, 0.3)
    infos = [env.reset(seed=seed)[1] for seed in range(20)]
    assert {info["video"] for info in infos} == {arena.name for arena in ARENAS}
    assert len({info["seed"] for info in infos}) == 20
    again = env.reset(seed=7)[1]
    assert (again["video"], again["seed"], again["region"]) == tuple(infos[7][k] for k in ("video", "seed", "region"))
    assert env.reset(options={"video": 1, "seed": 5})[1]["video"] == ARENAS[1].name


def test_an_action_that_is_not_allowed_computes_nothing_and_finishes() -> None:
    env = BudgetedVideoEnv(ARENAS, NAMES[:4], 0.3)
    _, info = env.reset(seed=0)
    assert info["action_mask"].tolist() == [1, 1, 1, 1, 0, 1]
    region = info["region"]
    _, _, _, _, after = env.step(np.int64(4))
    assert after["left_s"] == info["left_s"]
    assert env.episode.state.subsets[region] == 0
    assert after["region"] != region


def test_where_nothing_fits_one_step_ends_it() -> None:
    env = BudgetedVideoEnv(ARENAS, NAMES, 1e-9)
    seen, info = env.reset(seed=0)
    assert not seen.any()
    assert (info["region"], info["action_mask"].tolist()) == (None, [0] * D + [1])
    _, worth, over, _, _ = env.step(np.int64(D))
    assert over
    assert worth > 0


def test_an_order_that_needs_scores_is_refused() -> None:
    with pytest.raises(UsageError, match="must not be 'wanted'"):
        BudgetedVideoEnv(ARENAS, NAMES, 0.3, Selection("wanted"))


def test_the_example_in_the_docs_runs() -> None:
    text = (Path(__file__).parents[2] / "docs" / "env.md").read_text()
    (example,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    example = re.sub(r"model = .*\n", "", example).replace('read_table(Path("results/table/test/street"))', "table")
    scope: dict[str, Any] = {"model": MODEL, "table": table_with_needs()}
    exec(example, scope)
    assert 0 < scope["total"] <= 1
