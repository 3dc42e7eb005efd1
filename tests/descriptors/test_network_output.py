"""What a network says about a supervoxel is the mean over its pixels in three frames."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given

from budgetseg.descriptors.core import Scene
from budgetseg.descriptors.live import LiveDescriptors
from budgetseg.descriptors.network_output import NetworkDescriptor
from budgetseg.descriptors.registry import open_descriptors
from budgetseg.models import bundled
from budgetseg.networks.card import Card
from budgetseg.networks.run import OnnxNetwork
from budgetseg.supervoxels.graph import neighbourhood_graph
from budgetseg.timing.prices import Prices
from budgetseg.types import Float32, Int32, Supervoxels
from tests.networks.models import save_mixer
from tests.supervoxels.volumes import few, id_volumes, noise, parts_of

MIX = np.array([[1, 2, 3], [0, 0, -1], [4, 0, 0], [-1, 5, 1]], np.float32)


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> OnnxNetwork:
    """Four classes, at a size, (3, 4), that most frames are no multiple of."""
    path = save_mixer(tmp_path_factory.mktemp("network") / "net.onnx", MIX, stride=2)
    return OnnxNetwork(Card(path, output="scores"))


def scene_of(ids: Int32) -> Scene:
    t, h, w = ids.shape
    return Scene.of(noise((t, h, w)), Supervoxels(ids, neighbourhood_graph(ids)))


def live(scene: Scene, *descriptors: NetworkDescriptor) -> LiveDescriptors:
    return LiveDescriptors(scene, descriptors, Prices())


def pooled(scene: Scene, network: OnnxNetwork, region: int) -> Float32:
    """Mean over the pixels, one by one."""
    ids = scene.supervoxels.ids
    lives = np.flatnonzero((ids == region).any(axis=(1, 2)))
    on_grid = next(own for step in (4, 2, 1) if len(own := [t for t in lives if t % step == 0]) >= 3 or step == 1)
    said = []
    for t in {on_grid[0], on_grid[(len(on_grid) - 1) // 2], on_grid[-1]}:
        output = network(scene.frames[t])
        for y, x in np.argwhere(ids[t] == region).tolist():
            said.append(output[y * output.shape[0] // ids.shape[1], x * output.shape[1] // ids.shape[2]])
    return np.asarray(np.mean(said, axis=0), np.float32)


@few
@given(ids=id_volumes(longest=9))
def test_the_vector_is_the_mean_over_the_nearest_answers_in_three_frames(ids: Int32, network: OnnxNetwork) -> None:
    scene = scene_of(parts_of(ids))
    on_demand = live(scene, NetworkDescriptor("net", network))
    for region in range(len(scene.supervoxels)):
        vector = on_demand.compute(region, "net").vector
        assert vector.shape == (4,)
        assert vector.dtype == np.float32
        assert np.allclose(vector, pooled(scene, network, region), atol=1e-6)
        assert vector.sum() == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize(("n_frames", "expected"), [(1, [2]), (2, [2, 3]), (3, [2, 3, 4]), (6, [2, 4, 6])])
def test_a_short_life_needs_no_frame_twice(n_frames: int, expected: list[int], network: OnnxNetwork) -> None:
    ids = np.zeros((9, 4, 5), np.int32)
    ids[2 : 2 + n_frames, 1:3, 1:4] = 1
    scene, descriptor = scene_of(ids), NetworkDescriptor("net", network)
    assert [t for _, t in descriptor.needs(scene, 1)] == expected
    assert descriptor.work(scene, 1) == 6 * len(expected)
    assert np.allclose(live(scene, descriptor).compute(1, "net").vector, pooled(scene, network, 1), atol=1e-6)


def test_the_network_runs_once_a_frame_for_all_supervoxels(network: OnnxNetwork) -> None:
    ids = np.zeros((5, 6, 8), np.int32)
    ids[:, 3:] = 1
    ids[1:3, :2, :2] = 2
    on_demand = live(scene_of(ids), NetworkDescriptor("net", network))
    made = [[t for _, t in on_demand.compute(region, "net").shared_s] for region in (0, 1, 2)]
    assert made == [[0, 2, 4], [], [1]]


def test_threads_do_not_change_the_vector() -> None:
    ids = np.zeros((2, 36, 48), np.int32)
    ids[:, 9:20, 11:30] = 1
    scene, folder = scene_of(ids), bundled("camvid", "")
    one, two = (
        LiveDescriptors(scene, open_descriptors(["dcnn"], folder, threads), Prices()).compute(1, "dcnn").vector
        for threads in (1, 2)
    )
    assert np.array_equal(one, two)


@pytest.mark.parametrize("name", ["dcnn", "dcnn_large"])
def test_the_bundled_networks_describe_frames_of_another_size(name: str) -> None:
    ids = np.zeros((2, 240, 320), np.int32)
    ids[:, 120:] = 1
    on_demand = LiveDescriptors(scene_of(ids), open_descriptors([name], bundled("camvid", "")), Prices())
    for region in (0, 1):
        vector = on_demand.compute(region, name).vector
        assert vector.shape == (11,)
        assert (vector >= 0).all()
        assert vector.sum() == pytest.approx(1, abs=1e-4)


def test_a_network_of_any_size_describes_videos_of_any_size_and_its_price_goes_by_pixels(tmp_path: Path) -> None:
    path = save_mixer(tmp_path / "net.onnx", MIX, ("n", 3, "h", "w"), stride=2)
    network = OnnxNetwork(Card(path, longest=64, multiple=8))
    works = []
    for size in ((20, 30), (50, 90)):
        ids = np.zeros((2, *size), np.int32)
        ids[:, 9:] = 1
        scene, descriptor = scene_of(ids), NetworkDescriptor("net", network)
        assert np.allclose(live(scene, descriptor).compute(1, "net").vector, pooled(scene, network, 1), atol=1e-6)
        works.append(descriptor.source.works(scene).tolist())
    assert works == [[16 * 32] * 2, [32 * 64] * 2]


def test_a_card_merges_leaves_out_and_orders_the_classes_of_a_descriptor_too(tmp_path: Path) -> None:
    save_mixer(tmp_path / "net.onnx", MIX, stride=2)
    (tmp_path / "net.toml").write_text(
        'classes = ["a", "b", "c", "d"]\norder = ["z", "b"]\n[map]\na = "z"\nd = "z"\nc = ""\n'
    )
    ids = np.zeros((1, 6, 8), np.int32)
    ids[:, 3:] = 1
    scene = scene_of(ids)
    (mapped,) = open_descriptors(["net"], tmp_path)
    plain = NetworkDescriptor("plain", OnnxNetwork(Card(tmp_path / "net.onnx")))
    merged, whole = (LiveDescriptors(scene, [own], Prices()).compute(1, own.name).vector for own in (mapped, plain))
    assert np.allclose(merged, [whole[0] + whole[3], whole[1]], atol=1e-6)
