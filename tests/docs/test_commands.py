"""The page of commands is what the program says."""

import os

from docs.scripts import commands
from tests.docs.blocks import ROOT


def test_the_page_is_up_to_date() -> None:
    assert commands.PAGE.read_text() == commands.page(), "the commands have changed: run 'make commands'"


def test_every_command_is_there_with_all_its_options() -> None:
    text = commands.page()
    for words, command in commands.commands():
        _, section = text.split(f"# {words}\n")
        section = section.split("\n## ")[0]
        for param in command.params:
            if param.param_type_name == "option" and param.name not in commands.HIDDEN:
                assert all(f"`{name}`" in section for name in param.opts), (words, param.opts)


def test_the_page_does_not_depend_on_the_machine() -> None:
    text = commands.page()
    lines = [line for line in text.splitlines() if "`--threads`" in line]
    assert lines
    assert not any(line.endswith(f"| `{os.cpu_count()}` |") for line in lines)
    assert str(ROOT) not in text
