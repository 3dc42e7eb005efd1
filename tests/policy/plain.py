"""Algorithm 1 as the paper writes it, with sets and dictionaries, everything worked out anew whenever it is needed."""

import math

import numpy as np

from budgetseg.policy.episode import Episode
from budgetseg.policy.linear import LinearPolicy
from budgetseg.types import Float64
from tests.policy.worlds import Made

_WORD = 2**64


def plain_uniform(seed: int, region: int, visit: int) -> float:
    """SplitMix64."""
    z = (seed + region * 0x9E3779B97F4A7C15 + visit * 0xD1B54A32D192ED03) % _WORD
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 % _WORD
    z = (z ^ z >> 27) * 0x94D049BB133111EB % _WORD
    return ((z ^ z >> 31) // 2**12 + 0.5) / 2**52


class PlainRun:
    """A run of a video from where an episode begins."""

    def __init__(self, video: Made, start: Episode, policy: LinearPolicy, shared: bool) -> None:
        self.video, self.policy, self.shared, self.selection = video, policy, shared, start.selection
        self.left_s = start.left_s
        self.seed, self.waiting = int(start.state.scalars.seed), start.state.seeding.tolist()
        n, self.n_descriptors = video.costs.private_s.shape
        self.enabled = {d for d in range(self.n_descriptors) if int(start.state.scalars.enabled) >> d & 1}
        self.near: dict[int, set[int]] = {i: set() for i in range(n)}
        for a, b in video.graph.edges.tolist():
            self.near[a].add(b)
            self.near[b].add(a)
        self.has: dict[int, set[int]] = {i: set() for i in range(n)}
        self.candidates: set[int] = set()
        self.finished: list[int] = []
        self.made: set[int] = set()
        self.visits, self.due, self.now = dict.fromkeys(self.near, 0), dict.fromkeys(self.near, 0.0), 0.0
        self.reopened = False
        for _ in range(max(1, round(self.selection.start * n))):
            self.seed_one()

    def is_over(self) -> bool:
        """Whether not even the cheapest descriptor could fit."""
        return not self.enabled or self.left_s < self.video.costs.private_s[:, sorted(self.enabled)].min()

    def select(self) -> int | None:
        if not (self.candidates or self.seed_one() or self.reopen()):
            return None
        i = min(self.candidates, key=self.rank)
        if not self.reopened:
            self.now = self.due[i]
        self.visits[i] += 1
        return i

    def seed_one(self) -> bool:
        while self.waiting:
            i = self.waiting.pop(0)
            if i not in self.candidates and i not in self.finished:
                self.join(i)
                return True
        return False

    def reopen(self) -> bool:
        """Whoever was finished although something fits."""
        if not self.selection.reopen:
            return False
        self.reopened = True
        self.candidates = {i for i in self.finished if self.affordable(i)}
        return bool(self.candidates)

    def join(self, i: int) -> None:
        self.candidates.add(i)
        self.due[i] = self.now - math.log(self.draw(i))

    def draw(self, i: int) -> float:
        return plain_uniform(self.seed, i, self.visits[i])

    def rank(self, i: int) -> float:
        if self.reopened:
            return self.confidence(i) + 1e-6 * self.draw(i)
        size = self.video.graph.sizes[i] / self.video.graph.sizes.mean()
        neighbour_confidence = float(self.neighbour_confidence(i))
        of_order = {
            "sure": -neighbour_confidence,
            "unsure": neighbour_confidence,
            "large": -math.log(size),
            "doubt": -size * (1 - 0.9 * neighbour_confidence),
        }
        return self.due[i] if self.selection.order == "random" else of_order[self.selection.order] + 1e-6 * self.draw(i)

    def probabilities(self, i: int) -> Float64:
        return np.asarray(self.video.probabilities[i, sum(1 << d for d in self.has[i])], np.float64)

    def confidence(self, i: int) -> float:
        return float(self.probabilities(i).max()) if self.has[i] else 0.0

    def heard(self, i: int) -> dict[int, float]:
        """Finished neighbours that have a descriptor, with their weights, in the order in which they finished."""
        places = self.video.graph.centroids
        ends = [j for j in self.finished if j in self.near[i] and self.has[j]]
        return {j: 1 / max(math.dist(places[i], places[j]), 1e-6) for j in ends}

    def neighbour_confidence(self, i: int) -> np.float32:
        """Mean confidence of those heard; in single precision, since neighbours of one and the same are even."""
        total, neighbour_weight = np.float32(0), np.float32(0)
        for j, weight in self.heard(i).items():
            total += np.float32(weight) * np.float32(self.confidence(j))
            neighbour_weight += np.float32(weight)
        return total / neighbour_weight if neighbour_weight > 0 else np.float32(0)

    def cost_s(self, i: int, d: int) -> float:
        costs, cell = self.video.costs, i * self.n_descriptors + d
        needed = costs.needed[costs.first[cell] : costs.first[cell + 1]].tolist()
        return float(costs.private_s[i, d] + sum(costs.resource_s[r] for r in needed if r not in self.made))

    def share_s(self, i: int, d: int) -> float:
        """What it would cost if everyone who needs a resource paid the same for it."""
        costs, cell = self.video.costs, i * self.n_descriptors + d
        needed = costs.needed[costs.first[cell] : costs.first[cell + 1]].tolist()
        missing = [costs.resource_s[r] / self.n_users(r) for r in needed if self.shared and r not in self.made]
        return self.cost_s(i, d) if not self.shared else float(costs.private_s[i, d] + sum(missing))

    def n_users(self, resource: int) -> int:
        costs, d = self.video.costs, self.n_descriptors
        mine = [costs.needed[costs.first[i * d] : costs.first[(i + 1) * d]].tolist() for i in self.near]
        return sum(resource in needed for needed in mine)

    def phi1(self, i: int) -> list[float]:
        return [float(d in self.has[i]) for d in range(self.n_descriptors)]

    def phi2(self, i: int) -> Float64:
        heard = self.heard(i)
        total = sum((weight * self.probabilities(j) for j, weight in heard.items()), np.zeros(self.video.n_labels))
        return total / sum(heard.values()) if heard else total

    def phi3(self, i: int) -> list[float]:
        """Up, down, left, right, each before and after; ties are vertical, down and after."""
        counts = [0.0] * 8
        for j in self.near[i] & set(self.finished):
            t, y, x = self.video.graph.centroids[j] - self.video.graph.centroids[i]
            side = (0 if y < 0 else 1) if abs(y) >= abs(x) else (2 if x < 0 else 3)
            counts[2 * side + (t >= 0)] += 1
        return counts

    def features(self, i: int) -> Float64:
        paper = [1.0, *self.phi1(i), *self.phi2(i), *self.phi3(i)]
        if not self.policy.extended:
            return np.array(paper)
        heard, sizes, n = self.heard(i), self.video.graph.sizes, len(self.near)
        apart = 1 - float(self.probabilities(i) @ self.phi2(i)) if heard and self.has[i] else 0.0
        left_s, neighbour_confidence = (
            min(max(self.left_s, 0.002 * self.full_s()), self.full_s()),
            float(self.neighbour_confidence(i)),
        )
        own = [self.confidence(i), math.log(1.02 - self.confidence(i)), bool(self.has[i])]
        near = [neighbour_confidence, math.log(1.02 - neighbour_confidence), bool(heard), apart]
        left, unfinished = left_s / self.full_s(), max(n - len(self.finished), 1) / n
        each = min(max(math.log(left / unfinished), -6), 6)
        rest = [math.log(sizes[i] / sizes.mean()), math.log(left), each]
        missing = self.enabled - self.has[i]
        every = [(cost, d) for cost in (self.cost_s, self.share_s) for d in range(self.n_descriptors)]
        costs = [math.log(cost(i, d) * n / self.full_s()) if d in missing else -6 for cost, d in every]
        return np.array([*paper, *own, *near, *rest, *np.clip(costs, -6, 6)])

    def full_s(self) -> float:
        if self.shared:
            return self.video.costs.full_s(sorted(self.enabled))
        made, self.made = self.made, set()
        full_s = sum(self.cost_s(i, d) for i in self.near for d in self.enabled)
        self.made = made
        return full_s

    def affordable(self, i: int) -> list[int]:
        return [d for d in sorted(self.enabled - self.has[i]) if self.cost_s(i, d) <= self.left_s]

    def action(self, i: int) -> int:
        allowed = self.affordable(i)
        if not allowed or not self.reopened:
            allowed.append(self.n_descriptors)
        features = self.features(i)

        def score(a: int) -> float:
            noise = -math.log(-math.log(plain_uniform(self.seed ^ (a + 1), i, self.visits[i])))
            return float(self.policy.weights[a] @ features) + self.policy.noise * noise

        return max(allowed, key=score)

    def act(self, i: int, action: int) -> None:
        if action == self.n_descriptors:
            self.candidates.remove(i)
            if i not in self.finished:
                self.finished.append(i)
                for j in self.near[i] - set(self.finished) - self.candidates:
                    self.join(j)
            return
        self.left_s -= self.cost_s(i, action)
        costs, cell = self.video.costs, i * self.n_descriptors + action
        if self.shared:
            self.made |= set(costs.needed[costs.first[cell] : costs.first[cell + 1]].tolist())
        self.has[i].add(action)
        if not self.reopened:
            self.join(i)
        elif not self.enabled - self.has[i]:
            self.candidates.remove(i)
