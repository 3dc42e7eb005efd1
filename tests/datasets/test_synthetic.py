"""Claims about the synthetic street: it is reproducible, complete, and its descriptors are complementary."""

from itertools import islice, pairwise

import cv2
import numpy as np
import pytest

from budgetseg.datasets.synthetic import CLASSES, FRAMES_PER_S, SyntheticDataset, frames, render
from budgetseg.datasets.synthetic.camera import look
from budgetseg.datasets.synthetic.canvas import Canvas, Texture
from budgetseg.datasets.synthetic.street import build
from budgetseg.datasets.synthetic.textures import Wall, crown, facade, fence, hedge
from budgetseg.errors import UsageError
from budgetseg.types import Bool, Float64, Labelling, UInt8, Video

N_CLIPS = 24
Clips = list[tuple[Video, Labelling]]
WALL = Wall(np.array([[176.0, 98, 80], [122, 60, 50]]), np.array([58.0, 74, 92]))
GREEN = np.array([96.0, 134, 52])


@pytest.fixture(scope="module")
def clips() -> Clips:
    """Two frames each of many streets."""
    return [render(seed, n_frames=2) for seed in range(N_CLIPS)]


def inner(labels: UInt8, name: str) -> Bool:
    """Pixels (H, W) of a class that touch no other class within two pixels."""
    mask = (labels == CLASSES.names.index(name)).astype(np.uint8)
    return np.asarray(cv2.erode(mask, np.ones((5, 5), np.uint8)) > 0)


def colours(clips: Clips, name: str) -> Float64:
    """Lab histogram of a class, 8 bins to a channel, the mean over the clips that show it."""
    found = []
    for video, truth in clips:
        pixels = cv2.cvtColor(video.frames[0], cv2.COLOR_RGB2LAB)[inner(truth.labels[0], name)]
        if len(pixels) > 0:
            found.append(np.histogramdd(pixels, bins=8, range=[(0, 256)] * 3)[0] / len(pixels))
    return np.asarray(np.mean(found, axis=0))


def orientations(clips: Clips, name: str) -> Float64:
    """Histogram of the gradients' directions, 8 bins over half a turn, weighted by magnitude."""
    total = np.zeros(8)
    for video, truth in clips:
        dx, dy = gradients(video.frames[0])
        bins = np.round(np.arctan2(dy, dx) / np.pi * 8).astype(int) % 8
        mask = inner(truth.labels[0], name)
        total += np.bincount(bins[mask], np.hypot(dx, dy)[mask], minlength=8)
    return np.asarray(total / total.sum())


def gradients(frame: UInt8) -> tuple[Float64, Float64]:
    grey = cv2.GaussianBlur(cv2.cvtColor(frame, cv2.COLOR_RGB2GRAY).astype(np.float64), (0, 0), 0.8)
    return np.asarray(cv2.Sobel(grey, cv2.CV_64F, 1, 0)), np.asarray(cv2.Sobel(grey, cv2.CV_64F, 0, 1))


def roughness(clips: Clips, name: str) -> float:
    """Mean magnitude of the gradients of a class."""
    found = [np.hypot(*gradients(video.frames[0]))[inner(truth.labels[0], name)] for video, truth in clips]
    return float(np.concatenate(found).mean())


def motion(clips: Clips, name: str) -> Float64:
    """Pixels that every pixel of a class moves from the first frame to the second."""
    flow = cv2.DISOpticalFlow.create(cv2.DISOPTICAL_FLOW_PRESET_MEDIUM)
    found = []
    for video, truth in clips:
        first, second = (cv2.cvtColor(frame, cv2.COLOR_RGB2GRAY) for frame in video.frames)
        way = np.linalg.norm(flow.calc(first, second, np.zeros((*first.shape, 2), np.float32)), axis=2)
        found.append(way[inner(truth.labels[0], name)])
    return np.concatenate(found)


def distance(p: Float64, q: Float64) -> float:
    """Chi-square distance of two histograms: 0 the same, 1 nothing in common."""
    return float(0.5 * np.sum((p - q) ** 2 / np.maximum(p + q, 1e-12)))


def from_a_stand(clips: Clips) -> Clips:
    """Clips whose camera stands: what moves in them, moves on the street."""
    return [clip for seed, clip in enumerate(clips) if build(seed).speed_mps == 0]


