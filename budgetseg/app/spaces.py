"""Choose the space that labels a video: whole frames with networks, or regions with all descriptors."""

from collections.abc import Sequence

from budgetseg.errors import UsageError

__all__ = ["AUTO", "FRAMES", "REGIONS", "SPACES", "check_alone", "choose_space", "needs_regions", "space_named"]

AUTO, FRAMES, REGIONS = SPACES = ("auto", "frames", "regions")

_ALIASES = {"supervoxels": REGIONS}
"""Names that the first version used."""


def space_named(name: str) -> str:
    """The name in `SPACES`, also from a name that the first version used; UsageError for any other.

    Examples
    --------
    >>> space_named("supervoxels")
    'regions'
    """
    name = _ALIASES.get(name, name)
    if name not in SPACES:
        raise UsageError(f"no space '{name}'; choose from {', '.join(SPACES)}")
    return name


def needs_regions(policy: str | None, select: str | None, scope: str = "total") -> list[str]:
    """The options among these that were given; only `regions` has them."""
    asked = {"--policy": policy, "--select": select, f"--scope {scope}": scope != "total"}
    return [name for name, value in asked.items() if value]


def choose_space(wanted: str, needs: Sequence[str], has_network: bool) -> str:
    """The space to label in: `frames` if it is wanted, or possible and nothing else is wanted; else `regions`.

    Parameters
    ----------
    wanted : a name in `SPACES`
    needs : options that were given and that only `regions` has
    has_network : whether there is a network for whole frames

    Examples
    --------
    >>> choose_space("auto", [], True), choose_space("auto", ["--policy"], True), choose_space("auto", [], False)
    ('frames', 'regions', 'regions')
    """
    if wanted == FRAMES and needs:
        raise UsageError(f"{needs[0]} needs regions; leave it out, or use --space regions")
    if wanted == FRAMES and not has_network:
        raise UsageError("the model has no network for its classes; use --space regions")
    return FRAMES if has_network and wanted != REGIONS and not needs else REGIONS


def check_alone(needs: Sequence[str], space: str) -> None:
    """Raise UsageError where networks are given alone with options, or a space, that only a trained model has."""
    if space_named(space) == REGIONS:
        needs = ["--space regions", *needs]
    if needs:
        raise UsageError(
            f"{needs[0]} needs a model that 'budgetseg train' made, and networks are given alone; leave out one of them"
        )
