"""The accuracy to expect of a budget before it is spent, and the budget that an accuracy needs.

Both hold for the regions space, on video like that of the training: they are read off the curve of the policy's
accuracy out of fold by share of the full cost.
"""

from budgetseg.app.strategy import counted
from budgetseg.engine.request import Request
from budgetseg.errors import UsageError
from budgetseg.models.bundle import Model
from budgetseg.policy.learned import METHOD, Expected, budget_for, expected_at, learned_for
from budgetseg.spaces.regions.costs import expected_share
from budgetseg.spaces.regions.space import Regions
from budgetseg.types import Budget
from budgetseg.video import VideoSource

__all__ = ["budget_of", "curve_of", "expect", "in_words"]


def expect(model: Model, regions: Regions, source: VideoSource, request: Request) -> Expected | None:
    """The accuracy to expect of the last budget; None if the model has no curve, or nothing was labelled here yet."""
    known = curve_of(model)
    share = expected_share(regions, source, request) if known else None
    return None if share is None else expected_at(known, share)


def budget_of(model: Model, accuracy: float) -> Budget:
    """The budget, as a share of the full cost, at which a share `accuracy` of the pixels, 0 to 1, is right."""
    known = curve_of(model)
    if not known:
        raise UsageError(f"model '{model.name}' has no learned policy to predict its accuracy; give --budget instead")
    fraction = budget_for(known, accuracy)
    if fraction is None:
        most = 100 * known[-1].overall
        raise UsageError(f"model '{model.name}' reaches at most {most:.1f} %. Got {100 * accuracy:g} %; ask for less")
    return Budget(fraction, is_share=True)


def in_words(expected: Expected) -> str:
    """A line for the user."""
    average = 100 * expected.class_average
    overall = 100 * expected.overall
    return f"about {overall:.0f} % of the pixels right, {average:.0f} % on average over classes"


def curve_of(model: Model) -> tuple[Expected, ...]:
    """Expected accuracies of a model's policy, by rising share of the full cost; empty if it has no learned policy."""
    learned = learned_for(model.policies, METHOD, counted(model))
    return () if learned is None else learned.expected
