"""Settings of the policy's features and ranks. Learned weights hold for these values."""

from typing import NamedTuple

__all__ = ["SETTINGS", "PolicySettings"]


class PolicySettings(NamedTuple):
    """What policies see, and whom they rank again. A tuple, since compiled code reads it.

    Attributes
    ----------
    least_left : share of the full cost; less time than this counts as this. Otherwise the logarithm of the time left
        would change more with each of the last descriptors than with all before them
    certain : doubt is the logarithm of how much confidence falls short of this; above 1, so that it is finite
    furthest : logarithms of ratios are no further from 0 than this: costs of next to nothing should not decide
    telling : whoever is saved this share of what a descriptor costs, by one resource, is ranked again at once;
        others when it is their turn, since ranking takes time
    nearly : times a budget; what was made for so much at most still serves it
    """

    least_left: float = 0.002
    certain: float = 1.02
    furthest: float = 6.0
    telling: float = 0.25
    nearly: float = 1.1


SETTINGS = PolicySettings()
