"""Every code block of README and docs runs, or at least could: commands and options are there, data parses."""

import importlib
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from budgetseg.cli.app import main
from tests.docs.blocks import PAGES, ROOT, Block, blocks_of, check_command, commands_of, inline_commands
from tests.docs.worlds import WORLDS, install, read_as

LANGUAGES = {"", "json", "python", "sh", "text", "toml"}


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.fixture(scope="module", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Prices are measured for these tests, and kept from the user's."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BUDGETSEG_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty folder to work in, whose modules can be imported; they are forgotten afterwards."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", None) or "").startswith(str(tmp_path)):
            del sys.modules[name]


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_commands_and_options_are_there_and_data_parses(page: Path) -> None:
    for block in blocks_of(page):
        assert block.language in LANGUAGES, f"{block.page}:{block.line}: what is '{block.language}'?"
        try:
            if block.language == "sh":
                for words in commands_of(block.code):
                    check_command(words)
            if block.language in ("json", "toml"):
                read_as(block.language, block.code)
        except Exception as error:
            pytest.fail(f"{block.page}:{block.line}: {error}")


@pytest.mark.parametrize("page", [page for page in PAGES if page.name != "commands.md"], ids=name_of)
def test_commands_in_the_text_are_there(page: Path) -> None:
    for command in inline_commands(page):
        try:
            check_command(command.split(), whole=False)
        except AssertionError as error:
            pytest.fail(f"{name_of(page)}: `{command}`: {error}")


def runs(page: Path) -> bool:
    return any(block.language == "python" or "run" in block.marks for block in blocks_of(page))


@pytest.mark.parametrize("page", [page for page in PAGES if runs(page)], ids=name_of)
def test_what_a_page_shows_works(page: Path, folder: Path, request: pytest.FixtureRequest) -> None:
    names: dict[str, Any] = {"__name__": "page"}
    if name_of(page) in WORLDS:
        names |= WORLDS[name_of(page)](folder)
    for block in blocks_of(page):
        _prepare(block, folder, request)
        if block.file is not None:
            (folder / block.file).parent.mkdir(exist_ok=True)
            (folder / block.file).write_text(block.code)
        elif block.language == "python":
            _run_python(block, names)
        elif block.language == "sh":
            _run_shell(block, folder)


def _prepare(block: Block, folder: Path, request: pytest.FixtureRequest) -> None:
    """What a block needs is there, or the rest of its page is skipped."""
    if "needs torch" in block.marks:
        pytest.importorskip("torch")
    if "needs data" in block.marks and not (folder / "data").exists():
        (folder / "data").symlink_to(request.getfixturevalue("data_root"))


def _run_python(block: Block, names: dict[str, Any]) -> None:
    # Lines as in the page, so that a traceback leads there.
    code = compile("\n" * block.line + block.code, str(ROOT / block.page), "exec")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "__array__ implementation", DeprecationWarning)  # of pycocotools
        if "needs torch" in block.marks:
            warnings.simplefilter("ignore")  # of exporters that are said to be old
        exec(code, names)


def _run_shell(block: Block, folder: Path) -> None:
    for words in commands_of(block.code):
        if words == ["pip", "install", "-e", "."]:
            install(folder)
            importlib.invalidate_caches()
        elif "run" in block.marks:
            _run_ours(words)


def _run_ours(words: list[str]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.argv", words)
        with pytest.raises(SystemExit) as ending:
            main()
    assert ending.value.code == 0, f"'{' '.join(words)}' ended with {ending.value.code}"


def test_a_command_that_is_not_there_is_found_out() -> None:
    for wrong in (
        "budgetseg paint x.mp4",
        "budgetseg label x.mp4 --bugdet 3s",
        "make tea",
        "python benchmarks/none.py",
    ):
        with pytest.raises(AssertionError):
            check_command(wrong.split())
