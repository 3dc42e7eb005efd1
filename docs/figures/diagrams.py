"""The diagrams of docs/concepts.md and docs/architecture.md.

`python -m docs.figures.diagrams` writes SVG files beside this one.
"""

from dataclasses import dataclass, field
from html import escape
from pathlib import Path

HERE = Path(__file__).parent

# Legible on light and on dark pages alike.
WORK, DATA, CHOICE, LINE = "#cfe8fc", "#f3f3f3", "#ffe1a8", "#888888"


@dataclass
class Diagram:
    """Boxes with words and arrows between them, on a grid of points."""

    width: int
    height: int
    parts: list[str] = field(default_factory=list)

    def box(self, x: int, y: int, width: int, words: str, fill: str = WORK, height: int = 44) -> None:
        """A box with a line of words for each line, its top left corner at x, y."""
        self.parts.append(
            f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="6" fill="{fill}" stroke="{LINE}"/>'
        )
        lines = words.split("\n")
        first = y + height / 2 - 8 * (len(lines) - 1) + 4
        for k, line in enumerate(lines):
            self._text(x + width / 2, first + 16 * k, line, "#111111", "middle")

    def arrow(self, *points: tuple[int, int]) -> None:
        """A line through points, with a head at its end."""
        path = " ".join(f"{x},{y}" for x, y in points)
        self.parts.append(
            f'<polyline points="{path}" fill="none" stroke="{LINE}" stroke-width="1.6" marker-end="url(#head)"/>'
        )

    def bracket(self, x: int, y: int, width: int, words: str) -> None:
        """A line over some boxes, and what it says of them."""
        self.parts.append(f'<path d="M{x},{y + 8} v-8 h{width} v8" fill="none" stroke="{LINE}" stroke-width="1.6"/>')
        self._text(x + width / 2, y - 8, words, LINE, "middle")

    def note(self, x: int, y: int, words: str) -> None:
        """Words beside an arrow."""
        self._text(x, y, words, LINE, "start")

    def _text(self, x: float, y: float, words: str, colour: str, anchor: str) -> None:
        self.parts.append(f'<text x="{x:g}" y="{y:g}" fill="{colour}" text-anchor="{anchor}">{escape(words)}</text>')

    def svg(self) -> str:
        """The whole picture."""
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" '
            f'width="{self.width}" font-family="sans-serif" font-size="13">\n'
            f'<defs><marker id="head" markerWidth="8" markerHeight="8" refX="7" refY="4" orient="auto">'
            f'<path d="M0,0 L8,4 L0,8 z" fill="{LINE}"/></marker></defs>\n'
        )
        return head + "\n".join(self.parts) + "\n</svg>\n"


def flow() -> Diagram:
    """What happens to a video, and what a model is made of."""
    own = Diagram(860, 250)
    own.bracket(20, 30, 820, "label: for each video, under the clock")
    row = (
        "video",
        "supervoxels,\ntheir graph",
        "budgeted loop",
        "H's\nprobabilities",
        "interpolation",
        "CRF",
        "labels",
    )
    for k, words in enumerate(row):
        own.box(20 + 119 * k, 50, 104, words, DATA if k in (0, 6) else WORK)
        if k:
            own.arrow((20 + 119 * k - 15, 72), (20 + 119 * k - 1, 72))
    own.bracket(20, 150, 820, "train: once for a dataset")
    stages = (
        "labelled\nvideos",
        "all descriptors,\nmeasured costs",
        "H, a classifier\nfor each subset",
        "CRF's prices",
    )
    for k, words in enumerate(stages):
        own.box(20 + 145 * k, 170, 125, words, DATA if k == 0 else WORK)
        if k:
            own.arrow((20 + 145 * k - 20, 192), (20 + 145 * k - 1, 192))
    own.box(600, 170, 110, "policy, learned\nby simulation", WORK)
    own.box(745, 170, 95, "model", DATA)
    own.arrow((580, 192), (599, 192))
    own.arrow((710, 192), (744, 192))
    own.arrow((792, 170), (792, 120), (310, 120), (310, 95))
    return own


