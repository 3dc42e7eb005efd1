"""Models by name, of those that come with the package, or by place."""

from importlib.resources import files
from pathlib import Path

from budgetseg.errors import ModelError

__all__ = ["bundled_models", "find_model"]


def bundled_models() -> list[str]:
    """Names of the models that come with the package."""
    return sorted(path.parent.name for path in Path(str(files(__package__))).glob("*/manifest.json"))


def find_model(name: str | Path) -> Path:
    """Folder of a model, by the name of a bundled one or by its path; `./NAME` where a folder is meant."""
    there = bundled_models()
    if name in there:
        return Path(str(files(__package__))) / name
    folder = Path(name)
    if (folder / "manifest.json").is_file():
        return folder
    choice = f"choose from {', '.join(there)}, or give" if there else "give"
    wrong = f"'{folder}' holds no model, there is no manifest.json" if folder.is_dir() else f"no model '{name}'"
    raise ModelError(f"{wrong}; {choice} the folder of one that 'budgetseg train' made")