def test_a_clip_has_frames_times_and_a_label_for_every_pixel() -> None:
    video, truth = render(seed=3, n_frames=4, size=(96, 64))
    assert video.frames.shape == (4, 64, 96, 3)
    assert video.frames.dtype == truth.labels.dtype == np.uint8
    assert truth.labels.shape == video.shape
    assert truth.labels.max() < len(CLASSES)
    np.testing.assert_allclose(video.times_s, np.arange(4) / FRAMES_PER_S)


def test_classes_have_names_and_colours_that_can_be_told_apart() -> None:
    apart = np.linalg.norm(CLASSES.colours[:, None].astype(float) - CLASSES.colours[None], axis=2)
    assert len(set(CLASSES.names)) == len(CLASSES) == 12
    assert apart[~np.eye(12, dtype=bool)].min() > 60


def test_a_seed_gives_the_same_clip_again() -> None:
    (video, truth), (video_again, truth_again) = (render(seed=5, n_frames=3, size=(160, 120)) for _ in range(2))
    np.testing.assert_array_equal(video.frames, video_again.frames)
    np.testing.assert_array_equal(truth.labels, truth_again.labels)


def test_a_short_clip_is_the_beginning_of_a_long_one() -> None:
    short, _ = render(seed=5, n_frames=2, size=(160, 120))
    long, _ = render(seed=5, n_frames=5, size=(160, 120))
    np.testing.assert_array_equal(short.frames, long.frames[:2])


def test_another_seed_gives_another_street(clips: Clips) -> None:
    same = [np.mean(a.labels[0] == b.labels[0]) for (_, a), (_, b) in pairwise(clips)]
    assert max(same) < 0.8


def test_the_scene_does_not_depend_on_the_size(clips: Clips) -> None:
    for seed in range(3):
        small = render(seed, n_frames=1, size=(160, 120))[1].labels[0]
        assert np.mean(clips[seed][1].labels[0, ::2, ::2] == small) > 0.95


def test_frames_carry_noise_but_labels_do_not(clips: Clips) -> None:
    for video, truth in clips[:4]:
        sky = inner(truth.labels[0], "sky") & inner(truth.labels[1], "sky")
        assert 2 < np.std(video.frames[0][sky].astype(float) - video.frames[1][sky]) < 10
        pieces, _ = cv2.connectedComponents((truth.labels[0] == 0).astype(np.uint8))
        assert pieces < 60


def test_every_class_is_in_almost_every_clip(clips: Clips) -> None:
    shares = np.array([np.bincount(truth.labels.ravel(), minlength=12) / truth.labels.size for _, truth in clips])
    assert (np.mean(shares > 0.003, axis=0) >= 0.9).all()
    assert (shares.mean(axis=0) > 0.01).all()
    assert (shares.mean(axis=0) < 0.4).all()


def test_road_and_sidewalk_differ_by_colour_alone(clips: Clips) -> None:
    assert distance(colours(clips, "road"), colours(clips, "sidewalk")) > 0.9
    assert distance(orientations(clips, "road"), orientations(clips, "sidewalk")) < 0.06
    assert roughness(clips, "road") == pytest.approx(roughness(clips, "sidewalk"), rel=0.15)


@pytest.mark.parametrize(("first", "second"), [("building", "fence"), ("tree", "hedge")])
def test_texture_pairs_have_the_same_colours_but_other_orientations(clips: Clips, first: str, second: str) -> None:
    assert distance(colours(clips, first), colours(clips, second)) < 0.1
    assert distance(orientations(clips, first), orientations(clips, second)) > 0.2


@pytest.mark.parametrize(("moving", "still"), [("moving car", "parked car"), ("walking person", "standing person")])
def test_motion_pairs_look_the_same_but_move_differently(clips: Clips, moving: str, still: str) -> None:
    assert distance(colours(clips, moving), colours(clips, still)) < 0.22
    assert distance(orientations(clips, moving), orientations(clips, still)) < 0.06
    standing = from_a_stand(clips)
    assert len(standing) >= 5
    assert np.median(motion(standing, moving)) > 2 * np.median(motion(standing, still))


def test_pairs_are_told_from_other_classes_by_colour(clips: Clips) -> None:
    groups = [colours(clips, name) for name in ("sky", "road", "sidewalk", "building", "tree", "moving car")]
    assert min(distance(p, q) for i, p in enumerate(groups) for q in groups[:i]) > 0.27


