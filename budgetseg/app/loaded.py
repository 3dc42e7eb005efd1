"""The public face: `model = budgetseg.load("camvid")`, `result = model.label("drive.mp4", budget_s=10)`."""

import logging
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from budgetseg.app.engines import AUTO, FRAMES, SUPERVOXELS
from budgetseg.app.labeller import Labeller
from budgetseg.app.maps import confidence_of
from budgetseg.app.trace import ModelMark
from budgetseg.app.videos import open_counted
from budgetseg.engine.labelled import Labelled
from budgetseg.engine.request import Request
from budgetseg.frames.label import ByFrames
from budgetseg.inference.ledger import Ledger
from budgetseg.models.bundle import load_model
from budgetseg.models.find import bundled_models, find_model
from budgetseg.policy.episode import Selection
from budgetseg.types import Budget, Classes, Float32, UInt8
from budgetseg.video import VideoSource

__all__ = ["LoadedModel", "Result", "load"]

_log = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class Result:
    """A labelled video.

    Attributes
    ----------
    labels : (T, H, W) uint8, class index
    ledger : what the time was spent on
    classes : what the indices mean
    """

    labels: UInt8
    ledger: Ledger
    classes: Classes
    _labelled: Labelled
    _least: float

    @cached_property
    def confidence(self) -> Float32:
        """The probability of the likeliest class, (T, H, W) float32, by networks, or by H before the CRF."""
        if isinstance(self._labelled, ByFrames):
            return self._labelled.confidence
        t, height, width = self.labels.shape
        plan = self._labelled.plan
        assert plan is not None
        return confidence_of(self._labelled.whys, plan, (t, height, width), self._least)


@dataclass(frozen=True, eq=False)
class LoadedModel:
    """A model that is ready to label: loaded, compiled, and priced on this machine.

    Attributes
    ----------
    labeller : at work
    mark : by what the model is known again
    policy, select : names of who decides, and of who is considered first, None for what suits
    loading_s : seconds that it took to get ready
    """

    labeller: Labeller
    mark: ModelMark
    policy: str | None
    select: str | None
    loading_s: float

    @property
    def classes(self) -> Classes:
        """What it tells apart."""
        return self.labeller.model.classes

    def choose(self, engine: str, request: Request, why: bool = False) -> str:
        """The engine for a request, ready to start: `frames` or `supervoxels`."""
        return self.labeller.choose(engine, _needs(self.policy, self.select, request.scope, why))

    def label(
        self,
        video: str | Path | VideoSource,
        budget_s: float = 10.0,
        *,
        scope: str = "total",
        seed: int = 0,
        stopped: Callable[[], bool] = lambda: False,
        engine: str = AUTO,
    ) -> Result:
        """Label a video within a budget.

        Parameters
        ----------
        video : a file, a folder of images, or what `open_video` gives
        budget_s : seconds; `math.inf` for no bound
        scope : `total`, from the first frame read to labels ready, or `descriptors`
        seed : of what is random
        stopped : asked again and again; once it says so, no more is spent
        engine : frames, supervoxels, or auto, which is frames where the model has a network for them and nothing is
            asked for that takes supervoxels
        """
        source = video if isinstance(video, VideoSource) else open_counted(video)
        request = Request((Budget(budget_s),), scope, seed=seed)
        if self.choose(engine, request) == FRAMES:
            labelled: Labelled = self.labeller.label_frames(source, request, stopped)
        else:
            labelled = self.labeller.label(source, request, stopped)
        least = float(self.labeller.model.classifiers.prior.max())
        return Result(labelled.labels[0], labelled.ledgers[0], self.classes, labelled, least)


def load(
    name: str | Path,
    threads: int | None = None,
    policy: str | None = None,
    select: str | None = None,
    engine: str = AUTO,
) -> LoadedModel:
    """Get a model ready to label.

    Parameters
    ----------
    name : of a bundled model, or the folder of one
    threads : cores to use; None for all
    policy : who decides which descriptors are computed: learned, static or random; None for the best there is
    select : which supervoxels are considered first; None for what suits
    engine : that is made ready now, frames, supervoxels or auto; the other is when it is first asked for

    Examples
    --------
    >>> model = load("camvid")  # doctest: +SKIP
    >>> model.label("drive.mp4", budget_s=10).labels.shape  # doctest: +SKIP
    (250, 272, 640)
    """
    started = time.perf_counter()
    selection = None if select is None else Selection(select)
    folder = find_model(name)
    model = load_model(folder)
    _log.info("model '%s' of %s from %s", model.name, ", ".join(model.classifiers.names), folder)
    mark = ModelMark.of(model, folder, name in bundled_models())
    if engine == AUTO and _needs(policy, select):
        engine = SUPERVOXELS
    labeller = Labeller(model, threads or os.cpu_count() or 1, policy, selection, engine)
    loading_s = time.perf_counter() - started
    _log.info("ready after %.2f s", loading_s)
    return LoadedModel(labeller, mark, policy, select, loading_s)


def _needs(policy: str | None, select: str | None, scope: str = "total", why: bool = False) -> list[str]:
    """Options that take supervoxels."""
    asked = {"--policy": policy, "--select": select, "--why": why, f"--scope {scope}": scope != "total"}
    return [name for name, value in asked.items() if value]
