"""Train a model from labelled videos: the work behind `budgetseg train`.

    networks, if none are given ─► describe ─► H, and its predictions out of fold ─► CRF
    ─► static plans ─► Baseline3 ─► policies ─► what may be promised ─► model

Each stage leaves its result in the work folder, so that an interrupted training goes on where it was.
"""

import json
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file, save_file

from budgetseg.baselines.static import PlanRecipe
from budgetseg.classifiers.fit import ClassifierRecipe, Fitted, fit_subsets, n_fits
from budgetseg.classifiers.samples import Samples, samples_of
from budgetseg.classifiers.subsets import SubsetClassifiers
from budgetseg.crf.learning import CrfRecipe, Example, learn_crf, potts
from budgetseg.crf.potentials import Crf, Nodes, expected_inputs
from budgetseg.datasets import open_dataset
from budgetseg.descriptors.describe import Description, count_frames, describe_dataset
from budgetseg.descriptors.registry import HAND_MADE
from budgetseg.descriptors.table import VideoTable, read_table
from budgetseg.files import atomic_folder, check_writable
from budgetseg.learning.adapt import table_gains
from budgetseg.learning.networks import with_networks
from budgetseg.learning.plans import Learned, choose_plans, n_plans
from budgetseg.learning.policies import PolicyRecipe, learn_policies, n_policies
from budgetseg.learning.promises import Rehearsals, calibration_of, unseen
from budgetseg.learning.qlearning import learn_baseline3, n_scores
from budgetseg.learning.stages import Stage
from budgetseg.models.bundle import H_ARRAYS, Model, save_model
from budgetseg.models.networks import in_class_order
from budgetseg.networks.recipe import NetworkRecipe
from budgetseg.spaces.frames.calibration import Calibration
from budgetseg.types import Float32

__all__ = ["Report", "TrainRecipe", "learning_examples", "read_fitted", "train_model"]

_log = logging.getLogger(__name__)

FORMAT = 3  # of the classifiers in a work folder; those of another format are fitted again


@dataclass(frozen=True)
class TrainRecipe:
    """Settings of all stages of training.

    Attributes
    ----------
    classifiers : settings of H
    crf : settings of the CRF
    plans : settings of static plans and of Baseline3; None for neither
    networks : settings of networks, which are trained if none are given
    policies : settings of policies; None for none
    promises : runs from which it is learned what labels by frames may promise; None for no promises
    """

    classifiers: ClassifierRecipe = field(default_factory=ClassifierRecipe)
    crf: CrfRecipe = field(default_factory=CrfRecipe)
    plans: PlanRecipe | None = field(default_factory=PlanRecipe)
    networks: NetworkRecipe = field(default_factory=NetworkRecipe)
    policies: PolicyRecipe | None = field(default_factory=PolicyRecipe)
    promises: Rehearsals | None = field(default_factory=Rehearsals)


@dataclass(frozen=True)
class Report:
    """Figures about a training.

    Attributes
    ----------
    decays : strengths of regularisation that were chosen for H, without and with a network
    calibration_error : expected calibration error of H out of fold, with all descriptors
    """

    decays: tuple[float, float]
    calibration_error: float


def train_model(
    plan: Description,
    output: Path,
    work: Path,
    recipe: TrainRecipe,
    cores: int = 1,
    stage: Stage = lambda *_: lambda _: None,
    tell: Callable[[str], None] = lambda _: None,
) -> Report:
    """Train a model and write it to a folder.

    Parameters
    ----------
    plan : dataset, splits, and how videos are described
    output : folder of the model
    work : folder that keeps the result of each stage, so that an interrupted training continues where it was
    recipe : settings of all stages
    cores : to use
    stage : reports progress
    tell : called with a line about every round of learning a policy
    """
    check_writable(output)
    plan = with_networks(plan, work / "networks", recipe.networks, cores, stage)
    tables = _describe(plan, work / "table", cores, stage)
    samples = samples_of(tables)
    _log.info("%d supervoxels of %d videos, with %s", len(samples.truth), len(tables), ", ".join(samples.values))
    fitted = _fit_classifiers(samples, work / "classifiers", recipe.classifiers, cores, stage)
    _log.info("classifiers: calibration error %.3f, decays %s", fitted.calibration_error, fitted.decays)
    crf = _learn_crf(tables, samples, fitted, recipe.crf, stage)
    settings = {"dataset": plan.dataset, "splits": list(plan.splits), "tier": plan.tier, "per_frame": plan.per_frame}
    classes = open_dataset(plan.dataset, plan.root).classes
    model = Model(output.name, classes, fitted.classifiers, crf, plan.networks, settings)
    model = replace(model, gains=table_gains(tables, in_class_order(model)))
    learned = Learned(model, tables, fitted.out_of_fold)
    if recipe.plans is not None:
        advance = stage("static plans", n_plans(model.classifiers.names), "plans")
        model = replace(model, plans=choose_plans(learned, recipe.plans, work / "plans.json", cores, advance))
        advance = stage("whole descriptors", n_scores(learned), "sets")
        baseline3 = learn_baseline3(learned, recipe.plans.balance, work / "wholes.json", cores, advance)
        model = replace(model, baseline3=baseline3)
        _log.info("%d static plans, %d policies of Baseline3", len(model.plans), len(baseline3))
    if recipe.policies is not None:
        advance = stage("policies", n_policies(model.classifiers.names, recipe.policies), "policies")
        policies = learn_policies(learned, recipe.policies, work / "policies", cores, advance, tell)
        model = replace(model, policies=policies)
        _log.info("%d policies", len(policies))
    if recipe.promises is not None and plan.networks is not None:
        model = replace(model, calibration=_calibrate(model, plan, recipe.promises, cores, stage))
    save_model(model, output)
    return Report(fitted.decays, fitted.calibration_error)


