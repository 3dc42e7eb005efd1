"""What labelling a window frame by frame costs: foretold by what it took before, and learned from what it takes now."""

import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager

from budgetseg.frames.apart import N_PAIRS
from budgetseg.frames.engine import FrameEngine
from budgetseg.frames.evidence import Evidence, Painting
from budgetseg.frames.heard import n_heard, reach_at
from budgetseg.frames.plan import COARSE, COPY
from budgetseg.frames.reader import Reader
from budgetseg.inference.ledger import Books, Entry, Ledger

__all__ = ["PaintingCosts", "WindowCosts"]

PAINTING = "fusing and pixels"
SLACK = 1.1
"""A question must fit even if it takes so many times what others took, and the last: one that is cut off is lost."""
KNOWN = 2.0
"""What was known before counts as so many questions."""
LOOKING, LOOKING_S = 0.02, 0.1
"""Share of the time that is left which looking at frames may take, and seconds that must be left for it."""
LEAST_PLAIN = 0.5
"""Of what it takes to paint plainly: where there was less to do, nothing is learned from the seconds that it took."""
COPY_S = 1.5e-10
"""Seconds a pixel to copy labels: too few are copied at a time to learn it."""
HEARD_WORK = 22.0
"""Work of carrying and fusing a cell of one key frame, where that of painting a pixel is 1."""


class PaintingCosts:
    """Seconds to carry and paint labels in a window, all threads taking part.

    Parameters
    ----------
    books : where costs are written down and learned
    evidence : what is known of the window, which only grows
    size : rows and columns of a frame
    threads : that take part
    """

    def __init__(self, books: Books, evidence: Evidence, size: tuple[int, int], threads: int) -> None:
        self.books = books
        self._evidence, self._threads = evidence, threads
        self._n_pixels, self._n_cells = float(size[0] * size[1]), evidence.cells[0] * evidence.cells[1]

    def flow_s(self, carry: str, n_pairs: int) -> float:
        """To find the flow of so many pairs of frames."""
        return 0.0 if carry == COPY else self.books.foretold_s(self._line(f"flow {carry}"), n_pairs * self._n_pixels)

    def may_look(self, left_s: float) -> bool:
        """Whether, where so many seconds are left, it may be looked at how far apart frames lie."""
        return left_s > LOOKING_S and self.flow_s(COARSE, N_PAIRS) < LOOKING * left_s

    @contextmanager
    def looking(self) -> Iterator[None]:
        """It is looked at now; too little is done to learn from it."""
        started = time.perf_counter()
        yield
        entry = self.books.ledger.stages.setdefault("flow", Entry())
        entry.add(self.flow_s(COARSE, N_PAIRS), time.perf_counter() - started)

    def paint_s(self, carry: str, frames_a_key: float) -> float:
        """To carry, fuse and paint all frames, where every so many are key frames."""
        n_frames, apart = self._evidence.n_frames, self._evidence.apart
        if carry == COPY:
            return self.copy_s(n_frames) + n_frames / frames_a_key * self.plain_s
        n_beside = sum(sorted(self._evidence.n_answers())[:-1])
        heard = n_frames * n_heard(frames_a_key, apart) + max(2 * reach_at(apart) + 1, 2) * n_beside
        return self._painting_s(self._fusing(heard)) + n_frames * self.plain_s

    def copy_s(self, n_frames: int) -> float:
        """To copy the labels of so many frames."""
        return n_frames * self._n_pixels * COPY_S

    def again_s(self, painting: Painting, frames: Collection[int]) -> float:
        """To paint some frames once more, as they were painted before."""
        evidence = self._evidence
        n_keys = len(evidence.answers[painting.network])
        heard = max(n_heard(evidence.n_frames / n_keys, evidence.apart), 2.0)
        each_s = self._painting_s(self._fusing(heard)) + self.plain_s
        return len(frames) * each_s + len({*frames} & {*painting.sharp}) * self.sharp_s

    @property
    def plain_s(self) -> float:
        """To paint a frame of which it is known what it is."""
        return self._painting_s(self._n_pixels)

    @property
    def sharp_s(self) -> float:
        """To paint a frame along its edges, on top of painting it."""
        return self.books.foretold_s(self._line("sharpen"), self._n_pixels)

    def found_flow(self, carry: str, n_pairs: int, seconds: float) -> None:
        """Of so many pairs of frames."""
        self.books.book("flow", n_pairs * self._n_pixels, seconds, self._line(f"flow {carry}"))

    def painted(self, carry: str, n_keys: int, n_late: int, n_sharp: int, seconds: float) -> None:
        """All frames were, by so many key frames, but for those that came too late, or were painted along edges."""
        evidence, n_frames = self._evidence, n_keys if carry == COPY else self._evidence.n_frames
        work = max(n_frames - n_late - n_sharp, 0) * self._n_pixels
        if carry != COPY:
            work += self._fusing(evidence.n_sources) * (n_frames - n_late) / n_frames
        least = 0.0 if self._line("paint") not in self.books.stages else LEAST_PLAIN * (n_frames - n_late)
        if work > least * self._n_pixels:
            self.books.book(PAINTING, work, max(seconds, 0.0), self._line("paint"))
        else:
            self.books.ledger.stages.setdefault(PAINTING, Entry()).add(self._painting_s(work), max(seconds, 0.0))

    def painted_again(self, painting: Painting, frames: Collection[int], seconds: float) -> None:
        """Some frames were."""
        self.books.ledger.stages.setdefault(PAINTING, Entry()).add(self.again_s(painting, frames), seconds)

    def copied(self, n_frames: int, seconds: float) -> None:
        """So many frames were."""
        if n_frames:
            self.books.ledger.stages.setdefault("copying", Entry()).add(self.copy_s(n_frames), seconds)

    def sharpened(self, n_frames: int, seconds: float) -> None:
        """So many frames were painted along edges."""
        if n_frames:
            self.books.book("edges", n_frames * self._n_pixels, seconds, self._line("sharpen"))

    def _painting_s(self, work: float) -> float:
        return self.books.foretold_s(self._line("paint"), work)

    def _fusing(self, heard: float) -> float:
        """Work, where frames hear so many key frames, all together."""
        return HEARD_WORK * heard * self._n_cells

    def _line(self, work: str) -> str:
        """What the costs of a kind of work are known by."""
        return f"frames {work} {self._threads}"


