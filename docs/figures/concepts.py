"""The figures of docs/concepts.md: `python -m docs.figures.concepts WORK`; WORK keeps what was trained.

Everything is of rendered streets: a model with the four hand-made descriptors is trained on eight of them, which takes
minutes the first time, and one that it has not seen is labelled in the simulator.
"""

import sys
from io import BytesIO
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from PIL import Image

from budgetseg.datasets import open_dataset
from budgetseg.descriptors.core import Scene
from budgetseg.descriptors.describe import Description, describe_dataset
from budgetseg.descriptors.live import LiveDescriptors
from budgetseg.descriptors.registry import HAND_MADE, open_descriptors
from budgetseg.descriptors.table import read_table
from budgetseg.evaluation.experiment import label_table
from budgetseg.learning.policies import PolicyRecipe
from budgetseg.learning.train import TrainRecipe, train_model
from budgetseg.models.bundle import Model, load_model
from budgetseg.policy.learned import learned_for
from budgetseg.policy.state import State
from budgetseg.simulate import Arena, play, reward
from budgetseg.spaces.regions.interpolation import interpolate
from budgetseg.supervoxels import build_hierarchy, segment
from budgetseg.timing.clock import thread_s
from budgetseg.timing.prices import Prices
from budgetseg.types import Int32, Supervoxels, UInt8
from budgetseg.video import blend, mark_boundaries

HERE = Path(__file__).parent
TIER, METHOD = "fast", "budget-wanted"
STREET, FRAME = 2, 30
LITTLE = 0.01
BUDGETS = (LITTLE, 0.02, 0.05, 0.1, 0.2, 0.5, 0.9)
# Okabe and Ito's colours.
LOOK = {"colour": "#e69f00", "hog": "#56b4e9", "hof": "#009e73", "mbh": "#cc79a7"}


class Street:
    """A street that the model has not seen, described, and what can be drawn of it."""

    def __init__(self, work: Path) -> None:
        self.model = _train(work)
        plan = Description("synthetic", None, ("test",), HAND_MADE, tier=TIER)
        self.table = read_table(describe_dataset(plan, work / "test", 2)[STREET])
        self.arena = Arena.of(self.model, self.table)
        self.video = open_dataset("synthetic").videos("test")[STREET].video()
        self.supervoxels: Supervoxels = segment(self.video.frames, len(self.arena), TIER)
        assert np.array_equal(self.supervoxels.graph.sizes, self.table.graph.sizes)

    @property
    def frame(self) -> UInt8:
        """The frame that is shown."""
        return np.asarray(self.video.frames[FRAME])

    def tinted(self, labels: Int32) -> UInt8:
        """The frame with the classes of supervoxels."""
        own = labels.astype(np.uint8)[self.supervoxels.ids[FRAME]]
        return blend(self.frame, own, self.model.classes.colours, 0.7)

    def right(self, labels: Int32) -> str:
        """Share of the video's pixels that have their class, for a title."""
        truth = self.arena.truth
        return f"{100 * truth[np.arange(len(truth)), labels].sum() / truth.sum():.1f} %"

    def run(self, fraction: float) -> State:
        """Where the learned policy ends up with a share of the full cost."""
        own = learned_for(self.model.policies, METHOD, HAND_MADE)
        assert own is not None
        policy, selection = own.at(fraction)
        episode = self.arena.begin(fraction * self.arena.full_s(HAND_MADE), HAND_MADE, selection)
        play(episode, self.arena.probabilities, policy)
        return episode.state


def _train(work: Path) -> Model:
    if not (work / "model").exists():
        policies = PolicyRecipe(methods=(METHOD,), costs=("shared",)).within(90)
        plan = Description("synthetic", None, ("train",), HAND_MADE, tier=TIER)
        train_model(plan, work / "model", work, TrainRecipe(policies=policies), cores=2, tell=print)
    return load_model(work / "model")


def draw_supervoxels(street: Street) -> Figure:
    """One tree, cut at three numbers."""
    hierarchy = build_hierarchy(street.video.frames)
    figure, panels = strip(4)
    show(panels[0], street.frame, "a frame")
    for panel, n in zip(panels[1:], (100, 400, 1600), strict=True):
        show(panel, mark_boundaries(street.frame, hierarchy.cut(n).ids[FRAME]), f"{n:,} in 60 frames")
    return figure


