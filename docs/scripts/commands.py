"""The page of commands from the program itself: `make commands` writes docs/commands.md."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from budgetseg.cli.app import app

PAGE = Path(__file__).parents[1] / "commands.md"

HEAD = """# Commands

This page lists every command with its options. `budgetseg COMMAND --help` prints the same. `make commands` writes this
page from the program.

| command | what |
|---|---|
| `budgetseg --version` | prints the version |
| `budgetseg --install-completion` | makes the shell complete names and options |
| `budgetseg -v COMMAND` | logs what is done, with the time, to standard error (`logging`, loggers `budgetseg.*`) |
| `python -m budgetseg` | is the same program |

An error prints one line and exits with code 2. Ctrl-C exits with code 130.
"""

HIDDEN = ("help", "install_completion", "show_completion")


def page() -> str:
    """The whole page."""
    return "\n".join([HEAD, *(section(words, command) for words, command in commands())])


def commands() -> Iterator[tuple[str, Any]]:
    """Every command with the words that call it, those of groups after their group."""
    for name, command in getattr(typer.main.get_command(app), "commands", {}).items():
        yield f"budgetseg {name}", command
        for inner, own in getattr(command, "commands", {}).items():
            yield f"budgetseg {name} {inner}", own


def section(words: str, command: Any) -> str:
    """What a command does, what it is given, and its options."""
    level = "##" if words.count(" ") == 1 else "###"
    given = [param for param in command.params if param.param_type_name == "argument"]
    options = [param for param in command.params if param.param_type_name == "option" and param.name not in HIDDEN]
    usage = " ".join([words, *(_metavar(param) for param in given), *(["COMMAND"] * hasattr(command, "commands"))])
    parts = [f"{level} {words}\n", f"`{usage}`\n" if options or given else "", _prose(command.help)]
    if given or options:
        rows = [f"| `{_metavar(param)}` | {_help(param)} | {_default(param)} |" for param in given]
        rows += [f"| {_names(param)} | {_help(param)} | {_default(param)} |" for param in options]
        parts.append("\n".join(["| option | what | if left out |", "|---|---|---|", *rows]) + "\n")
    return "\n".join(part for part in parts if part)


def _prose(text: str) -> str:
    """The help of a command; paragraphs that keep their lines are examples."""
    paragraphs = []
    for paragraph in text.strip().split("\n\n"):
        if paragraph.startswith("\b"):
            paragraphs.append("```sh\n" + paragraph.removeprefix("\b").strip() + "\n```")
        else:
            paragraphs.append(" ".join(paragraph.split()).replace("*", "\\*"))
    return "\n\n".join(paragraphs) + "\n"


def _metavar(param: Any) -> str:
    name = str(param.metavar or param.name)
    return name.upper() + ("…" if param.nargs == -1 else "")


def _names(param: Any) -> str:
    return ", ".join(f"`{name}`" for name in (*param.opts, *param.secondary_opts))


def _help(param: Any) -> str:
    return (param.help or "").replace("|", "\\|").replace("*", "\\*")


def _default(param: Any) -> str:
    """In the words of the option, if it has any."""
    if param.required:
        return "must be given"
    if isinstance(param.show_default, str):
        return param.show_default
    if param.default is None or param.default is False or not param.show_default:
        return ""
    if param.default is True:
        return f"`{param.opts[0]}`"
    return f"`{param.default}`"


if __name__ == "__main__":
    PAGE.write_text(page())
    print(PAGE)
