"""What every descriptor promises, held against all of them."""

from collections.abc import Callable, Iterable

import numpy as np
import pytest

from budgetseg.datasets.synthetic import render
from budgetseg.descriptors.core import Descriptor, Numbering, Resource, Scene
from budgetseg.descriptors.live import LiveDescriptors
from budgetseg.descriptors.registry import BUILT_IN, open_descriptors
from budgetseg.models import bundled
from budgetseg.supervoxels import neighbourhood_graph, segment
from budgetseg.timing.prices import Prices
from budgetseg.types import Float32, Int32, Supervoxels, UInt8

NAMES = [*BUILT_IN, "dcnn"]
SAMPLE = 12  # regions that are looked at where all would take long


@pytest.fixture(scope="module")
def everything() -> list[Descriptor]:
    return open_descriptors(NAMES, networks=bundled("camvid", ""))


@pytest.fixture(scope="module", params=NAMES)
def descriptor(request: pytest.FixtureRequest) -> Descriptor:
    return open_descriptors([request.param], networks=bundled("camvid", ""))[0]


@pytest.fixture(scope="module")
def street() -> Scene:
    """Twenty frames, so that some supervoxels live longer than a track."""
    frames = render(1, 20, (96, 64))[0].frames
    return Scene.of(frames, segment(frames, 40, "fast"))


def sample(scene: Scene) -> list[int]:
    """Regions of all sizes, largest first."""
    order = np.argsort(-scene.supervoxels.graph.sizes)
    chosen: list[int] = order[np.linspace(0, len(order) - 1, SAMPLE).astype(int)].tolist()
    return list(dict.fromkeys(chosen))


def vectors(
    scene: Scene, descriptor: Descriptor, regions: Iterable[int], limit_bytes: int = 1 << 30
) -> dict[int, Float32]:
    live = LiveDescriptors(scene, [descriptor], Prices(), limit_bytes)
    return {region: live.compute(region, descriptor.name).vector for region in regions}


def assert_same(one: dict[int, Float32], other: dict[int, Float32]) -> None:
    assert one.keys() == other.keys()
    for region, vector in one.items():
        assert np.array_equal(vector, other[region]), region


def test_vectors_are_finite_float32_of_the_right_length(descriptor: Descriptor, street: Scene) -> None:
    for vector in vectors(street, descriptor, range(len(street.supervoxels))).values():
        assert (str(vector.dtype), vector.shape) == ("float32", (descriptor.length,))
        assert np.isfinite(vector).all()


def test_different_regions_have_different_vectors(descriptor: Descriptor, street: Scene) -> None:
    found = np.stack(list(vectors(street, descriptor, sample(street)).values()))
    assert len(np.unique(found, axis=0)) == len(found)


def test_the_same_region_has_the_same_vector_again(descriptor: Descriptor, street: Scene) -> None:
    live = LiveDescriptors(street, [descriptor], Prices())
    for region in sample(street):
        first, second = (live.compute(region, descriptor.name).vector for _ in range(2))
        assert np.array_equal(first, second)


def test_a_caller_may_change_the_vector_it_got(descriptor: Descriptor, street: Scene) -> None:
    live = LiveDescriptors(street, [descriptor], Prices())
    first = live.compute(0, descriptor.name).vector
    kept = first.copy()
    first[:] = -1
    assert np.array_equal(live.compute(0, descriptor.name).vector, kept)


def test_vectors_do_not_depend_on_the_order_of_the_regions(descriptor: Descriptor, street: Scene) -> None:
    regions = sample(street)
    assert_same(vectors(street, descriptor, regions), vectors(street, descriptor, regions[::-1]))


def test_vectors_do_not_depend_on_what_is_kept(descriptor: Descriptor, street: Scene) -> None:
    regions = sample(street)
    assert_same(vectors(street, descriptor, regions), vectors(street, descriptor, regions, limit_bytes=0))


def test_vectors_do_not_depend_on_the_other_descriptors_in_use(
    descriptor: Descriptor, everything: list[Descriptor], street: Scene
) -> None:
    live, together = LiveDescriptors(street, everything, Prices()), {}
    for region in sample(street):
        found = {name: live.compute(region, name).vector for name in NAMES}
        together[region] = found[descriptor.name]
    assert_same(vectors(street, descriptor, together), together)


def test_a_view_of_a_video_has_the_vectors_of_its_copy(descriptor: Descriptor, street: Scene) -> None:
    view = np.repeat(street.frames[..., ::-1], 2, axis=0)[::2, ..., ::-1]
    scene = Scene.of(view, street.supervoxels)
    assert scene.frames.flags.c_contiguous, "it would be copied with every call"
    regions = sample(street)[:3]
    assert_same(vectors(scene, descriptor, regions), vectors(street, descriptor, regions))


