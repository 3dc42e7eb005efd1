"""How good a policy is: runs in described videos, and what the right pixels at their ends are worth."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from budgetseg.policy.episode import Selection
from budgetseg.policy.linear import LinearPolicy
from budgetseg.simulate import Arena, Reward, play, reward, worth_of
from budgetseg.types import Float64, Int64

__all__ = ["Judge", "Player", "Trial"]


@dataclass(frozen=True, eq=False)
class Player:
    """Who plays: a policy, and the selection that it is made for: the order, and what may be computed."""

    policy: LinearPolicy
    selection: Selection


@dataclass(frozen=True)
class Trial:
    """A run to judge by.

    Attributes
    ----------
    arena : number of the video
    fraction : of the full cost, the budget
    seed : of what is random
    """

    arena: int
    fraction: float
    seed: int


class Judge:
    """Scores of players.

    Parameters
    ----------
    arenas : described videos with labels, of one model
    names : of the descriptors that may be computed
    balance : what a score is, from 0 for the share of pixels that are right to 1 for the average over classes
    cores : runs at a time
    long : of the same, for small budgets; the others are for larger ones then
    small : budgets of so much of the full cost, or less, are small: in short clips they cannot buy what they can in a
        video
    """

    def __init__(
        self,
        arenas: Sequence[Arena],
        names: Sequence[str],
        balance: float,
        cores: int = 1,
        long: Sequence[Arena] = (),
        small: float = 0.05,
    ) -> None:
        self.arenas, self.names, self.balance, self.cores = [*arenas, *long], tuple(names), balance, cores
        self._n_short = len(arenas)
        self._small = small
        self.full_s = [arena.full_s(names) for arena in self.arenas]
        self.worth = worth_of(np.concatenate([arena.truth for arena in self.arenas]), balance)

    def trials(self, fractions: Sequence[float], n_seeds: int, first_seed: int = 0) -> list[Trial]:
        """Every video with every budget that it is for, so many times."""
        seeds, every = range(first_seed, first_seed + n_seeds), range(len(self.arenas))
        return [Trial(k, f, seed) for seed in seeds for f in fractions for k in every if self._is_for(k, f)]

    def _is_for(self, arena: int, fraction: float) -> bool:
        has_long, is_long = len(self.arenas) > self._n_short, arena >= self._n_short
        return not has_long or is_long == (fraction <= self._small)

    def draw(self, fractions: Sequence[float], rng: np.random.Generator) -> list[Trial]:
        """A trial with every budget, each in any of the videos that it is for.

        Long ones have more pixels, so that in a sum of scores small budgets count most: there is most to gain.
        """
        every = range(len(self.arenas))
        videos = [int(rng.choice([k for k in every if self._is_for(k, fraction)])) for fraction in fractions]
        seeds = rng.integers(2**31, size=len(fractions)).tolist()
        return [Trial(*drawn) for drawn in zip(videos, fractions, seeds, strict=True)]

    def scores(self, players: Sequence[Player], trials: Sequence[Trial]) -> Float64:
        """Of each player: what its right pixels are worth, if those of all the trials' pixels are worth 1."""
        jobs = [(player, trial) for player in players for trial in trials]
        with ThreadPoolExecutor(self.cores) as pool:
            found = np.array(list(pool.map(lambda job: self.score(*job), jobs))).reshape(len(players), len(trials))
        most = sum(float(self.arenas[trial.arena].truth.sum(axis=0) @ self.worth) for trial in trials)
        return np.asarray(found.sum(axis=1) / most)

    def by_video(self, player: Player, trials: Sequence[Trial]) -> Float64:
        """What the right pixels of each video are worth in all of its trials together."""
        with ThreadPoolExecutor(self.cores) as pool:
            scores = list(pool.map(lambda trial: self.score(player, trial), trials))
        return np.asarray(np.bincount([trial.arena for trial in trials], scores, len(self.arenas)), np.float64)

    def right(self, player: Player, trials: Sequence[Trial]) -> Int64:
        """Right pixels of each class, (L,), in all the trials."""
        with ThreadPoolExecutor(self.cores) as pool:
            return np.asarray(sum(pool.map(lambda trial: self.run(player, trial).right, trials)))

    def score(self, player: Player, trial: Trial) -> float:
        """What the right pixels of a run are worth, if those of all videos together are worth 1."""
        return self.run(player, trial).score(self.worth)

    def run(self, player: Player, trial: Trial) -> Reward:
        """Where a player ends up."""
        arena, budget_s = self.arenas[trial.arena], trial.fraction * self.full_s[trial.arena]
        episode = arena.begin(budget_s, self.names, player.selection, trial.seed)
        play(episode, arena.probabilities, player.policy)
        return reward(arena, episode.state)