def algorithm() -> Diagram:
    """Algorithm 1."""
    own = Diagram(820, 270)
    own.box(20, 40, 130, "candidates C", DATA)
    own.box(200, 40, 130, "Select:\nwho is next?", CHOICE)
    own.box(380, 40, 130, "policy:\nwhat for it?", CHOICE)
    own.box(600, 40, 190, "compute the descriptor,\nask H again")
    own.box(380, 140, 130, "Finished", DATA)
    own.box(200, 140, 130, "neighbours join\nthe candidates")
    own.box(600, 210, 190, "interpolate, CRF, labels")
    own.arrow((150, 62), (199, 62))
    own.arrow((330, 62), (379, 62))
    own.arrow((510, 62), (599, 62))
    own.note(520, 52, "descriptor")
    own.arrow((445, 84), (445, 139))
    own.note(452, 116, "nothing more")
    own.arrow((380, 162), (331, 162))
    own.arrow((200, 162), (85, 162), (85, 85))
    own.arrow((695, 40), (695, 15), (265, 15), (265, 39))
    own.note(560, 30, "time is left")
    own.arrow((695, 84), (695, 209))
    own.note(702, 150, "nothing fits")
    return own


def spaces() -> Diagram:
    """The two ways from a video to labels."""
    own = Diagram(860, 200)
    own.box(20, 78, 90, "video", DATA)
    rows = {
        24: ("supervoxels", "descriptors of some,\nthe policy's choice", "H, interpolation,\nCRF", "regions"),
        132: (
            "networks on\nsome frames",
            "predictions carried\nalong optical flow",
            "fused in every\nframe",
            "frames",
        ),
    }
    for y, (*boxes, name) in rows.items():
        own.arrow((110, 100), (140, 100), (140, y + 22), (209, y + 22))
        own.note(146, y - 6 if y < 100 else y + 62, f"space {name}")
        for k, words in enumerate(boxes):
            own.box(210 + 185 * k, y, 150, words)
            if k:
                own.arrow((210 + 185 * k - 35, y + 22), (210 + 185 * k - 1, y + 22))
        own.arrow((730, y + 22), (755, y + 22), (755, 100), (769, 100))
    own.box(770, 78, 75, "labels", DATA)
    return own


def architecture() -> Diagram:
    """How a labelled video and a trained model go through the folders."""
    own = Diagram(900, 420)
    own.bracket(20, 30, 860, "budgetseg label: one video")
    own.box(20, 50, 110, "cli/\nlabel")
    own.box(170, 50, 110, "app/\nload, files")
    own.box(320, 50, 130, "engine/ run\nwindows, budgets", CHOICE)
    own.box(490, 50, 170, "engine/ loop\nAlgorithm 1", CHOICE)
    own.box(720, 50, 160, "Result: labels,\nledger, trace", DATA)
    for x in (130, 280, 450):
        own.arrow((x, 72), (x + 39, 72))
    own.arrow((660, 72), (719, 72))
    own.box(320, 140, 150, "spaces/ frames\nframe x network")
    own.box(500, 140, 170, "spaces/ regions\nsupervoxel x descriptor")
    own.arrow((560, 95), (430, 139))
    own.arrow((585, 95), (585, 139))
    own.note(592, 122, "choose, do, add, finish")
    own.box(320, 220, 150, "propagate/\nflow, fusing, pixels")
    own.box(510, 220, 150, "policy/ crf/\nclassifiers/")
    own.box(720, 140, 160, "timing/\nclock, prices, ledger", DATA)
    own.box(720, 220, 160, "video/ supervoxels/\ndescriptors/", DATA)
    own.arrow((395, 184), (395, 219))
    own.arrow((585, 184), (585, 219))
    own.arrow((670, 162), (719, 162))
    own.arrow((660, 242), (719, 242))
    own.bracket(20, 315, 860, "budgetseg train: one model")
    own.box(20, 335, 130, "datasets/\nlabelled videos", DATA)
    own.box(190, 335, 140, "descriptors/\ntable of everything")
    own.box(370, 335, 130, "classifiers/ crf/\nH, energies")
    own.box(540, 335, 160, "simulate/ learning/\nthe loop over a table", CHOICE)
    own.box(740, 335, 140, "models/\nbundle", DATA)
    for x in (150, 330, 500, 700):
        own.arrow((x, 357), (x + 39, 357))
    own.arrow((810, 335), (810, 292), (225, 292), (225, 95))
    return own


