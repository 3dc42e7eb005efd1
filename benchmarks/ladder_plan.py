"""What the trainings of the ladder are: jobs, in waves that follow one another; `notebook/ladder.md` explains them."""

from dataclasses import dataclass, replace

__all__ = ["PLANS", "SMALLEST", "Job"]


@dataclass(frozen=True)
class Job:
    """One training.

    Attributes
    ----------
    name : of its files
    data : the set it learns from, without suffix
    shape : of the network
    zoom : sides of the input over those of the frames of the set
    seconds : of training
    left_out : sequence, or fold-K, that it must not see and is measured on; empty for none
    seed : of all random choices
    cameras : whether frames are changed as other cameras would
    teachers : checkpoints to learn from, by the names of their jobs
    teacher_zoom : sides of their inputs over those of the frames of the set
    network : name of its exported file
    kept : name of the archive that its checkpoint goes into; empty if it is not kept
    batch : frames in a batch
    channels_last : whether the channels of a pixel lie together in memory
    published : sides of the published frames, on which it is measured, over those of the frames of the set
    bf16 : whether a CPU computes in 16 bits
    average : decay of the running average of the weights
    """

    name: str
    data: str
    shape: str
    zoom: float
    seconds: float
    left_out: str = ""
    seed: int = 0
    cameras: bool = True
    teachers: tuple[str, ...] = ()
    teacher_zoom: float = 1.5
    network: str = "dcnn"
    kept: str = ""
    batch: int = 16
    channels_last: bool = True
    published: float = 1.0
    bf16: bool = False
    average: float = 0.999


Plan = tuple[tuple[Job, ...], ...]

SMALLEST = (("trim", 0.6), ("fine", 0.5), ("thin", 2 / 3), ("slim", 5 / 6), ("small", 1.0))
"""Candidates for the smallest rung, with their zoom."""

_SUNY = ("thin", "trim", "small")
"""Candidates for SUNY, whose frames have a quarter of the pixels and enter as they are."""


def _candidates(left_out: str, seconds: float) -> tuple[Job, ...]:
    return tuple(
        Job(f"{shape}-without-{left_out}", "camvid", shape, zoom, seconds, left_out) for shape, zoom in SMALLEST
    )


def _middle(name: str, seconds: float, left_out: str = "0006R0") -> Job:
    return Job(name, "camvid", "lite0", 1.0, seconds, left_out)


def _large(name: str, shape: str, seconds: float) -> Job:
    return Job(name, "camvid_720", shape, 1.0, seconds, "0006R0", published=2 / 3, kept=name)


def _final(network: str, data: str, shape: str, seconds: float) -> Job:
    """A network of all frames."""
    published = 2 / 3 if data == "camvid_720" else 1.0
    return Job(network, data, shape, 1.0, seconds, network=network, kept=network, published=published)


def _folds(name: str, data: str, shape: str, zoom: float, seconds: float) -> tuple[Job, ...]:
    """A network of all frames and four that each leave a fold out."""
    whole = Job(name, data, shape, zoom, seconds, kept=name)
    return whole, *(
        replace(whole, name=f"{name}-fold-{fold}", left_out=f"fold-{fold}", seed=fold + 1) for fold in range(4)
    )


PLANS: dict[str, Plan] = {
    "try": (
        (
            *_candidates("0006R0", 3),
            _middle("lite0-try", 3),
            Job("suny-try", "suny", "trim", 1.0, 3, "fold-0"),
        ),
        (_middle("lite0-alone", 5),),
        (replace(_middle("lite0-alone-planes", 5), channels_last=False),),
        (Job("thin-alone", "camvid", "thin", 2 / 3, 5, "0006R0"),),
    ),
    "choose": (
        _candidates("0006R0", 140),
        _candidates("0001TP", 140),
        (
            _middle("lite0-without-0006R0", 110),
            replace(_middle("lite0-plain-without-0006R0", 110), cameras=False),
            *(Job(f"suny-{shape}-without-fold-0", "suny", shape, 1.0, 110, "fold-0") for shape in _SUNY),
        ),
    ),
    "large": (
        (_large("lite2-without-0006R0", "lite2", 130), _large("lite2-wide-without-0006R0", "lite2-wide", 130)),
        (_final("dcnn_large", "camvid_720", "lite2", 330),),
    ),
    "rest": (
        (_final("dcnn_medium", "camvid", "lite0", 210),),
        (*_folds("camvid", "camvid", "thin", 2 / 3, 210), *_folds("suny", "suny", "thin", 1.0, 210)),
    ),
    "distil": (
        (
            replace(
                _middle("lite0-distilled-without-0006R0", 110),
                teachers=("lite2-without-0006R0",),
            ),
        ),
    ),
    "cpu": ((replace(_final("dcnn_medium", "camvid", "lite0", 14_000), batch=8, bf16=True, average=0.998),),),
}
"""Plans by name: waves of jobs that run at the same time. `cpu` is for a machine without a GPU."""
