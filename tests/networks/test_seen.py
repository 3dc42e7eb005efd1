"""Who may speak about which frames."""

import json
from pathlib import Path

import cv2
import numpy as np
import pytest

from budgetseg.datasets import open_dataset
from budgetseg.descriptors.core import Scene
from budgetseg.descriptors.live import LiveDescriptors
from budgetseg.descriptors.registry import open_descriptors
from budgetseg.errors import ModelError
from budgetseg.models import bundled
from budgetseg.networks.seen import CARD, NO_FOLD, frame_digest, seen_frames, stand_ins
from budgetseg.supervoxels import neighbourhood_graph
from budgetseg.timing.prices import Prices
from budgetseg.types import Supervoxels, UInt8
from budgetseg.video import read_image
from tests.networks.models import noise, save_mixer


def clip(n_frames: int, seed: int = 0) -> UInt8:
    """Frames that no two clips share, (T, 6, 8, 3)."""
    return np.stack([noise(6, 8, 1000 * seed + index) for index in range(n_frames)])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A network with two fold networks: of the clip's even frames, 0 and 2 are in fold 0, the others in fold 1."""
    for fold in (0, 1):
        (tmp_path / f"fold-{fold}").mkdir()
        (tmp_path / f"fold-{fold}" / "net.onnx").touch()
    write_card(tmp_path, seen_frames([clip(9)[::2]], [[0, 0, 1, 1, 1]]))
    return tmp_path


def write_card(folder: Path, seen: object) -> None:
    (folder / CARD).write_text(json.dumps({"seen": seen}))


def folds(paths: list[Path | None]) -> list[str | None]:
    return [None if path is None else path.parent.name for path in paths]


def test_a_digest_depends_on_pixels_alone(tmp_path: Path) -> None:
    frame = noise(30, 40)
    digests = {frame_digest(frame), frame_digest(np.asfortranarray(frame)), frame_digest(frame[:, ::-1][:, ::-1])}
    for index, compression in enumerate((0, 9)):
        file = str(tmp_path / f"{index}.png")
        cv2.imwrite(file, frame[..., ::-1], [cv2.IMWRITE_PNG_COMPRESSION, compression])
        digests.add(frame_digest(read_image(Path(file))))
    assert len(digests) == 1


def test_another_pixel_is_another_frame() -> None:
    frame = noise(30, 40)
    changed = frame.copy()
    changed[29, 39, 2] ^= 1
    assert frame_digest(changed) != frame_digest(frame)


def test_every_frame_is_known_by_its_fold() -> None:
    one, two = clip(2, seed=1), clip(3, seed=2)
    seen = seen_frames([one, two], [[0, 0], [1, 0, 1]])
    assert [seen[frame_digest(frame)] for frame in (*one, *two)] == [0, 0, 1, 0, 1]
    assert len(seen) == 5


def test_a_frame_is_answered_by_the_network_of_its_fold(folder: Path) -> None:
    found = stand_ins(folder, "net", clip(9)[::2])
    assert folds(found) == ["fold-0", "fold-0", "fold-1", "fold-1", "fold-1"]
    assert all(path is not None and path.name == "net.onnx" and path.is_file() for path in found)


def test_frames_without_labels_go_with_the_nearest_that_was_seen(folder: Path) -> None:
    assert folds(stand_ins(folder, "net", clip(9))) == ["fold-0"] * 4 + ["fold-1"] * 5
    assert folds(stand_ins(folder, "net", np.concatenate([clip(3, seed=3), clip(9)[4:]]))) == ["fold-1"] * 8


def test_descriptors_for_training_ask_the_stand_ins(folder: Path) -> None:
    weights = {"": 0.1, "fold-0": 0.2, "fold-1": 0.3}  # each says this share of what it sees
    for place, weight in weights.items():
        save_mixer(folder / place / "net.onnx", np.eye(3, dtype=np.float32) * np.float32(weight))
    (folder / "net.toml").write_text('mean = [0, 0, 0]\nstd = [1, 1, 1]\noutput = "probabilities"\n')
    frames = clip(9)
    ids = np.arange(9, dtype=np.int32)[:, None, None].repeat(6, axis=1).repeat(8, axis=2)  # one a frame
    scene = Scene.of(frames, Supervoxels(ids, neighbourhood_graph(ids)))

    def shares(of: UInt8 | None) -> list[float]:
        live = LiveDescriptors(scene, open_descriptors(["net"], folder, frames=of), Prices())
        said = np.stack([live.compute(frame, "net").vector for frame in range(9)])
        found: list[float] = (said / (frames / 255).mean(axis=(1, 2))).mean(axis=1).tolist()
        return found

    assert shares(frames) == pytest.approx([0.2] * 4 + [0.3] * 5)
    assert shares(None) == pytest.approx([0.1] * 9)


def test_about_a_video_that_was_not_seen_the_network_speaks_itself(folder: Path) -> None:
    assert stand_ins(folder, "net", clip(4, seed=5)) == [None] * 4


def test_a_network_without_a_card_has_seen_nothing(tmp_path: Path) -> None:
    assert stand_ins(tmp_path, "net", clip(3)) == [None] * 3


def test_without_fold_networks_frames_that_were_seen_are_refused(folder: Path) -> None:
    (folder / "fold-1" / "net.onnx").unlink()
    with pytest.raises(ModelError, match=r"net\.onnx was trained on frames of this video.*--folds 4.*") as error:
        stand_ins(folder, "net", clip(9))
    assert "\n" not in str(error.value)
    assert folds(stand_ins(folder, "net", clip(9)[:3])) == ["fold-0"] * 3


def test_frames_that_all_networks_have_seen_are_refused(folder: Path) -> None:
    write_card(folder, seen_frames([clip(9)], [[NO_FOLD] * 9]))
    with pytest.raises(ModelError, match="was trained on frames of this video"):
        stand_ins(folder, "net", clip(9))


CARDS = ["", "{", "[]", "null", "{}", '{"seen": []}', '{"seen": null}', '{"seen": {"0123": "first"}}', "\xff"]


@pytest.mark.parametrize("text", CARDS)
def test_a_damaged_card_is_refused_in_one_line(folder: Path, text: str) -> None:
    (folder / CARD).write_text(text, "latin-1")
    with pytest.raises(ModelError, match="not readable as the card of networks") as error:
        stand_ins(folder, "net", clip(2))
    assert "\n" not in str(error.value)


def test_the_bundled_networks_do_not_train_others_on_what_they_have_learned(data_root: Path) -> None:
    networks, camvid = bundled("camvid", ""), open_dataset("camvid", data_root / "camvid")
    shortest = min(camvid.videos("train"), key=lambda video: video.n_frames)
    for name in ("dcnn", "dcnn_large"):
        with pytest.raises(ModelError, match=f"{name}.onnx was trained on frames of this video"):
            open_descriptors([name], networks, frames=shortest.video().frames)


def test_the_bundled_networks_speak_about_the_dense_run(data_root: Path) -> None:
    (dense,) = open_dataset("camvid", data_root / "camvid").videos("val")
    for name in ("dcnn", "dcnn_large"):
        assert stand_ins(bundled("camvid", ""), name, dense.video().frames) == [None] * dense.n_frames
