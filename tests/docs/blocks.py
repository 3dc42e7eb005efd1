"""Code blocks of the documentation: found, checked against the program, and run.

A comment before a block says more of it:

    <!-- run -->            shell commands that are carried out, not only checked
    <!-- needs data -->     run where the real videos are
    <!-- needs torch -->    run where PyTorch is

A block whose first line is a comment with the name of a file is written to that file.
"""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from budgetseg.cli.app import app

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
NOTEBOOK = sorted((ROOT / "notebook").rglob("*.md"))
"""Laboratory notes: what they show is not run."""

_BLOCK = re.compile(
    r"(?:^<!-- (?P<marks>[a-z, ]+) -->\n)?^```(?P<language>\w*)\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL
)
_FILE = re.compile(r"# (?P<name>[\w/.-]+\.(?:py|toml|json))\n")
_INLINE = re.compile(r"`(budgetseg [a-z-]+[^`\n]*|python (?:-m )?benchmarks[^`\n]*|make [a-z]+[^`\n]*)`")


@dataclass(frozen=True)
class Block:
    """Code in a page, from a line on.

    Attributes
    ----------
    page : its name, from the root of the project
    line : number of the line that opens it
    language : sh, python, toml, json, or nothing
    code : what is in it
    marks : what a comment before it says
    """

    page: str
    line: int
    language: str
    code: str
    marks: tuple[str, ...]

    @property
    def file(self) -> str | None:
        """Name of the file that it is to be written to."""
        match = _FILE.match(self.code)
        return match["name"] if match else None


def blocks_of(page: Path) -> list[Block]:
    """All blocks of a page, in order."""
    text, name = page.read_text(), str(page.relative_to(ROOT))
    found = []
    for match in _BLOCK.finditer(text):
        line = text.count("\n", 0, match.start("language")) + 1
        marks = tuple(mark.strip() for mark in (match["marks"] or "").split(",") if mark.strip())
        found.append(Block(name, line, match["language"], match["code"], marks))
    return found


def inline_commands(page: Path) -> list[str]:
    """Commands within the text of a page."""
    return _INLINE.findall(_BLOCK.sub("", page.read_text()))


def commands_of(code: str) -> Iterator[list[str]]:
    """The words of every command of a shell block, comments left out."""
    for line in code.replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        if words:
            yield words


def check_command(words: list[str], whole: bool = True) -> None:
    """AssertionError where a command, or an option of it, is not there; where it is not `whole`, arguments may lack."""
    program, *rest = words
    match Path(program).name, rest:
        case "budgetseg", _:
            _check_ours(rest, whole)
        case "make", [target, *_]:
            assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.MULTILINE), f"no target '{target}'"
        case "pip", ["install", *what]:
            _check_extras(what)
        case "python" | "python3", ["-m", "venv", _]:
            pass
        case "python", ["-m", module, *_]:
            assert (ROOT / f"{module.replace('.', '/')}.py").is_file(), f"no module '{module}'"
        case "python", [script, *_]:
            assert (ROOT / script).is_file(), f"no script '{script}'"
        case _:
            raise AssertionError(f"what is '{' '.join(words)}'?")


def _check_ours(words: list[str], whole: bool) -> None:
    command: Any = typer.main.get_command(app)
    while words and hasattr(command, "commands") and not words[0].startswith("-"):
        name, *words = words
        if name.isupper():  # any of them
            return
        assert name in command.commands, f"no command '{name}'; there are {', '.join(command.commands)}"
        command = command.commands[name]
    known = {"-h", "--help"} | {name for param in command.params for name in (*param.opts, *param.secondary_opts)}
    for word in words:
        assert not re.match(r"--?[a-z]", word) or word.split("=")[0] in known, f"no option '{word}'"
    if whole and not hasattr(command, "commands"):
        command.make_context("budgetseg", list(words))  # an error where something lacks, or is of another kind


def _check_extras(words: list[str]) -> None:
    text = (ROOT / "pyproject.toml").read_text()
    for extra in re.findall(r"budgetseg\[(\w+)\]", " ".join(words)):
        assert re.search(rf"^{extra} = \[", text, re.MULTILINE), f"no extra '{extra}'"
