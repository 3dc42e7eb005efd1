"""Scripts: groups are computed whole or not at all."""

import numpy as np
import pytest

from budgetseg.simulate.script import Script, follow
from budgetseg.simulate.simulate import no_times
from tests.simulate.arenas import NAMES, random_arena

D = len(NAMES)


def draw(seed: int, n: int, n_groups: int, group: int) -> Script:
    """Any choices, some of them in two groups."""
    rng = np.random.default_rng(seed)
    cells = np.concatenate([rng.choice(n * D, group, replace=False) for _ in range(n_groups)])
    regions, descriptors = np.divmod(cells.astype(np.int32), np.int32(D))
    return Script.of(regions, descriptors, group)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("group", [1, 3, 12])
@pytest.mark.parametrize("costs", ["shared", "unshared"])
def test_every_group_that_fits_is_computed(seed: int, group: int, costs: str) -> None:
    arena = random_arena(20, seed, costs)
    script, budget_s = draw(seed, 20, 120 // group, group), 0.5 * arena.full_s(NAMES)
    episode = arena.begin(budget_s, NAMES)
    times_s = no_times(episode)
    follow(episode, arena.probabilities, script, times_s)

    own, left_s, made, done = arena.costs, budget_s, set[int](), dict[tuple[int, int], float]()
    for start, stop in zip(script.first[:-1], script.first[1:], strict=True):
        seconds, making, doing = 0.0, set(made), dict[tuple[int, int], float]()
        for i, d in zip(script.regions[start:stop].tolist(), script.descriptors[start:stop].tolist(), strict=True):
            if (i, d) in done:
                continue
            needed = set(own.needed[own.first[i * D + d] : own.first[i * D + d + 1]].tolist())
            seconds += own.private_s[i, d] + own.resource_s[list(needed - making)].sum()
            making |= needed
            doing[i, d] = budget_s - left_s + seconds
        if seconds <= left_s:
            left_s, made = left_s - seconds, making
            done |= doing
    assert 0 < len(done) < len(script.regions)
    assert {tuple(cell) for cell in np.argwhere(np.isfinite(times_s)).tolist()} == set(done)
    for cell, when_s in done.items():
        assert times_s[cell] == pytest.approx(when_s)
        assert episode.state.subsets[cell[0]] >> cell[1] & 1
    assert episode.left_s == pytest.approx(left_s)
    assert set(np.flatnonzero(episode.state.made).tolist()) == made


def test_one_script_after_another_is_both() -> None:
    one, other = draw(0, 9, 4, 2), draw(1, 9, 3, 5)
    both = one.then(other)
    assert both.first.tolist() == [0, 2, 4, 6, 8, 13, 18, 23]
    assert both.regions.tolist() == [*one.regions, *other.regions]
    assert both.descriptors.tolist() == [*one.descriptors, *other.descriptors]
