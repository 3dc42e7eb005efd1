"""Make the calibration of the bundled model `camvid`: what it may promise of its labels by frames.

Usage: python -m benchmarks.calibrate DATA WORK [write]

DATA holds camvid/. Runs are simulated on CamVid's training sequences, as they are and in other light, blur, noise and
colour, by fold networks that have not seen them. They are kept in WORK. With `write`, the calibration goes to the
model's manifest.json. There are fold networks of the small network alone, so that is what is calibrated: where the
large one is asked too, labels are mostly better than promised.
"""

import json
import sys
from pathlib import Path

import numpy as np

import budgetseg
from benchmarks.cases import Case, plain_cases
from budgetseg.learning.calibrate import Example, calibrate
from budgetseg.learning.promises import Labelled, examples_of
from budgetseg.models.bundle import load_any, with_calibration
from budgetseg.networks.card import read_card
from budgetseg.networks.run import OnnxNetwork
from budgetseg.spaces.frames.signs import Signs
from budgetseg.types import Float32, UInt8

__all__ = ["examples_for", "labelled"]


def labelled(case: Case, network: str = "dcnn") -> Labelled:
    """A video with the network of each of its frames."""
    paths = case.networks[network]
    opened = {path: OnnxNetwork(read_card(path), 1) for path in set(paths)}

    def ask(t: int, frame: UInt8) -> Float32:
        return opened[paths[t]](frame)

    return Labelled(case.name, case.frames, case.truth, case.rate, ask)


def examples_for(data: Path, dataset: str, work: Path, reported: bool = False) -> list[Example]:
    """Runs on the videos of a dataset, read from WORK where they are there."""
    found = []
    for case in plain_cases(data, dataset, reported):
        file = work / f"{dataset}-{'reported' if reported else 'train'}-{case.name}.json"
        if not file.is_file():
            examples = examples_of(labelled(case), case.shares, cores=2)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(json.dumps([_stored(example) for example in examples]) + "\n")
            print(f"{case.name}: {len(examples)} runs", flush=True)
        found += [_read(stored) for stored in json.loads(file.read_text())]
    return found


def _stored(example: Example) -> dict[str, object]:
    signs = {**vars(example.signs), "layout": np.round(example.signs.layout, 5).tolist()}
    return {**vars(example), "signs": signs, "truth": np.round(example.truth, 5).tolist()}


def _read(stored: dict[str, object]) -> Example:
    values = dict(stored)
    signs = dict(values.pop("signs"))  # type: ignore[call-overload]
    own = Signs(signs["confidence"], signs["lost"], np.array(signs["layout"]))
    return Example(signs=own, truth=np.array(values.pop("truth")), **values)  # type: ignore[arg-type]


def main(data: Path, work: Path, writes: bool) -> None:
    """Learn, print and write."""
    learned = calibrate(examples_for(data, "camvid", work))
    assert learned is not None
    print({name: value for name, value in learned.as_dict().items() if name != "layout"})
    if writes:
        folder = Path(budgetseg.__file__).parent / "models" / "camvid"
        with_calibration(folder, learned)
        assert load_any(folder).calibration is not None


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), "write" in sys.argv[3:])
