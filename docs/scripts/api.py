"""What the page of the Python API says of each name, from its docstring: `make commands` brings docs/api.md up to date.

The page is written by hand but for the parts between `<!-- api: NAME -->` and `<!-- end -->`.
"""

import inspect
import re
from importlib import import_module
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parents[1] / "api.md"

_PART = re.compile(r"<!-- api: (\S+?)(, given)? -->\n.*?<!-- end -->", re.DOTALL)
_SECTION = re.compile(r"^(\w+)\n-+\n", re.MULTILINE)
_ENTRY = re.compile(r"^(\S[^:]*) : ", re.MULTILINE)


def page(text: str) -> str:
    """The page with all parts as the code says now."""
    return _PART.sub(
        lambda match: f"<!-- api: {match[1]}{match[2] or ''} -->\n{part(match[1], not match[2])}<!-- end -->", text
    )


def part(name: str, is_called: bool = True) -> str:
    """Signature, unless it is given and never called, first lines of the docstring, and a table of what it names."""
    found = resolve(name)
    summary, sections = _read(inspect.getdoc(found) or "")
    title = f"### {getattr(found, '__qualname__', name)}"
    lines = [title, "", f"```text\n{signature(name, found) if is_called else name}\n```", "", _prose(summary), ""]
    for title in ("Parameters", "Attributes"):
        if title in sections:
            rows = [f"| `{entry}` | {what} |" for entry, what in sections[title]]
            lines += [f"| {title[:-1].lower()} | what |", "|---|---|", *rows, ""]
    return "\n".join([*lines, ""])


def resolve(name: str) -> Any:
    """What a dotted name of budgetseg means."""
    found: Any = import_module("budgetseg")
    for word in name.split(".")[1:]:
        # A function before the module of its name: packages offer what their modules hold.
        found = getattr(found, word) if hasattr(found, word) else import_module(f"{found.__name__}.{word}")
    return found


def signature(name: str, found: Any) -> str:
    """As it is called, a line for each argument where it would be long."""
    if isinstance(found, (property, dict)) or not callable(found):
        return name
    arguments = list(inspect.signature(found).parameters.values())
    shown = [str(own.replace(annotation=own.empty)) for own in arguments if own.name not in ("self", "cls")]
    names = [own.name for own in arguments]
    keyword = next((k for k, own in enumerate(arguments) if own.kind is own.KEYWORD_ONLY), None)
    if keyword is not None:
        shown.insert(keyword - len(names) + len(shown), "*")
    short = re.sub(r"<function .*?<lambda> at \w+>|<factory>", "…", f"{name}({', '.join(shown)})")
    return short if len(short) <= 110 else short.replace("(", "(\n    ", 1).replace(", ", ",\n    ")[:-1] + ",\n)"


def _read(doc: str) -> tuple[str, dict[str, list[tuple[str, str]]]]:
    """The text before the first section, and the entries of each."""
    pieces = _SECTION.split(doc)
    sections = {title: _entries(body) for title, body in zip(pieces[1::2], pieces[2::2], strict=True)}
    return pieces[0].strip(), sections


def _entries(body: str) -> list[tuple[str, str]]:
    words = _ENTRY.split(body)
    return [(name, _prose(" ".join(what.split()))) for name, what in zip(words[1::2], words[2::2], strict=True)]


def _prose(text: str) -> str:
    return text.replace("|", "\\|").replace("*", "\\*")


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text()))
    print(PAGE)
