"""Predict the costs of all descriptors of all supervoxels of a scene before any is computed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numba import njit

from budgetseg.descriptors.core import NOWHERE, Descriptor, Lists, Numbering, Resource, Scene
from budgetseg.descriptors.table import Costs
from budgetseg.errors import UsageError
from budgetseg.timing.prices import Prices
from budgetseg.types import Float64, Int32, Int64

__all__ = ["Workload", "needs_of", "price", "workload"]


@dataclass(frozen=True, eq=False)
class Workload:
    """All the work that a scene may need: D descriptors of N supervoxels, and R resources.

    Attributes
    ----------
    private : work of each descriptor without resources, (N,) float64
    shared : work of each kind of resources without those that it needs, (count,) float64
    needs : resources of N * D pairs, as in `Costs`
    """

    private: Mapping[str, Float64]
    shared: Mapping[str, Float64]
    needs: Lists

    def price(self, prices: Prices) -> Costs:
        """Predicted seconds of all the work, on an idle machine."""
        private_s = np.stack([prices.usual(name, works) for name, works in self.private.items()], axis=1)
        resource_s = np.concatenate([np.empty(0), *(prices.usual(kind, works) for kind, works in self.shared.items())])
        counts = {kind: len(works) for kind, works in self.shared.items()}
        return Costs(private_s, resource_s, self.needs.first, self.needs.items, counts)


def price(scene: Scene, descriptors: Sequence[Descriptor], prices: Prices) -> Costs:
    """Predicted seconds of all descriptors of a scene, on an idle machine."""
    return workload(scene, descriptors).price(prices)


def workload(scene: Scene, descriptors: Sequence[Descriptor]) -> Workload:
    """The work that a scene may need; it does not depend on prices."""
    private = {descriptor.name: descriptor.works(scene) for descriptor in descriptors}
    shared = {kind: resource.works(scene) for kind, resource in _resources(descriptors).items()}
    return Workload(private, shared, needs_of(scene, descriptors)[1])


def needs_of(scene: Scene, descriptors: Sequence[Descriptor]) -> tuple[Numbering, Lists]:
    """Resources of every supervoxel and descriptor, N * D lists, with all they need in turn, each before its users."""
    resources = _resources(descriptors)
    numbering = Numbering({kind: resource.count(scene) for kind, resource in resources.items()})
    firsts, asked = _join([descriptor.all_needs(scene, numbering) for descriptor in descriptors])
    others, behind = _join([resource.all_needs(scene, numbering) for resource in resources.values()])
    first_behind = np.concatenate([*(first[:-1] for first in others), [len(behind)]])
    lists = np.array(firsts, np.int64).reshape(len(descriptors), len(scene.supervoxels) + 1)
    first, needed, wrong = _closure(lists, asked, first_behind, behind)
    if wrong != NOWHERE:
        region, column = divmod(wrong, len(descriptors))
        name = descriptors[column].name
        raise UsageError(
            f"'{name}' of supervoxel {region} needs a resource beyond the `count` of its kind; correct either"
        )
    return numbering, Lists(first, needed)


def _resources(descriptors: Sequence[Descriptor]) -> dict[str, Resource]:
    return {resource.kind: resource for descriptor in descriptors for resource in descriptor.resources}


def _join(parts: Sequence[Lists]) -> tuple[list[Int64], Int32]:
    """The items of all lists, and the `first` of each part as places among them."""
    ends = np.cumsum([0, *(len(part.items) for part in parts)]).tolist()
    firsts = [part.first + end for part, end in zip(parts, ends, strict=False)]
    return firsts, np.concatenate([np.empty(0), *(part.items for part in parts)], dtype=np.int32, casting="unsafe")


@njit(cache=True, nogil=True)
def _closure(firsts, asked, first_behind, behind):  # type: ignore[no-untyped-def]
    """First and items of all needed resources, depth first, and the first list that needs one that does not exist.

    firsts : (D, N + 1), places of the lists of each descriptor in `asked`
    first_behind : (R + 1,), places of the needs of each resource in `behind`
    """
    n_columns = len(firsts)
    n_resources = len(first_behind) - 1
    n_lists = n_columns * (firsts.shape[1] - 1)
    first = np.zeros(n_lists + 1, np.int64)
    items = np.empty(2 * len(asked), np.int32)
    n = 0
    seen = np.full(n_resources, -1, np.int64)  # the last list that each resource was found for
    path = np.empty(n_resources, np.int64)
    places = np.empty(n_resources, np.int64)
    for k in range(n_lists):
        if len(items) < n + n_resources:
            items = np.concatenate((items[:n], np.empty(n + n_resources, np.int32)))
        row = firsts[k % n_columns]
        for root in asked[row[k // n_columns] : row[k // n_columns + 1]]:
            if not 0 <= root < n_resources:
                return first, items[:0], k
            if seen[root] == k:
                continue
            depth = 0
            path[0] = root
            places[0] = first_behind[root]
            seen[root] = k
            while depth >= 0:
                end = first_behind[path[depth] + 1]
                while places[depth] < end:
                    need = behind[places[depth]]
                    places[depth] += 1
                    if not 0 <= need < n_resources:
                        return first, items[:0], k
                    if seen[need] == k:
                        continue
                    seen[need] = k
                    if first_behind[need] == first_behind[need + 1]:  # most resources need no others
                        items[n] = need
                        n += 1
                    else:
                        depth = depth + 1
                        end = first_behind[need + 1]
                        path[depth] = need
                        places[depth] = first_behind[need]
                items[n] = path[depth]
                n += 1
                depth -= 1
        first[k + 1] = n
    return first, items[:n], NOWHERE
