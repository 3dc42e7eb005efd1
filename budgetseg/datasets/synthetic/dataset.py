"""Synthetic streets as a dataset."""

from collections.abc import Sequence
from functools import lru_cache

from budgetseg.datasets.core import Dataset, LabelledVideo
from budgetseg.datasets.synthetic.classes import CLASSES
from budgetseg.datasets.synthetic.render import render
from budgetseg.errors import UsageError
from budgetseg.types import Labelling, UInt8, Video

__all__ = ["SyntheticDataset", "SyntheticVideo"]

_FIRST_TEST_SEED = 5000


class SyntheticVideo(LabelledVideo):
    """The clip of a seed, with labels for every frame; it is rendered on demand."""

    def __init__(self, seed: int, n_frames: int, size: tuple[int, int]) -> None:
        self.seed = seed
        self.n_frames = n_frames
        self.size = size
        self.name = f"street-{seed:04d}"
        self.labelled = tuple(range(n_frames))

    def video(self) -> Video:
        """All frames."""
        return _rendered(self.seed, self.n_frames, self.size)[0]

    def labels(self) -> UInt8:
        """Labels of all frames, (T, H, W)."""
        return _rendered(self.seed, self.n_frames, self.size)[1].labels


class SyntheticDataset(Dataset):
    """Streets of different seeds; the last quarter of `train` is its `selection`, the rest its `fit`."""

    name = "synthetic"
    classes = CLASSES
    splits = ("train", "fit", "selection", "test")

    def __init__(
        self, n_train: int = 8, n_test: int = 4, n_frames: int = 60, size: tuple[int, int] = (320, 240)
    ) -> None:
        if not 2 <= n_train <= _FIRST_TEST_SEED or not 1 <= n_test <= _FIRST_TEST_SEED:
            raise UsageError(
                f"synthetic needs 2 to {_FIRST_TEST_SEED} training and 1 to {_FIRST_TEST_SEED} test videos,"
                f" got {n_train} and {n_test}"
            )
        self.n_train = n_train
        self.n_test = n_test
        self.n_frames = n_frames
        self.size = size

    def _videos(self, split: str) -> Sequence[LabelledVideo]:
        n_fit = self.n_train - max(self.n_train // 4, 1)
        seeds = {
            "train": range(self.n_train),
            "fit": range(n_fit),
            "selection": range(n_fit, self.n_train),
            "test": range(_FIRST_TEST_SEED, _FIRST_TEST_SEED + self.n_test),
        }
        return [SyntheticVideo(seed, self.n_frames, self.size) for seed in seeds[split]]


@lru_cache(maxsize=1)
def _rendered(seed: int, n_frames: int, size: tuple[int, int]) -> tuple[Video, Labelling]:
    """Render a clip. The last one is kept, since frames and labels are mostly needed one after the other."""
    return render(seed, n_frames, size)