def test_needs_name_resources_that_are_declared_and_exist(descriptor: Descriptor, street: Scene) -> None:
    resources = {resource.kind: resource for resource in descriptor.resources}
    keys = [key for region in range(len(street.supervoxels)) for key in descriptor.needs(street, region)]
    more = [
        key
        for kind, resource in resources.items()
        for k in range(resource.count(street))
        for key in resource.needs(street, k)
    ]
    for kind, index in {*keys, *more}:
        assert 0 <= index < resources[kind].count(street), kind
    assert {kind for kind, _ in {*keys, *more}} == set(resources)


def test_work_is_positive(descriptor: Descriptor, street: Scene) -> None:
    assert all(descriptor.work(street, region) > 0 for region in range(len(street.supervoxels)))
    for resource in descriptor.resources:
        assert all(resource.work(street, index) > 0 for index in range(resource.count(street)))


def noise(shape: tuple[int, int, int], channels: int = 3) -> UInt8:
    return np.random.default_rng(0).integers(0, 256, (*shape, channels), np.uint8)


def tiles(frames: UInt8, side: int = 8) -> Scene:
    """Squares that last for the whole video."""
    n_frames, height, width, _ = frames.shape
    rows, columns = np.arange(height) // side, np.arange(width) // side
    ids: Int32 = (rows[:, None] * (columns[-1] + 1) + columns).astype(np.int32)[None].repeat(n_frames, axis=0)
    return Scene.of(frames, Supervoxels(ids, neighbourhood_graph(ids)))


def single_pixels() -> Scene:
    ids = np.arange(3 * 20 * 24, dtype=np.int32).reshape(3, 20, 24)
    return Scene.of(noise((3, 20, 24)), Supervoxels(ids, neighbourhood_graph(ids)))


def segmented(frames: UInt8, n: int) -> Scene:
    return Scene.of(frames, segment(frames, n, "fast"))


ODD: dict[str, Callable[[], Scene]] = {
    "regions of one pixel": single_pixels,
    "one frame": lambda: segmented(render(2, 1, (96, 64))[0].frames, 30),
    "two frames": lambda: segmented(render(2, 2, (96, 64))[0].frames, 30),
    "constant": lambda: tiles(np.full((5, 48, 64, 3), (70, 130, 180), np.uint8)),
    "black": lambda: tiles(np.zeros((5, 48, 64, 3), np.uint8)),
    "one region": lambda: tiles(noise((40, 48, 64)), side=64),
    "noise": lambda: tiles(noise((5, 48, 64))),
    "grey noise": lambda: segmented(noise((5, 48, 64), channels=1).repeat(3, axis=3), 30),
    "16x16": lambda: segmented(render(2, 5, (16, 16))[0].frames, 10),
    "1x1": lambda: tiles(noise((4, 1, 1))),
    "1x50": lambda: tiles(noise((4, 50, 1))),
    "50x1": lambda: tiles(noise((4, 1, 50))),
}


@pytest.fixture(scope="module", params=ODD)
def odd(request: pytest.FixtureRequest) -> Scene:
    return ODD[request.param]()


def test_odd_videos_have_finite_vectors_and_positive_work(descriptor: Descriptor, odd: Scene) -> None:
    regions = sample(odd)
    for region, vector in vectors(odd, descriptor, regions).items():
        assert (str(vector.dtype), vector.shape) == ("float32", (descriptor.length,))
        assert np.isfinite(vector).all()
        assert descriptor.work(odd, region) > 0


def test_odd_videos_do_not_depend_on_order_or_cache(descriptor: Descriptor, odd: Scene) -> None:
    regions = sample(odd)[:4]
    assert_same(vectors(odd, descriptor, regions), vectors(odd, descriptor, regions[::-1], limit_bytes=0))


def test_what_is_told_of_all_at_once_is_what_is_told_one_by_one(descriptor: Descriptor, odd: Scene) -> None:
    numbering = Numbering({resource.kind: resource.count(odd) for resource in descriptor.resources})
    kinds: list[tuple[Descriptor | Resource, int]] = [(own, own.count(odd)) for own in descriptor.resources]
    for own, n in [(descriptor, len(odd.supervoxels)), *kinds]:
        lists = own.all_needs(odd, numbering)
        assert (str(lists.first.dtype), lists.first.shape, str(lists.items.dtype)) == ("int64", (n + 1,), "int32")
        for k in range(n):
            needs = [numbering.number(key) for key in own.needs(odd, k)]
            assert lists.items[lists.first[k] : lists.first[k + 1]].tolist() == needs
        assert own.works(odd).tolist() == [own.work(odd, k) for k in range(n)]