def test_a_fence_is_a_facade_lying_on_its_side() -> None:
    upright = facade(np.random.default_rng(0), 3, 1, WALL).pixels[..., :3]
    lying = fence(np.random.default_rng(0), 3, WALL).pixels[..., :3]
    np.testing.assert_array_equal(lying, upright.swapaxes(0, 1))


def test_a_hedge_is_a_crown_lying_on_its_side() -> None:
    upright, lying = crown(np.random.default_rng(0), 2, 1, GREEN), hedge(np.random.default_rng(0), 1, 2, GREEN)
    assert upright.cover is not None
    assert lying.cover is not None
    np.testing.assert_array_equal(lying.pixels[..., :3], upright.pixels[..., :3].swapaxes(0, 1))
    np.testing.assert_array_equal(lying.cover, upright.cover.T)


@pytest.mark.parametrize("label", range(len(CLASSES)))
def test_a_picture_keeps_its_class_from_afar_and_through_haze(label: int) -> None:
    pixels = np.random.default_rng(label).integers(0, 256, (97, 61, 4)).astype(np.uint8)
    pixels[..., 3] = label
    canvas, camera = Canvas((64, 48)), look(np.zeros(3), 0.2, 0.1, (64, 48))
    canvas.pixels[..., 3] = 99
    corner, edges = np.array([-1.0, 1, 9]), np.array([[3.0, 0, 4], [0, -2, 0]])
    outline = camera.outline(corner + np.array([[0, 0], [1, 0], [1, 1], [0, 1]]) @ edges)
    canvas.picture(Texture(pixels), outline, camera.homography(corner, edges), (200, 210, 220, 0.3))
    assert set(np.unique(canvas.pixels[..., 3])) == {label, 99}


def test_only_moving_things_change_their_place() -> None:
    street, stretch = build(2), (0.0, 60.0)
    still = {"parked car", "standing person", "tree", "hedge", "sign"}
    before, after = ([t for t in street.things(time_s, stretch) if t.kind in still] for time_s in (0.0, 7.0))
    np.testing.assert_array_equal([t.place for t in before], [t.place for t in after])
    assert [t.phase for t in before] == [t.phase for t in after]
    assert all(abs(row.speed_mps) > 1 for row in street.rows if not still.intersection(row.kinds))


def test_things_keep_coming_on_long_clips() -> None:
    street = build(4)
    for time_s in (0.0, 200.0, 4000.0):
        z = street.start[2] + street.speed_mps * time_s
        kinds = {thing.kind for thing in street.things(time_s, (z, z + 50))}
        assert kinds == {*CLASSES.names} - {"sky", "building", "fence", "road", "sidewalk"}


def test_frames_are_rendered_only_when_asked_for() -> None:
    first = next(frames(seed=1, n_frames=10**9, size=(64, 48)))
    again = list(islice(frames(seed=1, n_frames=2, size=(64, 48)), 1))
    np.testing.assert_array_equal(first[0], again[0][0])


@pytest.mark.parametrize(
    ("arguments", "message"), [((-1, 2), "seed"), ((0, 0), "at least 1 frame"), ((0, 1, (8, 64)), "16 x 16")]
)
def test_arguments_out_of_range_are_refused(arguments: tuple[int, int], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        frames(*arguments)


def test_splits_are_disjoint_and_train_is_fit_and_selection() -> None:
    dataset = SyntheticDataset()
    names = {split: [video.name for video in dataset.videos(split)] for split in dataset.splits}
    assert names["train"] == names["fit"] + names["selection"] == sorted(names["train"])
    assert not {*names["train"]} & {*names["test"]}
    assert [len(names[split]) for split in ("train", "fit", "selection", "test")] == [8, 6, 2, 4]


def test_a_dataset_video_is_the_clip_of_its_seed() -> None:
    (video, *_) = SyntheticDataset(n_frames=2, size=(64, 48)).videos("test")
    assert video.labelled == (0, 1)
    assert video.video().shape == video.labels().shape == (2, 48, 64)
    assert video.video().name == video.name
    assert len(list(video.inspect())) == video.n_frames == 2


def test_a_dataset_needs_videos_for_every_split() -> None:
    with pytest.raises(UsageError, match="2 to"):
        SyntheticDataset(n_train=1)
    with pytest.raises(UsageError, match="no split 'val'"):
        SyntheticDataset().videos("val")