def _calibrate(model: Model, plan: Description, rehearsals: Rehearsals, cores: int, stage: Stage) -> Calibration | None:
    """What labels by frames may promise; None without fold networks, or with few videos."""
    assert plan.networks is not None
    dataset = open_dataset(plan.dataset, plan.root)
    videos = [video for split in plan.splits for video in dataset.videos(split)]
    stage("promises", None, "videos")
    seen = unseen(videos, plan.networks, in_class_order(model), model.classes, rehearsals)
    learned = calibration_of(seen, model.classifiers.prior.astype(np.float32), "labels", rehearsals, cores)
    _log.info("no promises: few videos, or no fold networks" if learned is None else "promises were learned")
    return learned


def _describe(plan: Description, folder: Path, cores: int, stage: Stage) -> list[VideoTable]:
    advance = stage("describe", count_frames(plan), "frames")
    return [read_table(place) for place in describe_dataset(plan, folder, cores, advance)]


def _fit_classifiers(samples: Samples, folder: Path, recipe: ClassifierRecipe, cores: int, stage: Stage) -> Fitted:
    """H and its predictions out of fold, read from the folder if they were fitted to the same samples before."""
    card = {"format": FORMAT, "recipe": str(recipe), "descriptors": list(samples.values), "samples": _digest(samples)}
    if (folder / "card.json").exists() and json.loads((folder / "card.json").read_text())["of"] == card:
        _log.info("classifiers from %s, fitted to the same before", folder)
        return read_fitted(folder)
    total = n_fits(len(samples.values), len(np.unique(samples.fold)), recipe)
    fitted = fit_subsets(samples, recipe, cores, stage("classifiers", total, "fits"))
    with atomic_folder(folder) as part:
        save_file({name: getattr(fitted.classifiers, name) for name in H_ARRAYS}, part / "classifiers.safetensors")
        np.save(part / "out_of_fold.npy", fitted.out_of_fold)
        h = fitted.classifiers
        card_fields: dict[str, object] = {"of": card, "names": h.names, "lengths": h.lengths, "opinions": h.opinions}
        card_fields |= {"decays": fitted.decays, "calibration_error": fitted.calibration_error}
        (part / "card.json").write_text(json.dumps(card_fields) + "\n")
    return fitted


def read_fitted(folder: Path) -> Fitted:
    """Read H and its predictions out of fold from a work folder."""
    card_fields = json.loads((folder / "card.json").read_text())
    arrays = load_file(folder / "classifiers.safetensors")
    names, lengths, opinions = (tuple(card_fields[key]) for key in ("names", "lengths", "opinions"))
    h = SubsetClassifiers(names, lengths, **arrays, opinions=opinions)
    return Fitted(
        h,
        np.load(folder / "out_of_fold.npy", mmap_mode="r"),
        tuple(card_fields["decays"]),
        card_fields["calibration_error"],
    )


def _digest(samples: Samples) -> str:
    """A digest of descriptors, labels and folds."""
    digest = sha256()
    for array in (samples.place, *samples.values.values(), samples.truth, samples.fold):
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


def _learn_crf(tables: Sequence[VideoTable], samples: Samples, fitted: Fitted, recipe: CrfRecipe, stage: Stage) -> Crf:
    h = fitted.classifiers
    inputs = h.scaled(samples.values)
    start = potts(expected_inputs(inputs, samples.truth))
    examples = learning_examples(tables, samples, fitted, inputs)
    return learn_crf(start, examples, recipe, stage("crf", recipe.n_rounds, "rounds"))


def learning_examples(tables: Sequence[VideoTable], samples: Samples, fitted: Fitted, inputs: Float32) -> list[Example]:
    """What the CRF learns from: every video twice, with the hand-made descriptors and with all.

    `inputs` are the descriptors of the samples as H scales them, (N, d).
    """
    h = fitted.classifiers
    hand_made = h.subset_of([name for name in HAND_MADE if name in h.names])
    examples = []
    for video, table in enumerate(tables):
        rows = np.flatnonzero(samples.video == video)
        for subset in sorted({hand_made, h.n_subsets - 1} - {0}):
            subsets = np.full(len(rows), subset, np.int32)
            evidence = Nodes(np.array(fitted.out_of_fold[rows, subset]), inputs[rows], subsets, h.starts)
            examples.append(Example(evidence, table.graph, table.truth))
    return examples
