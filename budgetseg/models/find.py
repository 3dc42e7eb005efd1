"""Find models: bundled ones by name, others by their folder."""

from importlib.resources import files
from pathlib import Path

from budgetseg.errors import ModelError

__all__ = ["bundled_models", "find_model"]


def bundled_models() -> list[str]:
    """Names of the models that come with the package."""
    return sorted(path.parent.name for path in Path(str(files(__package__))).glob("*/manifest.json"))


def find_model(name: str | Path) -> Path:
    """The folder of a model, by the name of a bundled one or by its path; `./NAME` for a folder with such a name."""
    bundled = bundled_models()
    if name in bundled:
        return Path(str(files(__package__))) / name
    folder = Path(name)
    if folder.suffix in (".onnx", ".toml"):
        raise ModelError(f"'{folder}' is a network, and no model; give it by --network, or networks= in Python")
    if (folder / "manifest.json").is_file():
        return folder
    choice = f"choose from {', '.join(bundled)}, or give" if bundled else "give"
    wrong = f"'{folder}' holds no model, there is no manifest.json" if folder.is_dir() else f"no model '{name}'"
    raise ModelError(f"{wrong}; {choice} the folder of one that 'budgetseg train' made")
