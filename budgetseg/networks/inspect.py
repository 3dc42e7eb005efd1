"""What was understood of a network, in words, and a card to edit."""

import json
from dataclasses import dataclass
from typing import Any

import numpy as np

from budgetseg.networks import MEAN, STD
from budgetseg.networks.card import MOST_CLASSES
from budgetseg.networks.config import PREPROCESSOR, has_usual_values
from budgetseg.networks.outputs import ClassOutput
from budgetseg.networks.run import OnnxNetwork

__all__ = ["Fact", "card_to_edit", "facts", "summary"]

TRIED, FILE, CARD, METADATA, DEFAULT = "tried", "file", "card", "metadata", "default"
"""Where a fact comes from: a run of the network, its shapes and types, its card, its metadata, or our own guess."""

MEANING = {
    "scores": "scores, which get a softmax",
    "probabilities": "probabilities",
    "independent": "probabilities of each class by itself, which are divided by their sum",
    "index": "the number of the class",
}
ONE_CHANNEL = {
    "scores": "a score of one class against the rest, which gets a sigmoid",
    "probabilities": "the probability of one class against the rest",
}
"""What an output of one channel holds."""


@dataclass(frozen=True)
class Fact:
    """One thing that was understood.

    Attributes
    ----------
    what : it is about
    value : in words
    source : where it comes from: `file`, `metadata`, `card`, `tried`, `default`, or a file beside the network
    """

    what: str
    value: str
    source: str


def facts(network: OnnxNetwork) -> list[Fact]:
    """All that was understood of a network."""
    card, frame, output = network.card, network.frame, network.output
    width, height = network.size or (None, None)
    size = f"{width}x{height}"
    if network.size is None:
        size = f"that of the video, at most {card.longest} on the longer side, multiples of {card.multiple}"
    size_source = FILE if frame.width and frame.height else CARD if card.size else DEFAULT
    kind_source = CARD if output.is_told else TRIED
    stride = (network.size or network.size_for((320, 256)))[0] / output.width
    return [
        Fact("input", f"'{frame.name}'", FILE),
        Fact("frames", size, size_source),
        Fact("layout", frame.layout, CARD if card.layout else FILE if frame.is_told else DEFAULT),
        Fact("type", np.dtype(frame.kind).name, FILE),
        Fact("colours", card.colours, DEFAULT if card.colours == "rgb" else CARD),
        _normalisation(network),
        *_batch(network),
        Fact("output", f"'{output.name}' {output.shape}", CARD if card.output_name else TRIED),
        *_others(network),
        Fact("output layout", output.layout, CARD if card.output_layout else TRIED),
        Fact("holds", _meaning(output), kind_source),
        Fact("cells", f"{output.width}x{output.height}, one for {_pixels(stride)} of the width", TRIED),
        Fact("predictions", f"{network.shape[1]}x{network.shape[0]} cells of {network.shape[2]} classes", TRIED),
        _classes(network),
    ]


def summary(network: OnnxNetwork) -> str:
    """What was understood, in a line."""
    size = "frames of any size" if network.size is None else f"frames of {network.size[0]}x{network.size[1]}"
    classes = f"{len(network.names)} classes ({_classes(network).source})"
    if network.classes.source == "assumed":
        classes = "how many classes is not known: name them, or say their number, in a card"
    values = _normalisation(network)
    guessed = "; mean and std are guessed, a card can say them" if values.source == DEFAULT else ""
    form = f"{np.dtype(network.frame.kind).name} {network.frame.layout}"
    return f"{size}, {form}{guessed}; {_meaning(network.output)}; {classes}"


