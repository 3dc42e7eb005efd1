"""Which network to ask about which frame of a window next."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

import numpy as np

from budgetseg.frames.engine import FrameEngine
from budgetseg.frames.evidence import Ask, Evidence
from budgetseg.frames.order import fill, key_frames, spread
from budgetseg.frames.plan import Plan, Recipe

__all__ = ["Questions"]


class Questions:
    """Questions about a window, in the order of their worth.

    Parameters
    ----------
    engine : whose networks are asked
    evidence : what is known of the window, which only grows

    Attributes
    ----------
    recipes : those whose networks are still asked
    """

    def __init__(self, engine: FrameEngine, evidence: Evidence) -> None:
        self.recipes: Sequence[Recipe] = engine.recipes
        self._every, self._threads, self._evidence = engine.recipes, engine.threads, evidence
        self._issued: list[Ask] = []

    def drop(self, network: str) -> None:
        """Ask a network no more."""
        self.recipes = [recipe for recipe in self.recipes if recipe.network != network]

    def take_back(self, ask: Ask) -> None:
        """A question that was not answered."""
        self._issued.remove(ask)

    def keys(self, plan: Plan) -> list[int]:
        """Key frames by a plan, among those that were read, in an order of which every beginning is spread."""
        decoded = np.array(self._evidence.decoded)
        ideal = key_frames(self._evidence.n_frames, plan.n_keys)
        keys = [int(decoded[np.argmin(np.abs(decoded - ideal[k]))]) for k in spread(len(ideal))]
        return list(dict.fromkeys(keys))

    def may_ask(self, network: str) -> bool:
        """Whether a network is asked at all."""
        return any(recipe.network == network for recipe in self.recipes)

    def issue(self, asks: Iterable[Ask]) -> Iterator[Ask]:
        """Questions that are asked as soon as somebody takes them."""
        for ask in asks:
            self._issued.append(ask)
            yield ask

    def worthy(self, plan: Plan) -> Iterator[Ask]:
        """First what was planned, then the frames between, then what a better recipe would ask."""
        at, decoded = self._every.index(plan.recipe), self._evidence.decoded
        for recipe in self._every[at:]:
            own = {ask.frame for ask in self._issued if ask.network == recipe.network}
            keys = self._apart(plan, own) if recipe is plan.recipe and len(own) <= self._threads else []
            for key in (*keys, *fill(decoded, sorted({*own, *keys}))):
                yield Ask(recipe.network, key, recipe.turns and self._turn(key, plan))
            if recipe.views == 2:
                seen = {(ask.frame, ask.mirrored) for ask in self._issued if ask.network == recipe.network}
                for key in (decoded[k] for k in spread(len(decoded))):
                    if not {(key, False), (key, True)} <= seen:
                        yield Ask(recipe.network, key, (key, False) in seen)

    def small_change(self, plan: Plan) -> Iterator[Ask]:
        """What a cheaper network would say about frames between key frames."""
        for recipe in self._every[: self._every.index(plan.recipe)]:
            if recipe.network != plan.recipe.network and self.may_ask(recipe.network):
                known = sorted({ask.frame for ask in self._issued})
                yield from (Ask(recipe.network, key) for key in fill(self._evidence.decoded, known))

    def _apart(self, plan: Plan, own: Collection[int]) -> list[int]:
        """Key frames by a plan, without those beside the few that were asked about before."""
        gap = self._evidence.n_frames / plan.n_keys
        return [key for key in self.keys(plan) if all(abs(key - other) > 0.5 * gap for other in own)]

    def _turn(self, frame: int, plan: Plan) -> bool:
        """Whether a key frame is shown in the mirror: every other one."""
        return round(frame * plan.n_keys / self._evidence.n_frames - 0.5) % 2 == 1

    def next_s(self, plan: Plan, call_s: Callable[[str], float]) -> float:
        """Seconds that had to be left for the smallest question that was not asked; `call_s` is for a network's."""
        asked, n_frames = Counter(ask.network for ask in self._issued), len(self._evidence.frames)
        better = self._every[self._every.index(plan.recipe) :]
        own = {recipe.network: recipe.views * n_frames for recipe in better if self.may_ask(recipe.network)}
        left = [name for name, n in own.items() if asked[name] < n]
        if len({ask.frame for ask in self._issued}) < n_frames:
            left += [recipe.network for recipe in self.recipes]
        return min(map(call_s, left), default=0.0)