def draw_costs(street: Street) -> Figure:
    """What each call of a descriptor costs, one supervoxel after another."""
    figure = Figure((8, 2.6), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    scene = Scene.of(street.video.frames, street.supervoxels)
    regions = np.random.default_rng(0).permutation(len(street.supervoxels))[:400]
    for panel, name in zip(panels, ("colour", "hog"), strict=True):
        for _ in range(2):  # the first time something is compiled
            live = LiveDescriptors(scene, open_descriptors([name]), Prices(), timer=thread_s)
            spent = [live.compute(int(region), name) for region in regions]
        panel.semilogy([1e3 * own.total_s for own in spent], ".", color=LOOK[name], label="with resources", ms=3)
        panel.semilogy([1e3 * own.private_s for own in spent], color="0.3", lw=0.6, label="its own")
        panel.set(xlabel="calls", title=name)
        panel.legend(frameon=False, fontsize=8)
    panels[0].set_ylabel("ms a call")
    return figure


def draw_labels(street: Street) -> Figure:
    """From descriptors to labels."""
    table, h, n = street.table, street.model.classifiers, len(street.arena)
    colour, every = (np.full(n, h.subset_of(names), np.int32) for names in (["colour"], HAND_MADE))
    some = street.run(LITTLE)
    spread = interpolate(some.probabilities, some.subsets > 0, street.arena.neighbours, h.prior).argmax(axis=1)
    shown = {
        "best possible": table.truth.argmax(axis=1),
        "H, colour": label_table(street.model, table, colour, with_crf=False),
        "H, all four": label_table(street.model, table, every, with_crf=False),
        "all four, CRF": label_table(street.model, table, every),
        f"{100 * LITTLE:g} % of the cost, H": spread,
        f"{100 * LITTLE:g} % of the cost, CRF": reward(street.arena, some).labels,
    }
    figure, panels = strip(len(shown), 3)
    for panel, (title, labels) in zip(panels, shown.items(), strict=True):
        show(panel, street.tinted(labels), f"{title}: {street.right(labels)}")
    return figure


def draw_loop(street: Street) -> Figure:
    """What was computed, and what came of it, at three budgets."""
    figure, panels = strip(6, 3)
    greys = np.linspace(235, 20, 1 + len(HAND_MADE)).astype(np.uint8)
    for k, fraction in enumerate((LITTLE, 0.5, 0.9)):
        state = street.run(fraction)
        counts = np.array([int(subset).bit_count() for subset in state.subsets])
        labels = reward(street.arena, state).labels
        show(panels[k], greys[counts][street.supervoxels.ids[FRAME]], f"{100 * fraction:g} %: what was computed")
        show(panels[k + 3], street.tinted(labels), f"labels: {street.right(labels)}")
    return figure


def draw_policy(street: Street) -> Figure:
    """Which descriptors the learned policy buys, by budget."""
    figure = Figure((6, 2.6), layout="constrained")
    panel = figure.subplots()
    states = [street.run(fraction) for fraction in BUDGETS]
    for k, name in enumerate(street.model.classifiers.names):
        shares = [100 * float(np.mean(state.subsets >> k & 1)) for state in states]
        panel.bar(np.arange(len(BUDGETS)) + 0.2 * (k - 1.5), shares, 0.2, color=LOOK[name], label=name)
    panel.set_xticks(range(len(BUDGETS)), [f"{100 * fraction:g} %" for fraction in BUDGETS])
    panel.set(xlabel="budget, share of the full cost", ylabel="% of the supervoxels")
    panel.legend(frameon=False, fontsize=8)
    return figure


def strip(n: int, columns: int | None = None) -> tuple[Figure, list[Axes]]:
    """Room for n pictures, in one row if no number of columns is given."""
    columns = columns or n
    rows = -(-n // columns)
    figure = Figure((2.7 * columns, 2.25 * rows), layout="constrained")
    return figure, list(np.ravel(figure.subplots(rows, columns)))


def show(panel: Axes, picture: UInt8, title: str) -> None:
    """Draw a picture."""
    panel.imshow(picture, cmap="gray", vmin=0, vmax=255)
    panel.set_title(title, fontsize=9)
    panel.axis("off")


def save(figure: Figure, path: Path) -> None:
    """Write a small PNG."""
    figure.savefig(buffer := BytesIO(), dpi=110, bbox_inches="tight", pad_inches=0.05)
    Image.open(buffer).convert("RGB").quantize(128).save(path, optimize=True)
    print(path)


def main(work: Path) -> None:
    """Write PNGs beside this file."""
    street = Street(work)
    drawn = {
        "supervoxels": draw_supervoxels(street),
        "costs": draw_costs(street),
        "labels": draw_labels(street),
        "loop": draw_loop(street),
        "policy": draw_policy(street),
    }
    for name, figure in drawn.items():
        save(figure, HERE / f"{name}.png")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m docs.figures.concepts WORK")
    main(Path(sys.argv[1]))
