"""Networks that others have built stand beside each other: one set of classes, one grid, one video."""

import json
from pathlib import Path

import numpy as np
import pytest

from budgetseg.errors import ModelError
from budgetseg.networks.card import Card
from budgetseg.networks.outputs import Grid
from budgetseg.networks.run import OnnxNetwork
from budgetseg.networks.together import agreed, bound, differences, marks_of, named_cards
from tests.networks.architectures import CITYSCAPES, IndexMap, Stride8, UNet, save_bytes, save_torch
from tests.networks.models import noise, save_mixer

VIDEO = (160, 96)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four networks with nineteen classes each, of four architectures."""
    folder = tmp_path_factory.mktemp("networks")
    names = {"names": json.dumps(list(CITYSCAPES))}
    save_torch(folder / "unet.onnx", UNet(19), metadata=names)
    save_torch(folder / "open.onnx", Stride8(19), is_open=True, metadata={"classes": ", ".join(reversed(CITYSCAPES))})
    save_torch(folder / "index.onnx", IndexMap(19), outputs=("logits", "index"))
    (folder / "index.toml").write_text('output_name = "index"\n')
    save_bytes(folder / "bytes.onnx", 19)
    save_torch(folder / "half.onnx", UNet(19), half=True, metadata=names)
    return folder


def opened(folder: Path, *names: str) -> dict[str, OnnxNetwork]:
    cards = named_cards([folder / f"{name}.onnx" for name in names])
    return {name: OnnxNetwork(card) for name, card in cards.items()}


@pytest.mark.parametrize(
    ("name", "kind", "shape", "source"),
    [
        ("unet", "scores", (48, 64, 19), "metadata"),
        ("open", "probabilities", (32, 40, 19), "metadata"),
        ("index", "index", (48, 64, 19), "assumed"),
        ("bytes", "scores", (12, 16, 19), "numbers"),
        ("half", "scores", (48, 64, 19), "metadata"),
    ],
)
def test_networks_of_any_architecture_are_understood(
    folder: Path, name: str, kind: str, shape: tuple[int, int, int], source: str
) -> None:
    (network,) = opened(folder, name).values()
    assert (network.output.kind, network.classes.source) == (kind, source)
    assert network.shape[:2] == shape[:2]
    found = network(noise(96, 160))
    if network.size is not None:
        assert found.shape == network.shape
    assert np.allclose(found.sum(axis=2), 1, atol=1e-3)
    assert found.min() >= 0


def test_all_take_the_names_of_the_first_that_has_some(folder: Path) -> None:
    for first in ("unet", "index"):
        networks = opened(folder, first, "bytes", "open", *({"unet", "index"} - {first}))
        found = agreed(networks)
        wanted = CITYSCAPES if first == "unet" else tuple(reversed(CITYSCAPES))
        assert {network.names for network in found.values()} == {wanted}


def test_classes_in_another_order_are_put_in_the_order_of_the_first(folder: Path) -> None:
    networks = opened(folder, "unet", "open")
    found, frame = agreed(networks), noise(96, 160)
    assert np.array_equal(found["open"](frame), networks["open"](frame)[..., ::-1])
    assert np.array_equal(found["unet"](frame), networks["unet"](frame))


def test_networks_share_the_grid_of_the_finest(folder: Path) -> None:
    found = bound(agreed(opened(folder, "unet", "open", "index", "bytes")), VIDEO)
    assert {network.shape for network in found.values()} == {(48, 64, 19)}
    assert found["open"].size == VIDEO
    frame = noise(96, 160)
    for network in found.values():
        assert network(frame).shape == (48, 64, 19)


def test_a_grid_of_too_many_cells_is_coarser_for_all(folder: Path) -> None:
    found = bound(agreed(opened(folder, "unet", "open")), VIDEO, Grid(most_cells=1000))
    assert {network.shape for network in found.values()} == {(24, 32, 19)}


def test_networks_that_disagree_say_how(tmp_path: Path, folder: Path) -> None:
    names = json.dumps(["road", "sidewalk", *(f"thing {k}" for k in range(17))])
    save_torch(tmp_path / "other.onnx", Stride8(19), metadata={"names": names})
    with pytest.raises(ModelError) as caught:
        agreed(opened(folder, "unet") | opened(tmp_path, "other"))
    line = str(caught.value)
    assert line.startswith("'other' has other classes than 'unet': it has 'thing 0', 'thing 1'")
    assert "and 9 more, and it lacks 'building', 'wall'" in line
    assert line.endswith("as docs/networks.md shows")


def test_numbers_of_another_count_disagree(tmp_path: Path, folder: Path) -> None:
    save_bytes(tmp_path / "five.onnx", 5)
    with pytest.raises(ModelError, match="'five' has other classes than 'unet': 5 of them, not 19;"):
        agreed(opened(folder, "unet") | opened(tmp_path, "five"))


def test_a_map_in_a_card_makes_classes_agree(tmp_path: Path) -> None:
    mix = np.random.default_rng(0).normal(size=(4, 3)).astype(np.float32)
    save_mixer(tmp_path / "small.onnx", mix)
    save_mixer(tmp_path / "big.onnx", mix[:3])
    (tmp_path / "big.toml").write_text('classes = ["sky", "way", "car"]\n')
    (tmp_path / "small.toml").write_text(
        'classes = ["car", "road", "sky", "lane"]\n[map]\nroad = "way"\nlane = "way"\n'
    )
    found = agreed(opened(tmp_path, "big", "small"))
    assert {network.names for network in found.values()} == {("sky", "way", "car")}
    frame = noise(6, 8)
    plain = OnnxNetwork(Card(tmp_path / "small.onnx"))(frame)
    wanted = np.stack([plain[..., 2], plain[..., 1] + plain[..., 3], plain[..., 0]], axis=2)
    assert np.allclose(found["small"](frame), wanted, atol=1e-6)


def test_nothing_differs_between_a_network_and_its_own_names(folder: Path) -> None:
    (network,) = opened(folder, "unet").values()
    assert differences(network, CITYSCAPES) == differences(network, CITYSCAPES[::-1]) == ""
    assert differences(network, CITYSCAPES[1:]) == "it has 'road'"


# Files


def test_networks_are_named_by_their_files_and_with_the_folder_where_files_share_a_name(tmp_path: Path) -> None:
    paths = [tmp_path / place for place in ("a/net.onnx", "b/net.onnx", "b/other.onnx")]
    assert list(named_cards(paths)) == ["a-net", "b-net", "other"]


def test_a_network_given_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="given twice; give each network once"):
        named_cards([tmp_path / "net.onnx", tmp_path / "x" / ".." / "net.onnx"])


def test_no_network_is_refused() -> None:
    with pytest.raises(ModelError, match="no network is given"):
        named_cards([])


def test_marks_name_the_files_and_what_is_in_them(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    networks = opened(Path(), "unet", "open")
    first, second = marks_of(networks, ["unet.onnx", "open.onnx"])
    assert (first.name, first.path, first.digest) == ("unet", str(folder / "unet.onnx"), networks["unet"].digest)
    assert second.digest != first.digest
