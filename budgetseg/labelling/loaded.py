"""The public face: `model = budgetseg.load("camvid")`, `result = model.label("drive.mp4", budget_s=10)`."""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from budgetseg.inference.episode import Selection
from budgetseg.inference.label import Labelled, Request
from budgetseg.inference.ledger import Ledger
from budgetseg.labelling.labeller import Labeller
from budgetseg.labelling.maps import confidence_of
from budgetseg.labelling.trace import ModelMark
from budgetseg.labelling.videos import open_counted
from budgetseg.models.bundle import load_model
from budgetseg.models.find import bundled_models, find_model
from budgetseg.types import Budget, Classes, Float32, UInt8
from budgetseg.video import VideoSource

__all__ = ["LoadedModel", "Result", "load"]


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
        """The probability of the likeliest class by H, (T, H, W) float32, before the CRF."""
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

    def label(
        self,
        video: str | Path | VideoSource,
        budget_s: float = 10.0,
        *,
        scope: str = "total",
        seed: int = 0,
        stopped: Callable[[], bool] = lambda: False,
    ) -> Result:
        """Label a video within a budget.

        Parameters
        ----------
        video : a file, a folder of images, or what `open_video` gives
        budget_s : seconds; `math.inf` for no bound
        scope : `total`, from the first frame read to labels ready, or `descriptors`
        seed : of what is random
        stopped : asked again and again; once it says so, no more is spent
        """
        source = video if isinstance(video, VideoSource) else open_counted(video)
        labelled = self.labeller.label(source, Request((Budget(budget_s),), scope, seed=seed), stopped)
        least = float(self.labeller.model.classifiers.prior.max())
        return Result(labelled.labels[0], labelled.ledgers[0], self.classes, labelled, least)


def load(
    name: str | Path, threads: int | None = None, policy: str | None = None, select: str | None = None
) -> LoadedModel:
    """Get a model ready to label.

    Parameters
    ----------
    name : of a bundled model, or the folder of one
    threads : cores to use; None for all
    policy : who decides which descriptors are computed: learned, static or random; None for the best there is
    select : which supervoxels are considered first; None for what suits

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
    mark = ModelMark.of(model.name, folder, name in bundled_models())
    labeller = Labeller(model, threads or os.cpu_count() or 1, policy, selection)
    return LoadedModel(labeller, mark, policy, select, time.perf_counter() - started)