def clock() -> Diagram:
    """What a budget covers."""
    own = Diagram(860, 150)
    row = (
        (110, "load, compile,\nmeasure", DATA),
        (80, "read", WORK),
        (110, "supervoxels", WORK),
        (260, "descriptors,\none after the other", CHOICE),
        (90, "interpolate", WORK),
        (60, "CRF", WORK),
        (60, "paint", WORK),
        (70, "write", DATA),
    )
    x, starts = 6, []
    for width, words, fill in row:
        starts.append(x)
        own.box(x, 60, width - 4, words, fill)
        x += width
    own.bracket(starts[1], 40, starts[7] - starts[1] - 4, "budget, scope total")
    own.arrow((starts[3] + 60, 122), (starts[3], 122))
    own.arrow((starts[3] + 196, 122), (starts[4] - 4, 122))
    own.note(starts[3] + 66, 126, "scope descriptors")
    own.note(starts[4], 126, "reserved before descriptors start")
    return own


def live() -> Diagram:
    """Who waits for whom in a stream."""
    own = Diagram(880, 330)
    own.bracket(20, 30, 840, "the loop: for each frame, within the latency from its arrival")
    own.box(20, 50, 110, "camera,\nstream, file", DATA)
    own.box(170, 50, 110, "inbox: waits,\noldest dropped", DATA)
    own.box(320, 50, 130, "flow from the\nframe before")
    own.box(490, 50, 130, "carry, fuse,\npaint")
    own.box(660, 50, 90, "labels", DATA)
    own.box(780, 50, 85, "your code")
    for x in (130, 280, 450, 620, 750):
        own.arrow((x, 72), (x + 38 if x < 750 else 779, 72))
    own.box(490, 150, 130, "what is known,\ncarried along", DATA)
    own.arrow((555, 150), (555, 95))
    own.note(562, 126, "at once")
    own.box(320, 150, 130, "which network,\nis it worth it?", CHOICE)
    own.arrow((385, 94), (385, 149))
    own.note(392, 126, "newest frame")
    own.box(490, 235, 130, "quick network,\nwaited for")
    own.box(320, 235, 130, "dear network,\nbeside the stream")
    own.arrow((385, 194), (385, 234))
    own.arrow((430, 194), (510, 234))
    own.arrow((555, 235), (555, 195))
    own.note(562, 220, "in time")
    own.arrow((385, 279), (385, 305), (650, 305), (650, 172), (621, 172))
    own.note(400, 298, "late: carried to the newest frame")
    own.box(660, 110, 90, "page,\nmetrics")
    own.box(780, 110, 85, "recording")
    own.arrow((705, 94), (705, 109))
    own.arrow((735, 94), (820, 109))
    own.note(668, 172, "both in threads of their own:")
    own.note(668, 190, "what they cannot take is left out")
    own.note(20, 126, "a thread for each source:")
    own.note(20, 144, "opens again what is lost")
    return own


def main() -> None:
    """Write all of them."""
    for name, make in (
        ("flow", flow),
        ("algorithm", algorithm),
        ("spaces", spaces),
        ("architecture", architecture),
        ("clock", clock),
        ("live", live),
    ):
        (HERE / f"{name}.svg").write_text(make().svg())
        print(HERE / f"{name}.svg")


if __name__ == "__main__":
    main()
