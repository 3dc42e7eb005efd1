"""What accuracy a budget promises, before it is spent, and which budget an accuracy takes.

Both are of regions, and of video like what the model was trained on: the policy's accuracy out of fold, by share of the
full cost.
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
    """The accuracy that the last of the budgets promises; None where nothing is known."""
    known = curve_of(model)
    share = expected_share(regions, source, request) if known else None
    return None if share is None else expected_at(known, share)


def budget_of(model: Model, accuracy: float) -> Budget:
    """The share of the full cost that promises so many right pixels, 0 to 1."""
    known = curve_of(model)
    if not known:
        raise UsageError(f"model '{model.name}' has no learned policy to predict its accuracy; give --budget instead")
    fraction = budget_for(known, accuracy)
    if fraction is None:
        most = 100 * known[-1].overall
        raise UsageError(f"model '{model.name}' reaches at most {most:.1f} %. Got {100 * accuracy:g} %; ask for less")
    return Budget(fraction, is_share=True)


def in_words(expected: Expected) -> str:
    """For people."""
    average, overall = 100 * expected.class_average, 100 * expected.overall
    return f"about {overall:.0f} % of the pixels right, {average:.0f} % on average over classes"


def curve_of(model: Model) -> tuple[Expected, ...]:
    """What its policy promises by share of the full cost, out of fold; nothing where none was learned."""
    own = learned_for(model.policies, METHOD, counted(model))
    return () if own is None else own.expected
