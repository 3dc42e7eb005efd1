"""`budgetseg doctor`: what this machine and this installation are like, and what is wrong."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import typer

from budgetseg.cli.console import AsJson, Rows, print_json, print_table

if TYPE_CHECKING:
    from budgetseg.app.doctor import Checkup

__all__ = ["doctor"]

WRONG = 1
"""Exit status where something is wrong."""


def doctor(as_json: AsJson = False) -> None:
    """Examine the machine and the installation, and say what is wrong.

    Prints what the processor can do, the back ends that run networks, what was measured of them, where caches are, and
    versions. Nothing is changed. The exit status is 0 if all is fine, and 1 if something is wrong.

    \b
    budgetseg doctor
    budgetseg doctor --json
    """  # noqa: D301  # the parser keeps the lines after a real backspace
    from budgetseg.app.doctor import examine

    found = examine()
    if as_json:
        print_json(found.as_dict())
    else:
        _print(found)
    if not found.is_fine:
        raise typer.Exit(WRONG)


def _print(found: "Checkup") -> None:
    machine = found.machine
    features = [f"{name} {'yes' if has else 'no'}" for name, has in machine["features"].items()]
    facts: Rows = [
        ("system", machine["system"]),
        ("processor", machine["cpu"]),
        ("features", ", ".join(features) or "unknown"),
        ("cores", _cores(machine)),
        (
            "ffmpeg",
            f"reads {', '.join(found.codecs['reads'])}; writes {', '.join(found.codecs['writes']) or 'nothing'}",
        ),
    ]
    print_table(("machine", ""), facts)
    print_table(("library", "version"), [(name, own or "missing") for name, own in found.versions.items()])
    backends: Rows = [
        (own.name, own.version or "not installed", ", ".join(own.precisions) or "-") for own in found.backends
    ]
    print_table(("back end", "version", "precisions"), backends)
    measured = _measured(found)
    if measured:
        print_table(("network", "frames", "threads", "back end", "precision", "ms", "agreement"), measured)
    caches: Rows = [(own.what, own.folder, "yes" if own.is_writable else "no") for own in found.caches]
    print_table(("cache", "folder", "can be written"), caches)
    for trouble in found.wrong:
        typer.echo(f"Wrong: {trouble.what}; {trouble.remedy}")
    if found.is_fine:
        typer.echo("All is fine.")


def _cores(machine: Mapping[str, Any]) -> str:
    limit = machine["cpu_limit"]
    limited = "" if limit is None else f", time of {limit:g} by the limit of the container"
    return f"{machine['cores']}, {machine['usable_cores']} of them for this program{limited}"


def _measured(found: "Checkup") -> Rows:
    """A row for each back end and precision that a network was measured in."""
    return [
        (
            entry.network,
            f"{entry.mark.size[0]}x{entry.mark.size[1]}",
            str(entry.mark.threads),
            row.choice.backend,
            row.choice.precision,
            "does not run" if row.ms is None else f"{row.ms:.1f}",
            f"{100 * row.agreement:.2f} %",
        )
        for entry in found.measured
        for row in entry.rows
    ]
