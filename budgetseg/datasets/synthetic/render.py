"""Render frames and labels from a seed."""

from collections.abc import Iterator

import cv2
import numpy as np

from budgetseg.datasets.synthetic.camera import Camera, look
from budgetseg.datasets.synthetic.canvas import Canvas
from budgetseg.datasets.synthetic.classes import CLASSES
from budgetseg.datasets.synthetic.materials import Materials, gather
from budgetseg.datasets.synthetic.scenery import draw_ground, draw_sky, draw_walls
from budgetseg.datasets.synthetic.shot import Shot
from budgetseg.datasets.synthetic.street import Street, Thing, build
from budgetseg.datasets.synthetic.things import DRAW, shadow
from budgetseg.errors import UsageError
from budgetseg.types import Float32, Labelling, UInt8, Video

__all__ = ["FRAMES_PER_S", "frames", "render"]

FRAMES_PER_S = 15.0
_SUPERSAMPLING = 2  # the canvas is this many times as wide and high as the frames
_SIGHT_M = 55.0  # distance up to which things are drawn
_LARGEST_M = 3.0  # no thing is larger than this
_NOISE = 3.5  # standard deviation of sensor noise, in grey levels
_SHADE = 0.62  # brightness in shadow, as a share


def render(seed: int, n_frames: int = 60, size: tuple[int, int] = (320, 240)) -> tuple[Video, Labelling]:
    """A clip of a street, and the class of each of its pixels; `size` is (width, height)."""
    images, labels = zip(*frames(seed, n_frames, size), strict=True)
    times_s = np.arange(n_frames) / FRAMES_PER_S
    return Video(np.stack(images), times_s, f"street-{seed:04d}"), Labelling(np.stack(labels), CLASSES)


def frames(seed: int, n_frames: int = 60, size: tuple[int, int] = (320, 240)) -> Iterator[tuple[UInt8, UInt8]]:
    """Frames (H, W, 3) RGB with their labels (H, W), one after the other; no frame is kept."""
    _check(seed, n_frames, size)
    return _frames(seed, n_frames, size)


def _frames(seed: int, n_frames: int, size: tuple[int, int]) -> Iterator[tuple[UInt8, UInt8]]:
    street = build(seed)
    large = size[0] * _SUPERSAMPLING, size[1] * _SUPERSAMPLING
    materials = gather(street, large)
    grain = _grain(street, size)
    for index in range(n_frames):
        pixels = _paint(street, materials, index / FRAMES_PER_S, large)
        image, labels = _develop(pixels, size, street.mirrored)
        yield _expose(image, street, index, grain), labels


def _check(seed: int, n_frames: int, size: tuple[int, int]) -> None:
    if seed < 0:
        raise UsageError(f"the seed of a synthetic street must be 0 or more, got {seed}")
    if n_frames < 1:
        raise UsageError(f"a synthetic street needs at least 1 frame, got {n_frames}")
    if min(size) < 16:
        raise UsageError(f"a synthetic street needs at least 16 x 16 pixels, got {size[0]} x {size[1]}")


def _paint(street: Street, materials: Materials, time_s: float, size: tuple[int, int]) -> UInt8:
    """The canvas (H, W, 4) with everything in sight at a time, painted from the back to the front."""
    shot = Shot(_camera(street, time_s, size), Canvas(size), street.sun, materials)
    things = _in_sight(shot, street, time_s)
    draw_sky(shot, 0.002 * time_s)
    draw_ground(shot)
    shot.canvas.shade(shot.camera.outlines([shadow(thing, street.sun) for thing in things]), _SHADE)
    draw_walls(shot, street)
    for thing in things:
        DRAW[thing.kind](shot, thing)
    return shot.canvas.pixels


def _camera(street: Street, time_s: float, size: tuple[int, int]) -> Camera:
    """The camera at a time: it sways a little, and moves up and down when it walks."""
    sway = np.radians(0.5) * np.sin(1.3 * time_s + street.seed)
    bob = 0.02 * street.speed_mps * np.sin(9 * time_s)
    way = np.array([0.0, bob, street.speed_mps * time_s])
    return look(street.start + way, street.gaze[0] + sway, street.gaze[1] + 0.3 * sway, size)


def _in_sight(shot: Shot, street: Street, time_s: float) -> list[Thing]:
    """Things in front of the camera, far ones first."""
    z = float(shot.camera.position[2])
    things = street.things(time_s, (z - _LARGEST_M, z + _SIGHT_M))
    seen = shot.sees(np.array([thing.place for thing in things]), _LARGEST_M)
    visible = [thing for thing, is_seen in zip(things, seen, strict=True) if is_seen]
    return sorted(visible, key=lambda thing: -_remoteness(thing, shot.camera))


def _remoteness(thing: Thing, camera: Camera) -> float:
    """The order of painting: larger for things that others may hide."""
    # Long cars side by side: the nearer lane is in front even if its car is a little ahead.
    x, _, z = thing.place - camera.position
    return float(z + 2 * abs(x))


def _develop(pixels: UInt8, size: tuple[int, int], mirrored: bool) -> tuple[UInt8, UInt8]:
    """Image (H, W, 3), averaged, and labels (H, W), picked, from pixels on the larger canvas."""
    image = cv2.resize(pixels, size, interpolation=cv2.INTER_AREA)[..., :3]
    labels = pixels[::_SUPERSAMPLING, ::_SUPERSAMPLING, 3]
    step = -1 if mirrored else 1
    return np.asarray(image[:, ::step], np.uint8), np.ascontiguousarray(labels[:, ::step])


def _grain(street: Street, size: tuple[int, int]) -> Float32:
    """Noise for two frames, so that every frame can start at another place in it."""
    rng = np.random.default_rng([street.seed, 1])
    return _NOISE * rng.standard_normal(2 * 3 * size[0] * size[1], np.float32)


def _expose(image: UInt8, street: Street, index: int, grain: Float32) -> UInt8:
    """The image with the gain and noise of the sensor."""
    start = np.random.default_rng([street.seed, 2, index]).integers(image.size)
    light = image * street.gain.astype(np.float32) + grain[start : start + image.size].reshape(image.shape)
    return np.asarray(np.clip(light, 0, 255), np.uint8)
