"""The picture of README.md: `python -m docs.figures.budgets WORK`, which leaves in WORK what the demo does."""

import sys
from pathlib import Path

from matplotlib.figure import Figure

from budgetseg.app.labeller import Labeller
from budgetseg.app.model import load
from budgetseg.cli.demo import SEED
from budgetseg.datasets.synthetic import render
from budgetseg.evaluation.demo import label_street
from budgetseg.video import blend, read_label_pngs
from docs.figures.concepts import HERE, save, show, strip

FRAME = 30
OPACITY = 0.7


def draw(work: Path) -> Figure:
    """A frame, its labels at every budget of the demo with the accuracy in all frames, and its true classes."""
    video, truth = render(SEED)
    *rows, _ = label_street(Labeller(load("synthetic")), video, truth, work)
    frame, colours = video.frames[FRAME], truth.classes.colours
    figure, panels = strip(2 + len(rows))
    show(panels[0], frame, "a frame")
    for panel, row in zip(panels[1:-1], rows, strict=True):
        labels = read_label_pngs(work / "street" / row.budget / "labels")[FRAME]
        right, average = (f"{100 * share:.0f} %" for share in (row.accuracy.overall, row.accuracy.class_average))
        show(panel, blend(frame, labels, colours, OPACITY), f"{row.ledger['spent_s']:.2f} s: {right}, {average}")
    show(panels[-1], blend(frame, truth.labels[FRAME], colours, OPACITY), "true classes")
    return figure


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m docs.figures.budgets WORK")
    save(draw(Path(sys.argv[1])), HERE / "budgets.png")
