"""What is written can be read back, looks as it should, and is never left half done."""

import resource
import struct
import time
import zlib
from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from budgetseg.errors import OutputError, VideoError
from budgetseg.types import IGNORE, Classes, Labelling, UInt8, Video
from budgetseg.video import (
    VideoWriter,
    blend,
    encode,
    mark_boundaries,
    open_video,
    read_index_png,
    read_label_pngs,
    write_label_pngs,
    write_overlay,
)

CLASSES = Classes(("sky", "road", "car"), np.array([[10, 20, 200], [128, 64, 128], [255, 0, 0]], np.uint8))


def some_labels(shape: tuple[int, ...], seed: int = 0) -> UInt8:
    return np.random.default_rng(seed).choice(np.array([0, 1, 2, IGNORE], np.uint8), shape)


def smooth_video(n_frames: int = 12, size: tuple[int, int] = (64, 48), rate: float = 10.0) -> Video:
    width, height = size
    rows, columns = np.mgrid[:height, :width]
    frames = [np.dstack([rows * 3, columns * 3, 0 * rows + 10 * k]).astype(np.uint8) for k in range(n_frames)]
    return Video(np.stack(frames), np.arange(n_frames) / rate, "smooth")


def write_all(writer: VideoWriter, frames: list[UInt8]) -> None:
    for frame in frames:
        writer.write(frame)


def png_of(indices: UInt8, depth: int, colour_type: int) -> bytes:
    """A PNG of `depth` bits a pixel, built here, so that the reader is not tested with its own writer."""
    height, width = indices.shape
    bits = np.unpackbits(indices[..., None], axis=2)[..., 8 - depth :].reshape(height, -1)
    rows = b"".join(b"\0" + np.packbits(row).tobytes() for row in bits)
    header = struct.pack(">IIBBBBB", width, height, depth, colour_type, 0, 0, 0)
    parts = [(b"IHDR", header), (b"PLTE", bytes(range(3 * 2**depth)) if depth < 8 else bytes(768)), (b"tRNS", b"\0")]
    parts = parts if colour_type == 3 else parts[:1]
    parts += [(b"IDAT", zlib.compress(rows)), (b"IEND", b"")]
    chunks = [struct.pack(">I", len(b)) + k + b + struct.pack(">I", zlib.crc32(k + b)) for k, b in parts]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def test_labels_come_back_as_they_were_written(tmp_path: Path) -> None:
    labels = some_labels((12, 9, 13))
    write_label_pngs(tmp_path / "labels", labels, CLASSES)
    assert np.array_equal(read_label_pngs(tmp_path / "labels"), labels)
    assert sorted(f.name for f in (tmp_path / "labels").iterdir())[:2] == ["000000.png", "000001.png"]


@given(indices=arrays(np.uint8, st.tuples(st.integers(1, 40), st.integers(1, 40))))
def test_any_index_survives_the_png(tmp_path_factory: pytest.TempPathFactory, indices: UInt8) -> None:
    classes = Classes(tuple(map(str, range(255))), np.zeros((255, 3), np.uint8))
    folder = tmp_path_factory.mktemp("png")
    write_label_pngs(folder, indices[None], classes, ["x"])
    assert np.array_equal(read_index_png(folder / "x.png"), indices)


def test_viewers_show_the_class_colours_and_black_for_ignore(tmp_path: Path) -> None:
    labels = some_labels((1, 9, 13))
    write_label_pngs(tmp_path, labels, CLASSES, ["only"])
    shown = cv2.imread(str(tmp_path / "only.png"), cv2.IMREAD_COLOR)
    assert shown is not None
    expected = np.vstack([CLASSES.colours, np.zeros((253, 3), np.uint8)])[labels[0]]
    assert np.array_equal(shown[..., ::-1], expected)


@pytest.mark.parametrize("depth", [1, 2, 4, 8])
@pytest.mark.parametrize("colour_type", [0, 3])
def test_grey_and_palette_pngs_of_any_depth_give_their_indices(tmp_path: Path, depth: int, colour_type: int) -> None:
    indices = np.random.default_rng(0).integers(0, 2**depth, (11, 17)).astype(np.uint8)
    (tmp_path / "x.png").write_bytes(png_of(indices, depth, colour_type))
    assert np.array_equal(read_index_png(tmp_path / "x.png"), indices)


def test_label_pngs_of_real_datasets_give_their_indices(data_root: Path) -> None:
    file = next(iter(sorted((data_root / "camvid" / "valannot").glob("*.png"))))
    expected = cv2.imread(str(file), cv2.IMREAD_UNCHANGED)
    assert expected is not None
    assert np.array_equal(read_index_png(file), expected)


