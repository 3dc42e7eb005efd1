"""The accuracy to expect of labels, and the budget that an accuracy needs.

By frames, a calibration tells from what a run has seen of the video. By regions, both are read off the curve of the
policy's accuracy out of fold by share of the full cost, and hold on video like that of the training.
"""

from collections.abc import Sequence
from dataclasses import replace

from budgetseg.app.strategy import counted
from budgetseg.engine.promise import Promise
from budgetseg.engine.request import Request
from budgetseg.engine.result import Result
from budgetseg.errors import UsageError
from budgetseg.models.bundle import AnyModel, Model
from budgetseg.policy.learned import METHOD, Expected, budget_for, expected_at, learned_for
from budgetseg.spaces.frames.signs import signs_of
from budgetseg.spaces.frames.space import Frames
from budgetseg.spaces.regions.costs import expected_share
from budgetseg.spaces.regions.space import Regions
from budgetseg.types import Budget
from budgetseg.video import VideoSource

__all__ = ["budget_of", "check_accuracy", "curve_of", "expect", "promises"]


def expect(model: Model, regions: Regions, source: VideoSource, request: Request) -> Expected | None:
    """The accuracy to expect of the last budget; None if the model has no curve, or nothing was labelled here yet."""
    known = curve_of(model)
    share = expected_share(regions, source, request) if known else None
    return None if share is None else expected_at(known, share)


def check_accuracy(accuracy: float) -> None:
    """Raise UsageError for an accuracy that no labels can have."""
    if not 0 <= accuracy <= 1:
        hint = f"; for {accuracy:g} % write {accuracy / 100:g}" if 1 < accuracy <= 100 else ""
        raise UsageError(f"the accuracy to aim at must be a share of the pixels, 0 to 1. Got {accuracy:g}{hint}")


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


def promises(
    model: AnyModel, space: Frames | Regions, source: VideoSource, request: Request, results: Sequence[Result]
) -> list[Promise | None]:
    """What is expected of the results of a run, one for each budget; None where no figure can be given."""
    if isinstance(space, Frames):
        return [_promise_by_frames(model, space, result) for result in results]
    if not isinstance(model, Model):
        return [None] * len(results)
    parts = [replace(request, budgets=(budget,)) for budget in request.budgets]
    known = [expect(model, space, source, part) for part in parts]
    return [None if found is None else Promise(found.overall, class_average=found.class_average) for found in known]


def _promise_by_frames(model: AnyModel, space: Frames, result: Result) -> Promise | None:
    signs = signs_of(result, space.settings.losses.most) if model.calibration is not None else None
    return None if model.calibration is None or signs is None else model.calibration.promise(signs)


def curve_of(model: Model) -> tuple[Expected, ...]:
    """Expected accuracies of a model's policy, by rising share of the full cost; empty if it has no learned policy."""
    learned = learned_for(model.policies, METHOD, counted(model))
    return () if learned is None else learned.expected
