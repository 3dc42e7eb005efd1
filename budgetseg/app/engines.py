"""Which engine labels a video: whole frames by networks, or supervoxels by all descriptors."""

from collections.abc import Sequence

from budgetseg.errors import UsageError

__all__ = ["AUTO", "ENGINES", "FRAMES", "SUPERVOXELS", "choose_engine", "is_possible"]

AUTO, FRAMES, SUPERVOXELS = ENGINES = ("auto", "frames", "supervoxels")


def is_possible(wanted: str, needs: Sequence[str]) -> bool:
    """Whether frames may be labelled, by what is wanted and by options that need supervoxels; UsageError if unknown."""
    if wanted not in ENGINES:
        raise UsageError(f"no engine '{wanted}'; choose from {', '.join(ENGINES)}")
    if wanted == FRAMES and needs:
        raise UsageError(f"{needs[0]} is of supervoxels; leave it out, or use --engine supervoxels")
    return wanted != SUPERVOXELS and not needs


def choose_engine(wanted: str, needs: Sequence[str], has_network: bool) -> str:
    """`frames` where it is wanted or nothing speaks against it, else `supervoxels`.

    Examples
    --------
    >>> choose_engine("auto", [], True), choose_engine("auto", ["--why"], True), choose_engine("auto", [], False)
    ('frames', 'supervoxels', 'supervoxels')
    """
    if not is_possible(wanted, needs):
        return SUPERVOXELS
    if wanted == FRAMES and not has_network:
        raise UsageError("the model has no network that tells its classes apart; use --engine supervoxels")
    return FRAMES if has_network else SUPERVOXELS
