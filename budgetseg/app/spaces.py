"""Which space labels a video: whole frames by networks, or regions by all descriptors."""

from collections.abc import Sequence

from budgetseg.errors import UsageError

__all__ = ["AUTO", "FRAMES", "REGIONS", "SPACES", "choose_space", "needs_regions", "space_named"]

AUTO, FRAMES, REGIONS = SPACES = ("auto", "frames", "regions")

_ALIASES = {"supervoxels": REGIONS}
"""Names of the first version."""


def space_named(name: str) -> str:
    """A name in `SPACES`, also for what the first version called it; UsageError for any other.

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
    """Options that were given and are of regions alone."""
    asked = {"--policy": policy, "--select": select, f"--scope {scope}": scope != "total"}
    return [name for name, value in asked.items() if value]


def choose_space(wanted: str, needs: Sequence[str], has_network: bool) -> str:
    """`frames` where it is wanted or nothing speaks against it, else `regions`.

    Parameters
    ----------
    wanted : a name in `SPACES`
    needs : options that were given and are of regions alone
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