def test_reading_indices_is_fast(tmp_path: Path) -> None:
    labels = np.repeat(np.repeat(some_labels((1, 45, 60)), 8, axis=1), 8, axis=2)
    write_label_pngs(tmp_path, labels, CLASSES, ["x"])
    start_s = time.perf_counter()
    for _ in range(20):
        read_index_png(tmp_path / "x.png")
    assert time.perf_counter() - start_s < 20 / 100


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (np.zeros((4, 4, 3), np.uint8), "is RGB, not one index per pixel"),
        (np.zeros((4, 4, 4), np.uint8), "is RGB with alpha, not one index per pixel"),
        (np.zeros((4, 4), np.uint16), "has 16 bits per pixel"),
    ],
)
def test_other_kinds_of_png_hold_no_indices(tmp_path: Path, content: UInt8, complaint: str) -> None:
    cv2.imwrite(str(tmp_path / "x.png"), content)
    with pytest.raises(VideoError, match=rf"x\.png' {complaint}; give an 8-bit grey or palette PNG"):
        read_index_png(tmp_path / "x.png")


@pytest.mark.parametrize(
    ("damage", "complaint"),
    [
        (lambda data: data[:60], "cut short"),
        (lambda data: data[:-5], "cut short"),
        (lambda data: data[:-20] + bytes(4) + data[-16:], "damaged PNG"),
        (lambda _: b"hello", "is not a PNG"),
        (lambda _: b"", "is not a PNG"),
    ],
)
def test_a_damaged_png_is_refused(tmp_path: Path, damage: Callable[[bytes], bytes], complaint: str) -> None:
    (tmp_path / "x.png").write_bytes(damage(png_of(some_labels((30, 30)), 8, 3)))
    with pytest.raises(VideoError, match=complaint):
        read_index_png(tmp_path / "x.png")
    with pytest.raises(VideoError, match="cannot read"):
        read_index_png(tmp_path / "y.png")


def test_labels_that_make_no_sense_are_refused(tmp_path: Path) -> None:
    labels = some_labels((2, 4, 4))
    for bad, stems, complaint in [
        (np.full((1, 2, 2), 7, np.uint8), None, "label 7 is none of the 3 classes"),
        (labels, ["a"], "stems must name each of the 2 frames. Got 1"),
        (labels, ["a", "a"], "stems must differ"),
    ]:
        with pytest.raises(VideoError, match=complaint):
            write_label_pngs(tmp_path / "out", bad, CLASSES, stems)
    assert not (tmp_path / "out").exists()


def test_reading_labels_names_what_is_wrong(tmp_path: Path) -> None:
    with pytest.raises(VideoError, match="there are no label PNGs"):
        read_label_pngs(tmp_path)
    write_label_pngs(tmp_path, some_labels((1, 4, 4)), CLASSES, ["a"])
    write_label_pngs(tmp_path, some_labels((1, 4, 5)), CLASSES, ["b"])
    with pytest.raises(VideoError, match=r"b\.png' has shape \(4, 5\)"):
        read_label_pngs(tmp_path)


@pytest.mark.parametrize("encoder", ["libx264", "mpeg4"])
def test_a_written_video_reads_back_alike(tmp_path: Path, encoder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encode, "_ENCODERS", {"no such encoder": {}, encoder: encode._ENCODERS[encoder]})
    video = smooth_video()
    with VideoWriter(tmp_path / "v.mp4", (64, 48), 30000 / 1001) as writer:
        write_all(writer, list(video.frames))
    back = open_video(tmp_path / "v.mp4")
    assert back.n_frames == 12
    assert back.rate == pytest.approx(30000 / 1001)
    assert np.abs(back.read().frames.astype(int) - video.frames).mean() < 4


@pytest.mark.parametrize("rate", [25 / 60_000, 1e-9, 0.0, 240.0])
def test_a_video_of_any_rate_keeps_its_frames(tmp_path: Path, rate: float) -> None:
    with VideoWriter(tmp_path / "v.mp4", (64, 48), rate) as writer:
        write_all(writer, list(smooth_video(3).frames))
    back = open_video(tmp_path / "v.mp4")
    assert back.count() == 3
    assert back.rate == pytest.approx(max(rate, 1 / 1001))


def test_strong_colours_survive_the_video(tmp_path: Path) -> None:
    for colour in [(255, 0, 0), (0, 255, 0), (0, 0, 255), (255, 255, 255), (0, 0, 0)]:
        with VideoWriter(tmp_path / "c.mp4", (32, 32), 25.0) as writer:
            writer.write(np.full((32, 32, 3), colour, np.uint8))
        back = open_video(tmp_path / "c.mp4").read().frames[0]
        assert np.abs(back.mean(axis=(0, 1)) - colour).max() < 6


