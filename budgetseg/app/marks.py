"""Marks that identify the video and the model of a run, so that only the same ones resume or replay it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from budgetseg.checked import Limits, text, whole
from budgetseg.errors import UsageError
from budgetseg.models.bundle import AnyModel, Model
from budgetseg.networks.together import NetworkMark
from budgetseg.types import Classes
from budgetseg.video import VideoSource

__all__ = ["ModelMark", "VideoMark", "mark_of", "mark_of_networks"]

MOST_PATH = 4096
"""Characters of a path, as of Linux."""


@dataclass(frozen=True)
class VideoMark:
    """Identifies a video.

    Attributes
    ----------
    name : of the video
    n_frames, width, height : its size
    first_frame : digest of the pixels of its first frame
    """

    name: str
    n_frames: int
    width: int
    height: int
    first_frame: str

    @classmethod
    def of(cls, source: VideoSource, n_frames: int) -> "VideoMark":
        """The mark of a video with n_frames frames."""
        first = next(iter(source)).pixels
        return cls(source.name, n_frames, source.width, source.height, sha256(first.tobytes()).hexdigest())

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> "VideoMark":
        """The mark from its JSON values; ValueError if they are none."""
        n_frames = whole(stored["n_frames"], 1, Limits.frames)
        width, height = (whole(stored[side], 1, Limits.side) for side in ("width", "height"))
        return cls(text(stored["name"]), n_frames, width, height, text(stored["first_frame"]))

    def check(self, source: VideoSource) -> None:
        """Raise UsageError if a source is another video; its name may differ."""
        found = VideoMark.of(source, source.count())
        if replace(found, name=self.name) != self:
            raise UsageError(
                f"'{source.clip.path}' is not the video of the earlier run, '{self.name}' with {self.n_frames} frames "
                f"of {self.width}×{self.height}; give that video, or label this one without the earlier run"
            )


@dataclass(frozen=True)
class ModelMark:
    """Identifies a model, and names its classes and descriptors.

    Attributes
    ----------
    name : of the model
    place : name of a bundled model, or the folder of another one
    digest : of its manifest, which holds digests of all other files
    classes : names, in the order of the labels
    colours : of the classes, RGB
    descriptors : names, in the order of the model
    networks : where the user gave networks in place of a model: their names, files and digests
    """

    name: str
    place: str
    digest: str
    classes: tuple[str, ...]
    colours: tuple[tuple[int, ...], ...]
    descriptors: tuple[str, ...]
    networks: tuple[NetworkMark, ...] = ()

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> "ModelMark":
        """The mark from its JSON values; ValueError if they contradict each other."""
        classes, descriptors = (tuple(map(text, stored[name])) for name in ("classes", "descriptors"))
        colours = tuple(tuple(whole(value, 0, 255) for value in colour) for colour in stored["colours"])
        if [len(colour) for colour in colours] != [3] * len(classes):
            raise ValueError("there must be a colour for each class")
        networks = tuple(
            NetworkMark(*(text(network[key], MOST_PATH) for key in ("name", "path", "digest")))
            for network in stored.get("networks", ())
        )
        name, place, digest = (text(stored[key], MOST_PATH) for key in ("name", "place", "digest"))
        return cls(name, place, digest, classes, colours, descriptors, networks)

    def check(self, other: "ModelMark") -> None:
        """Raise UsageError if `other` marks another model. The same model in another folder is accepted."""
        if self.networks:
            self._check_networks(other)
        if other.digest != self.digest:
            raise UsageError(
                f"'{other.place}' is not the model of the earlier run, '{self.name}' from '{self.place}'; give that "
                "model with --model, or label the video again"
            )

    def _check_networks(self, other: "ModelMark") -> None:
        given = {network.name: network for network in other.networks}
        wanted = {network.name: network for network in self.networks}
        if given.keys() != wanted.keys():
            raise UsageError(
                f"the earlier run was by the networks {', '.join(wanted)}, not {', '.join(given) or other.name}; give "
                "those with --network, or label the video again"
            )
        for name, network in wanted.items():
            if given[name].digest != network.digest:
                raise UsageError(
                    f"'{given[name].path}' or its card has changed since the earlier run; give the file as it was, or "
                    "label the video again"
                )


def mark_of_networks(networks: Sequence[NetworkMark], classes: Classes) -> ModelMark:
    """The mark of networks that are used in place of a model."""
    name = "+".join(network.name for network in networks)
    digest = sha256(" ".join(f"{network.name} {network.digest}" for network in networks).encode()).hexdigest()
    colours = tuple(map(tuple, classes.colours.tolist()))
    return ModelMark(name, "", digest, classes.names, colours, (), tuple(networks))


def mark_of(model: AnyModel, folder: Path, is_bundled: bool) -> ModelMark:
    """The mark of the model in a folder."""
    place = folder.name if is_bundled else str(folder.absolute())
    digest = sha256((folder / "manifest.json").read_bytes()).hexdigest()
    colours = tuple(map(tuple, model.classes.colours.tolist()))
    descriptors = tuple(model.classifiers.names) if isinstance(model, Model) else ()
    return ModelMark(model.name, place, digest, model.classes.names, colours, descriptors)
