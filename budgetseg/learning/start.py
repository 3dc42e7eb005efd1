"""The policy that learning begins with: linear, gain per cost, from the gains of descriptors in training videos."""

from dataclasses import dataclass

import numpy as np

from budgetseg.learning.gains import Gains
from budgetseg.models.bundle import Model
from budgetseg.policy.features import feature_names, n_features
from budgetseg.policy.linear import LinearPolicy

__all__ = ["Start", "first_policy"]


@dataclass(frozen=True)
class Start:
    """Weights of the first policy, for features that are logarithms.

    All were chosen in training videos of both datasets, with and without a network, for both kinds of costs together:
    `python -m benchmarks.choose_policies first`.

    Attributes
    ----------
    size : weight of the size of the supervoxel
    own_doubt : weight of H's doubt, which falls with its confidence
    neighbours_doubt : weight of the doubt of finished neighbours
    disagreement : weight of the disagreement between H and the neighbours
    time_for_each : weight of the time left for each supervoxel that is not finished
    cost : weight of the cost of the descriptor
    share : weight of its cost if all supervoxels that need its resources shared their cost
    gain : weight of the measured gain of the descriptor
    ahead : constant of descriptors over Finished, if the policy does not select the supervoxel: a selected supervoxel
        must be left for others before all of its descriptors are there
    ahead_wanted : the same if the policy selects; large, since time that is left over is wasted
    spare : constant of descriptors beside the policy's set, which are computed only with time to spare
    """

    size: float = 0.7
    own_doubt: float = 1.0
    neighbours_doubt: float = 0.45
    disagreement: float = 1.0
    time_for_each: float = 1.0
    cost: float = -0.3
    share: float = -0.5
    gain: float = 0.4
    ahead: float = 2.4
    ahead_wanted: float = 10.0
    spare: float = -50.0

    @property
    def of_features(self) -> dict[str, float]:
        """Weights that are the same for all descriptors, by the name of the feature."""
        return {
            "size": self.size,
            "own doubt": self.own_doubt,
            "neighbours' doubt": self.neighbours_doubt,
            "disagreement": self.disagreement,
            "time for each": self.time_for_each,
        }


def first_policy(model: Model, gains: Gains, order: str, start: Start | None = None) -> LinearPolicy:
    """The first policy. It prefers large supervoxels with doubt, and cheap descriptors with a large gain.

    Parameters
    ----------
    model : whose descriptors are decided about
    gains : of its descriptors
    order : in which supervoxels are selected, a name in `ORDERS`
    start : weights; None for the default
    """
    start = start or Start()
    h = model.classifiers
    names = feature_names(h.names, model.classes.names, extended=True)
    weights = np.zeros((len(h.names) + 1, n_features(len(h.names), h.n_labels, True)), np.float32)
    ahead = start.ahead_wanted if order == "wanted" else start.ahead
    for d, name in enumerate(h.names):
        wanted = start.of_features | {f"cost of {name}": start.cost, f"share of {name}": start.share}
        if name in gains.descriptor_set:
            added = gains.of(name)
            wanted["1"] = ahead + start.gain * added.pop("")
            wanted |= {f"has {other}": start.gain * weight for other, weight in added.items()}
        else:
            wanted["1"] = start.spare
        for feature, weight in wanted.items():
            weights[d, names.index(feature)] = weight
    return LinearPolicy(weights, extended=True)
