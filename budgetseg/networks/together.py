"""Several networks for one video: the same classes in the same order, the size of the video, one grid of cells."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from budgetseg.errors import ModelError
from budgetseg.networks.card import Card, card_for
from budgetseg.networks.outputs import Grid
from budgetseg.networks.run import OnnxNetwork

__all__ = ["NetworkMark", "agreed", "bound", "differences", "marks_of", "named_cards"]


@dataclass(frozen=True)
class NetworkMark:
    """Identifies a network of a run.

    Attributes
    ----------
    name : of the network in the run
    path : of the file that the user gave, an ONNX file or a card
    digest : of the contents of the ONNX file and of its card
    """

    name: str
    path: str
    digest: str


def named_cards(paths: Sequence[str | Path]) -> dict[str, Card]:
    """Cards of the networks that a user gives, by name: that of the file, or with its folder where files share it."""
    if not paths:
        raise ModelError("no network is given; give an ONNX file, or its TOML card")
    files = [Path(path) for path in paths]
    resolved = [file.resolve() for file in files]
    for k, file in enumerate(files):
        if resolved[k] in resolved[:k]:
            raise ModelError(f"{file}: given twice; give each network once")
    stems = [file.stem for file in resolved]
    names = [
        f"{file.parent.name}-{stem}" if stems.count(stem) > 1 else stem
        for file, stem in zip(resolved, stems, strict=True)
    ]
    if len(set(names)) < len(names):
        raise ModelError(f"{files[0]}: the networks have one name; give files of other names")
    return {name: card_for(file) for name, file in zip(names, files, strict=True)}


def agreed(networks: Mapping[str, OnnxNetwork]) -> dict[str, OnnxNetwork]:
    """The networks with the same classes in the order of the first that names its own; ModelError where they differ."""
    named = [network for network in networks.values() if network.classes.is_named]
    counted = [network for network in networks.values() if network.classes.source == "numbers"]
    first = (*named, *counted, *networks.values())[0]
    for name, network in networks.items():
        line = differences(network, first.names)
        if line:
            other = next(own for own, found in networks.items() if found is first)
            raise ModelError(
                f"'{name}' has other classes than '{other}': {line}; give them the same by 'map' or 'classes' in their "
                "TOML files, as docs/networks.md shows"
            )
    return {name: network.among(first.names) for name, network in networks.items()}


def differences(network: OnnxNetwork, names: Sequence[str]) -> str:
    """How a network's classes differ from others, in words; nothing where it may stand beside them."""
    classes = network.classes
    if classes.source == "assumed":
        return ""
    if not classes.is_named:
        return "" if len(classes.names) == len(names) else f"{len(classes.names)} of them, not {len(names)}"
    more = [name for name in classes.names if name not in names]
    missing = [name for name in names if name not in classes.names]
    parts = [f"it has {_few(more)}"] if more else []
    return ", and ".join([*parts, *([f"it lacks {_few(missing)}"] if missing else [])])


def bound(
    networks: Mapping[str, OnnxNetwork], size: tuple[int, int], grid: Grid | None = None
) -> dict[str, OnnxNetwork]:
    """The networks for videos of a width and height, all on the grid of the finest output among them.

    An output with more cells than `grid` allows is averaged down.
    """
    grid = grid or Grid()
    ready = {name: network.at(size) for name, network in networks.items()}
    finest = max((network.output for network in ready.values()), key=lambda output: output.height * output.width)
    n_classes = max(len(network.names) for network in ready.values())
    cells = grid.fit(finest.height, finest.width, n_classes)
    return {name: network.onto(cells) for name, network in ready.items()}


def marks_of(networks: Mapping[str, OnnxNetwork], paths: Sequence[str | Path]) -> tuple[NetworkMark, ...]:
    """Marks of networks that a user gave by these paths, in the same order."""
    return tuple(
        NetworkMark(name, str(Path(path).absolute()), network.digest)
        for (name, network), path in zip(networks.items(), paths, strict=True)
    )


def _few(names: Sequence[str], most: int = 8) -> str:
    shown = ", ".join(f"'{name}'" for name in names[:most])
    return shown + (f" and {len(names) - most} more" if len(names) > most else "")
