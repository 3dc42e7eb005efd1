"""Score policies by simulated runs in described videos. A score is the weight of the pixels labelled right."""

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
    """A policy with its selection: the order of supervoxels, and the descriptors that may be computed."""

    policy: LinearPolicy
    selection: Selection


@dataclass(frozen=True)
class Trial:
    """A run that players are judged by.

    Attributes
    ----------
    arena : number of the video
    fraction : budget as a share of the full cost
    seed : of all random choices
    """

    arena: int
    fraction: float
    seed: int


class Judge:
    """Scores players.

    Parameters
    ----------
    arenas : described videos with labels, of one model
    names : of the descriptors that may be computed
    balance : what a score measures, from 0 for the share of right pixels to 1 for the average over classes
    cores : number of runs at a time
    long : longer clips of the same videos; if given, they are used for small budgets, and `arenas` for the others
    small : largest small budget, as a share of the full cost: such a budget buys less in a short clip than in a video
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
        self.arenas = [*arenas, *long]
        self.names = tuple(names)
        self.balance = balance
        self.cores = cores
        self._n_short = len(arenas)
        self._small = small
        self.full_s = [arena.full_s(names) for arena in self.arenas]
        self.worth = worth_of(np.concatenate([arena.truth for arena in self.arenas]), balance)

    def trials(self, fractions: Sequence[float], n_seeds: int, first_seed: int = 0) -> list[Trial]:
        """Trials of every video with every budget that it is used for, each with n_seeds seeds from first_seed on."""
        seeds = range(first_seed, first_seed + n_seeds)
        videos = range(len(self.arenas))
        return [
            Trial(video, fraction, seed)
            for seed in seeds
            for fraction in fractions
            for video in videos
            if self._is_for(video, fraction)
        ]

    def _is_for(self, arena: int, fraction: float) -> bool:
        has_long = len(self.arenas) > self._n_short
        is_long = arena >= self._n_short
        return not has_long or is_long == (fraction <= self._small)

    def draw(self, fractions: Sequence[float], rng: np.random.Generator) -> list[Trial]:
        """Draw a trial for every budget, each in one of the videos that are used for it.

        Long clips have more pixels, so that small budgets count most in a sum of scores: there is most to gain.
        """
        numbers = range(len(self.arenas))
        videos = [int(rng.choice([k for k in numbers if self._is_for(k, fraction)])) for fraction in fractions]
        seeds = rng.integers(2**31, size=len(fractions)).tolist()
        return [Trial(*drawn) for drawn in zip(videos, fractions, seeds, strict=True)]

    def scores(self, players: Sequence[Player], trials: Sequence[Trial]) -> Float64:
        """Score of each player, (P,), 0 to 1: the weight of its right pixels among all pixels of the trials."""
        jobs = [(player, trial) for player in players for trial in trials]
        with ThreadPoolExecutor(self.cores) as pool:
            found = np.array(list(pool.map(lambda job: self.score(*job), jobs))).reshape(len(players), len(trials))
        most = sum(float(self.arenas[trial.arena].truth.sum(axis=0) @ self.worth) for trial in trials)
        return np.asarray(found.sum(axis=1) / most)

    def by_video(self, player: Player, trials: Sequence[Trial]) -> Float64:
        """Score of a player in each video, (V,), summed over the trials of the video."""
        with ThreadPoolExecutor(self.cores) as pool:
            scores = list(pool.map(lambda trial: self.score(player, trial), trials))
        return np.asarray(np.bincount([trial.arena for trial in trials], scores, len(self.arenas)), np.float64)

    def right(self, player: Player, trials: Sequence[Trial]) -> Int64:
        """Number of right pixels of each class, (L,), summed over the trials."""
        with ThreadPoolExecutor(self.cores) as pool:
            return np.asarray(sum(pool.map(lambda trial: self.run(player, trial).right, trials)))

    def score(self, player: Player, trial: Trial) -> float:
        """Score of a run: the weight of its right pixels among the pixels of all videos."""
        return self.run(player, trial).score(self.worth)

    def run(self, player: Player, trial: Trial) -> Reward:
        """Run a player, and return its labels and right pixels at the end."""
        arena = self.arenas[trial.arena]
        budget_s = trial.fraction * self.full_s[trial.arena]
        episode = arena.begin(budget_s, self.names, player.selection, trial.seed)
        play(episode, arena.probabilities, player.policy)
        return reward(arena, episode.state)
