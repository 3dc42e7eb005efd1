"""Frames of a folder of PNG or JPEG images, in natural order."""

import os
import re
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np

from budgetseg.checked import Limits, read_regular
from budgetseg.errors import VideoError
from budgetseg.types import UInt8
from budgetseg.video.core import Frame, Span
from budgetseg.video.png import decode_image, is_whole_png
from budgetseg.video.room import check_room, image_size

__all__ = ["ImageFolder", "list_images", "natural_key", "open_folder", "read_image"]

_SUFFIXES = {".png", ".jpg", ".jpeg"}
_RATE = 25.0  # frames per second; images have no times, so that it is assumed
_AHEAD = 2  # images per thread that are read ahead


@dataclass(frozen=True)
class ImageFolder:
    """A folder of images, one per frame (the contract is `Clip`).

    Attributes
    ----------
    path : the folder
    files : its images, in natural order
    size : width and height that all of them share
    rate : frames per second, assumed
    threads : number of threads that read ahead; None for the number of cores
    """

    path: Path
    files: tuple[Path, ...]
    size: tuple[int, int]
    rate: float = _RATE
    threads: int | None = None

    @property
    def name(self) -> str:
        """Name of the folder."""
        return self.path.absolute().name

    @property
    def duration_s(self) -> None:
        """None: images have no duration."""
        return

    @property
    def n_frames(self) -> int:
        """Number of images."""
        return len(self.files)

    @property
    def stems(self) -> tuple[str, ...]:
        """File name of each image without its suffix."""
        return tuple(file.stem for file in self.files)

    def count(self) -> int:
        """Number of images."""
        return len(self.files)

    def frames(self, span: Span) -> Iterator[Frame]:
        """Frames of `span`, in order; VideoError at an image that cannot be read or has another size."""
        return self.pick(span.within(len(self.files)))

    def pick(self, indices: Iterable[int]) -> Iterator[Frame]:
        """Frames with these numbers, in this order, without reading others; the same for any number of threads."""
        threads = self.threads or os.cpu_count() or 1
        if threads == 1:
            yield from map(self._frame, indices)
            return
        waiting: deque[Future[Frame]] = deque()
        pool = ThreadPoolExecutor(threads)
        try:
            for index in indices:
                waiting.append(pool.submit(self._frame, index))
                if len(waiting) > _AHEAD * threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            pool.shutdown(cancel_futures=True)

    def _frame(self, index: int) -> Frame:
        return Frame(index, index / self.rate, self._read(self.files[index]))

    def _read(self, file: Path) -> UInt8:
        pixels = read_image(file, self.size)
        height, width = pixels.shape[:2]
        if (width, height) != self.size:
            raise VideoError(
                f"'{file}' is {width}x{height}, but the first image of the folder is "
                f"{self.size[0]}x{self.size[1]}; bring all images to one size"
            )
        return pixels


def open_folder(path: Path, threads: int | None = None, most_bytes: int | None = None) -> ImageFolder:
    """Open the images in `path`; the first one is read for its size."""
    files = list_images(path)
    if not files:
        raise VideoError(f"folder '{path}' holds no PNG or JPEG image; give a folder of images or a video file")
    height, width = read_image(files[0], most_bytes=most_bytes).shape[:2]
    return ImageFolder(path, files, (width, height), threads=threads)


def list_images(folder: Path) -> tuple[Path, ...]:
    """PNG and JPEG files of a folder, in natural order; hidden ones are left out."""
    files = (f for f in folder.iterdir() if f.suffix.lower() in _SUFFIXES and not f.name.startswith("."))
    return tuple(sorted(files, key=lambda file: natural_key(file.name)))


def natural_key(name: str) -> tuple[list[tuple[int, str]], str]:
    """A sort key that orders numbers in names by value: frame2 before frame10.

    Examples
    --------
    >>> sorted(["f10", "f2", "f02"], key=natural_key)
    ['f02', 'f2', 'f10']
    """
    parts = re.findall(r"(\d+)|(\D+)", name)
    return [(int(digits), "") if digits else (-1, text) for digits, text in parts], name


def read_image(path: Path, size: tuple[int, int] | None = None, most_bytes: int | None = None) -> UInt8:
    """Pixels of a PNG or JPEG as (H, W, 3) uint8 RGB: grey is repeated, 16 bits become 8, alpha is dropped.

    VideoError before it is decoded where one of another size than `size` needs more memory than `most_bytes`, or there
    is.
    """
    try:
        data = read_regular(path, Limits.image_bytes)
    except OSError as error:
        raise VideoError(f"cannot read '{path}': {error.strerror}; check the file") from error
    except ValueError as error:
        raise VideoError(f"cannot read '{path}': {error}; give PNG or JPEG files") from None
    stated = image_size(data)
    if stated is not None and size not in (stated, stated[::-1]):
        check_room(path, stated, most_bytes)
    # The PNG check comes first since libpng writes errors to the terminal.
    whole = not data.startswith(b"\x89PNG") or is_whole_png(data)
    image = decode_image(data, cv2.IMREAD_COLOR) if data and whole else None
    if image is None:
        raise VideoError(f"'{path}' is not an image that can be read; copy it again or remove it")
    return np.asarray(cv2.cvtColor(image, cv2.COLOR_BGR2RGB, dst=image), np.uint8)