def test_an_odd_size_grows_by_a_copy_of_its_edge(tmp_path: Path) -> None:
    frame = smooth_video(1, (65, 47)).frames[0]
    with VideoWriter(tmp_path / "odd.mp4", (65, 47), 25.0) as writer:
        writer.write(frame)
    back = open_video(tmp_path / "odd.mp4").read().frames[0]
    assert back.shape == (48, 66, 3)
    assert np.abs(back.astype(int) - np.pad(frame, ((0, 1), (0, 1), (0, 0)), "edge")).mean() < 4


def test_an_mp4_carries_its_index_in_front(tmp_path: Path) -> None:
    write_overlay(tmp_path / "v.mp4", smooth_video())
    data = (tmp_path / "v.mp4").read_bytes()
    assert data.index(b"moov") < data.index(b"mdat")


def test_a_failed_video_leaves_nothing_behind(tmp_path: Path) -> None:
    with (
        pytest.raises(VideoError, match=r"a frame of shape \(3, 4, 3\) does not fit a video of 64x48"),
        VideoWriter(tmp_path / "v.mp4", (64, 48), 25.0) as writer,
    ):
        write_all(writer, [np.zeros((48, 64, 3), np.uint8), np.zeros((3, 4, 3), np.uint8)])
    with pytest.raises(VideoError, match="no frame was written"), VideoWriter(tmp_path / "v.mp4", (64, 48), 25.0):
        pass
    with pytest.raises(VideoError, match=r"cannot write a video named '\*\.xyz'"):
        write_overlay(tmp_path / "v.xyz", smooth_video())
    assert not list(tmp_path.iterdir())


def test_a_full_disk_is_told_in_one_line_and_leaves_nothing_behind(tmp_path: Path) -> None:
    noise = np.random.default_rng(0).integers(0, 256, (20, 96, 96, 3)).astype(np.uint8)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (5000, before[1]))
    try:
        with pytest.raises(OutputError, match="File too large; free some space or choose another place"):
            write_overlay(tmp_path / "v.mp4", Video(noise, np.arange(20.0)))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert not list(tmp_path.iterdir())


def test_blending_tints_classes_and_spares_the_ignored() -> None:
    frame, labels = smooth_video(1).frames[0], some_labels((48, 64))
    labels[0, 0] = IGNORE
    assert np.array_equal(blend(frame, labels, CLASSES.colours, 0.0), frame)
    full, half = (blend(frame, labels, CLASSES.colours, opacity) for opacity in (1.0, 0.5))
    known = labels != IGNORE
    assert np.array_equal(full[known], CLASSES.colours[labels[known]])
    assert np.array_equal(full[~known], frame[~known])
    assert np.array_equal(half[~known], frame[~known])
    assert np.abs(half[known] - (frame[known] / 2 + CLASSES.colours[labels[known]] / 2)).max() <= 1


@pytest.mark.parametrize("grey", [0, 60, 112, 113, 128, 200, 255])
def test_boundaries_stand_out_on_any_ground(grey: int) -> None:
    frame = np.full((6, 8, 3), grey, np.uint8)
    ids = np.zeros((6, 8), np.int32)
    ids[2:4, 3:6] = 7
    marked = mark_boundaries(frame, ids)
    changed = (marked != frame).any(axis=2)
    expected = np.zeros((6, 8), bool)
    expected[2:4, [2, 5]] = expected[[1, 3], 3:6] = True
    assert np.array_equal(changed, expected)
    brightness = cv2.cvtColor(marked, cv2.COLOR_RGB2GRAY).astype(int)
    assert np.abs(brightness[changed] - grey).min() >= 113
    assert (frame == grey).all()


def test_an_overlay_shows_the_blended_frames_at_their_rate(tmp_path: Path) -> None:
    video = smooth_video()
    labels = np.repeat(np.arange(48, dtype=np.uint8)[None, :, None] // 16, 12, axis=0).repeat(64, axis=2)
    write_overlay(tmp_path / "o.mp4", video, Labelling(labels, CLASSES), labels.astype(np.int32))
    back = open_video(tmp_path / "o.mp4")
    expected = mark_boundaries(blend(video.frames[3], labels[3], CLASSES.colours), labels[3].astype(np.int32))
    assert back.rate == pytest.approx(10.0)
    assert np.abs(back.read().frames[3].astype(int) - expected).mean() < 8


def test_an_overlay_of_other_frames_is_refused(tmp_path: Path) -> None:
    with pytest.raises(VideoError, match=r"labels of shape \(2, 4, 4\) do not fit a video of \(12, 48, 64\)"):
        write_overlay(tmp_path / "o.mp4", smooth_video(), Labelling(some_labels((2, 4, 4)), CLASSES))
    with pytest.raises(VideoError, match="ids of shape"):
        write_overlay(tmp_path / "o.mp4", smooth_video(), ids=np.zeros((12, 4, 4), np.int32))
