"""What accuracy a budget promises, before it is spent, and which budget an accuracy takes.

Both are of video like what the model was trained on: its policy's accuracy out of fold, by share of the full cost.
"""

from budgetseg.app.engines import FRAMES
from budgetseg.app.labeller import Labeller
from budgetseg.app.strategy import counted
from budgetseg.engine.request import Request
from budgetseg.errors import UsageError
from budgetseg.frames.label import foretell_score
from budgetseg.models.bundle import Model
from budgetseg.policy.learned import METHOD, Expected, budget_for, expected_at, learned_for
from budgetseg.spaces.regions.floor import foretell_share
from budgetseg.types import Budget
from budgetseg.video import VideoSource

__all__ = ["budget_of", "curve_of", "expect", "in_words"]

PIXELS_PER_POINT = 0.25
"""Points of global accuracy for a point of mean IoU, between networks and distances of key frames on road scenes."""


def expect(labeller: Labeller, engine: str, source: VideoSource, request: Request) -> Expected | None:
    """The accuracy that the last of the budgets promises; None where nothing is known."""
    known = curve_of(labeller.model)
    if not known:
        return None
    if engine != FRAMES:
        share = foretell_share(labeller.engine, source, request)
        return None if share is None else expected_at(known, share)
    frames = labeller.frames
    score = None if frames is None else foretell_score(frames, source, request)
    if score is None:
        return None
    most = known[-1]  # the network everywhere
    gain = score / 100
    return Expected(most.budget_fraction, most.class_average + gain, most.overall + PIXELS_PER_POINT * gain)


def budget_of(model: Model, accuracy: float) -> Budget:
    """The share of the full cost that promises so many right pixels, 0 to 1."""
    known = curve_of(model)
    if not known:
        raise UsageError(f"model '{model.name}' has no learned policy that tells what to expect; give a --budget")
    fraction = budget_for(known, accuracy)
    if fraction is None:
        most = 100 * known[-1].overall
        raise UsageError(f"model '{model.name}' promises {most:.1f} % at most. Got {100 * accuracy:g} %; ask for less")
    return Budget(fraction, is_share=True)


def in_words(expected: Expected) -> str:
    """For people."""
    average, overall = 100 * expected.class_average, 100 * expected.overall
    return f"about {overall:.0f} % of the pixels right, {average:.0f} % on average over classes"


def curve_of(model: Model) -> tuple[Expected, ...]:
    """What its policy promises by share of the full cost, out of fold; nothing where none was learned."""
    own = learned_for(model.policies, METHOD, counted(model))
    return () if own is None else own.expected