class WindowCosts(PaintingCosts):
    """Seconds of each kind of work in a window: painting, and what goes before it.

    Parameters
    ----------
    engine : labels it
    evidence : what is known of it, which only grows
    reader : of the video
    size : rows and columns of a frame
    ledger : of the window

    Attributes
    ----------
    books : where costs are written down and learned
    """

    def __init__(
        self, engine: FrameEngine, evidence: Evidence, reader: Reader, size: tuple[int, int], ledger: Ledger
    ) -> None:
        super().__init__(Books(ledger, engine.stages), evidence, size, engine.threads)
        self._reader = reader
        self._asked_s: dict[str, list[float]] = {}

    def decode_s(self, n_frames: int) -> float:
        """To decode so many frames."""
        return self.books.decoding_s(self._reader.line, n_frames * self._n_pixels, self._reader.can_skip)

    def ask_s(self, network: str) -> float:
        """For a question: what was known before, corrected by what was seen here."""
        known_s = self.books.foretold_s(self._line(network), 1.0)
        seen_s = self._asked_s.get(network, [])
        return (KNOWN * known_s + sum(seen_s) / self._threads) / (KNOWN + len(seen_s))

    def call_s(self, network: str) -> float:
        """That must be left to one thread for a question."""
        lately_s = sorted(self._asked_s.get(network, [0.0])[-3:])  # one that waited for a core says little
        return SLACK * max(self._threads * self.ask_s(network), lately_s[len(lately_s) // 2])

    def decoded(self, n_frames: int, seconds: float) -> None:
        """So many frames were."""
        if n_frames:
            self.books.book("decode", n_frames * self._n_pixels, seconds, self._reader.line)

    def answered(self, network: str, seconds: float) -> None:
        """A question was, on its thread; `asked` takes note of many."""
        self._asked_s.setdefault(network, []).append(seconds)

    def cut_off(self, network: str, seconds: float) -> None:
        """A question was, after so long: it takes at least that."""
        if seconds > self._threads * self.ask_s(network):
            self._learn(network, [seconds])

    def n_answered(self) -> dict[str, int]:
        """By network."""
        return {name: len(seen_s) for name, seen_s in self._asked_s.items()}

    def asked(self, before: dict[str, int], planned_s: dict[str, float], seconds: float) -> None:
        """All questions since `before` took so long together; `planned_s` is what one was foretold to take."""
        total_s = 0.0
        for name, seen_s in self._asked_s.items():
            new_s, each_s = seen_s[before.get(name, 0) :], planned_s.get(name, 0.0)
            if new_s:
                total_s += each_s * len(new_s)
                entry = Entry(each_s * len(new_s) * self._threads, sum(new_s), len(new_s))
                self.books.ledger.descriptors.setdefault(name, Entry()).merge(entry)
                self._learn(name, new_s)
        self.books.ledger.stages.setdefault("networks", Entry()).add(total_s, seconds)

    def _learn(self, network: str, took_s: Sequence[float]) -> None:
        """What questions cost, from what these took, each on its thread."""
        stages = self.books.stages
        stages.observe(self._line(network), len(took_s), sum(took_s) / self._threads / stages.contention.stretch)