def card_to_edit(network: OnnxNetwork, file: str, n_seen: int = 0) -> str:
    """A card, as TOML with comments, that says what was understood.

    Parameters
    ----------
    network : to describe
    file : where its ONNX file is, as seen from the card
    n_seen : classes of an index map that were seen; they stand for classes whose number is not known
    """
    card, frame = network.card, network.frame
    lines = [
        "# How budgetseg uses this network. Edit what is wrong. Lines that begin with # are comments.",
        _line("file", file),
    ]
    if network.size is None:
        lines += [
            "# Frames have the size of the video; a size of your own is [width, height]:",
            "# size = [512, 256]",
            _line("longest", card.longest) + "  # pixels of the longer side, at most",
            _line("multiple", card.multiple) + "  # of which both sides are",
        ]
    elif frame.width is None or frame.height is None:
        lines.append(_line("size", list(network.size)))
    lines.append(_line("layout", frame.layout))
    lines.append(_line("colours", card.colours) + '  # or "bgr"')
    if not frame.is_bytes:
        usual = (MEAN, STD) if card.scale == 1.0 else (0.0, 1.0)
        lines += [
            "# A frame enters as (frame - mean) / std, of R, G, B, where white is 'scale': 1, or 255.",
            "# Many networks were trained with mean [0.485, 0.456, 0.406] and std [0.229, 0.224, 0.225].",
            _line("scale", card.scale),
            _line("mean", list(card.mean or (usual[0],) * 3)),
            _line("std", list(card.std or (usual[1],) * 3)),
        ]
    lines += [
        _line("output_name", network.output.name),
        _line("output", network.output.kind) + '  # "scores", "probabilities", "independent" or "index"',
        _line("output_layout", network.output.layout),
        '# A name for each class, in the order of the channels. Equal names are added up, and "" is left out.',
        *_class_lines(network, n_seen),
    ]
    if card.order is not None:
        lines.append(_line("order", list(card.order)))
    lines += ["", "# Or rename, merge and leave out by name:", "[map]" if card.map else "# [map]"]
    lines += [f"{json.dumps(old)} = {json.dumps(new)}" for old, new in card.map]
    if not card.map:
        lines += ['# "traffic light" = "sign"', '# "void" = ""']
    return "\n".join(lines) + "\n"


def _batch(network: OnnxNetwork) -> list[Fact]:
    """That a network takes several frames at a time, where it does: all but one are for nothing."""
    n = network.frame.batch
    if n == 1:
        return []
    return [Fact("batch", f"{n} frames at a time, of which one counts; with a batch of 1 it would be faster", FILE)]


def _normalisation(network: OnnxNetwork) -> Fact:
    card = network.card
    if network.frame.is_bytes:
        return Fact("values", "0 to 255, as they are", FILE)
    mean, std = (MEAN, STD) if card.scale == 1.0 else (0.0, 1.0)
    shown = f"(frame - {list(card.mean or (mean,) * 3)}) / {list(card.std or (std,) * 3)}, white is {card.scale:g}"
    if has_usual_values(card):
        return Fact("values", shown, DEFAULT)
    config = network.config
    is_beside = (card.scale, card.mean, card.std) == (config.scale, config.mean, config.std)
    return Fact("values", shown, PREPROCESSOR if is_beside else CARD)


def _meaning(output: ClassOutput) -> str:
    """What an output holds, in words."""
    return (ONE_CHANNEL if output.is_one_channel else MEANING)[output.kind]


def _others(network: OnnxNetwork) -> list[Fact]:
    """The outputs that are not used, if there are any."""
    names = ", ".join(f"'{name}'" for name in network.other_outputs)
    return [Fact("not used", f"{names}; 'output_name' in the card chooses another", FILE)] if names else []


def _pixels(number: float) -> str:
    return "1 pixel" if number == 1 else f"{number:g} pixels"


def _classes(network: OnnxNetwork) -> Fact:
    classes = network.classes
    if classes.source == "assumed":
        return Fact("classes", f"{MOST_CLASSES} numbers, since nothing says how many there are", DEFAULT)
    source = {"numbers": CARD if network.card.classes else TRIED}.get(classes.source, classes.source)
    if not classes.is_named:
        meaning = ": 0 is the rest, 1 the class" if network.output.is_one_channel else ""
        return Fact("classes", f"{len(classes.names)} numbers{meaning}", source)
    return Fact("classes", f"{len(classes.names)}: {', '.join(classes.names)}", source)


def _class_lines(network: OnnxNetwork, n_seen: int) -> list[str]:
    """The key `classes`, which is left out where nobody knows how many there are."""
    if network.classes.source == "assumed":
        return ["# Nothing says how many there are: give their names, or their number.", f"# classes = {n_seen}"]
    names = list(network.channel_names.names)
    if not network.classes.is_named:
        return [
            '# They are numbers so far; names are a list, such as classes = ["road", "sky"].',
            _line("classes", len(names)),
        ]
    return [_line("classes", names)]


def _line(key: str, value: Any) -> str:
    return f"{key} = {json.dumps(value, ensure_ascii=False)}"
