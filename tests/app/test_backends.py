"""What runs networks: measured on the video at hand once on a machine, named by the user, or as in an earlier run."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from budgetseg.app import backends as module
from budgetseg.app.backends import Backends, inexact, read_choices, stored_choices, wanted_of
from budgetseg.app.labeller import Labeller, Order
from budgetseg.app.model import LoadedModel, load
from budgetseg.descriptors.colour import Colour
from budgetseg.descriptors.network_output import NetworkDescriptor
from budgetseg.engine.request import Request
from budgetseg.errors import ModelError, UsageError
from budgetseg.networks.backends.core import Choice, Session, Setup
from budgetseg.networks.backends.onnxruntime import OnnxRuntime
from budgetseg.networks.backends.registry import BACKENDS, Wanted
from budgetseg.networks.card import Card
from budgetseg.networks.fastest import Measured, Measuring
from budgetseg.networks.measured import FILE, read_measured
from budgetseg.networks.run import OnnxNetwork
from budgetseg.spaces.frames import warm_up
from budgetseg.timing.prices import Prices
from budgetseg.types import Budget, UInt8
from budgetseg.video import VideoSource, open_video
from tests.app.simulated import frozen_prices
from tests.app.streets import N_FRAMES, SIZE, write_networks

EXACT, OTHER, ROUGH = Choice("onnxruntime", "f32"), Choice("openvino", "f32"), Choice("openvino", "bf16")


class StandIn:
    """A back end that runs in the reference, and can be told to be missing or not to open."""

    name = "openvino"
    install = "pip install 'budgetseg[openvino]'"
    is_there = True
    is_broken = False

    def version(self) -> str | None:
        return "2026" if self.is_there else None

    def precisions(self) -> Sequence[str]:
        return ("f32", "bf16") if self.is_there else ()

    def open(self, file: Path, setup: Setup) -> Session:
        if self.is_broken:
            raise ModelError(f"{file}: does not run by 'openvino' (no); choose another --backend")
        return OnnxRuntime().open(file, setup)


@pytest.fixture(autouse=True)
def backend(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> StandIn:
    """A second back end, and a cache without measurements."""
    own, missing = StandIn(), StandIn()
    missing.is_there = False
    for name in ("cuda", "tensorrt"):
        monkeypatch.setitem(BACKENDS, name, missing)
    monkeypatch.setitem(BACKENDS, "openvino", own)
    monkeypatch.setenv("BUDGETSEG_CACHE", str(tmp_path / "cache"))
    return own


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Number of frames of each measurement; bf16 is found to be the fastest that agrees."""
    asked: list[int] = []

    def answer(network: OnnxNetwork, _: object, frames: Sequence[UInt8], *__: object) -> list[Measured]:
        asked.append(len(frames))
        assert network.choice == EXACT
        times = {EXACT: 9.0, OTHER: 7.0, ROUGH: 4.5}
        return [Measured(choice, ms, 0.999, 0.0001) for choice, ms in times.items()]

    monkeypatch.setattr(module, "measure", answer)
    return asked


@pytest.fixture
def net(tmp_path: Path) -> Path:
    return write_networks(tmp_path / "nets", {"net": 4}) / "net.toml"


@pytest.fixture
def networks(net: Path) -> dict[str, OnnxNetwork]:
    return {"net": OnnxNetwork(Card(net.with_suffix(".onnx"), output="scores"))}


@pytest.fixture
def video(street: Path) -> VideoSource:
    return open_video(street)


def test_a_network_is_measured_once_on_frames_of_the_video_and_remembered(
    measured: list[int], networks: dict[str, OnnxNetwork], video: VideoSource
) -> None:
    said: list[str] = []
    for _ in range(2):  # as by two programs
        backends = Backends(Wanted(), 2, said.append)
        assert backends.are_known(networks) == bool(measured)
        for _ in range(2):
            assert backends.choices(networks, SIZE, video) == {"net": ROUGH}
    assert measured == [2]  # frames 0 and 8 of twelve
    assert said == ["measuring back ends of net, once on this machine"]
    (entry,) = read_measured()
    assert (entry.network, entry.mark.threads, entry.mark.size) == ("net", 2, SIZE)


def test_other_threads_versions_and_networks_are_measured_anew(
    measured: list[int],
    networks: dict[str, OnnxNetwork],
    video: VideoSource,
    backend: StandIn,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    Backends(Wanted(), 2).choices(networks, SIZE, video)
    Backends(Wanted(), 1).choices(networks, SIZE, video)
    monkeypatch.setattr(backend, "version", lambda: "2027")
    Backends(Wanted(), 1).choices(networks, SIZE, video)
    assert len(measured) == len(read_measured()) == 3


def test_without_a_video_nothing_is_measured_and_the_most_exact_runs(
    measured: list[int], networks: dict[str, OnnxNetwork]
) -> None:
    assert Backends(Wanted(), 1).choices(networks, SIZE, None) == {"net": EXACT}
    assert Backends(Wanted("openvino"), 1).choices(networks, SIZE, None) == {"net": OTHER}
    assert measured == []


@pytest.mark.parametrize("text", ["", "{", '{"format": 1, "measured": 3}'])
def test_a_damaged_cache_is_measured_again(
    measured: list[int], networks: dict[str, OnnxNetwork], video: VideoSource, tmp_path: Path, text: str
) -> None:
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / FILE).write_text(text)
    assert Backends(Wanted(), 1).choices(networks, SIZE, video) == {"net": ROUGH}
    assert len(measured) == len(read_measured()) == 1


def test_a_cache_that_cannot_be_written_is_no_error(
    measured: list[int],
    networks: dict[str, OnnxNetwork],
    video: VideoSource,
    street: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("BUDGETSEG_CACHE", str(street / "below a file"))
    backends = Backends(Wanted(), 1)
    for _ in range(2):
        assert backends.choices(networks, SIZE, video) == {"net": ROUGH}
    assert len(measured) == 1


def test_without_another_back_end_nothing_is_measured_and_nothing_written(
    measured: list[int], networks: dict[str, OnnxNetwork], video: VideoSource, backend: StandIn, tmp_path: Path
) -> None:
    backend.is_there = False
    backends = Backends(Wanted(), 1)
    assert backends.are_known(networks)
    assert backends.choices(networks, SIZE, video) == {"net": EXACT}
    assert backends.by("net", networks["net"], EXACT).choice == EXACT
    assert measured == []
    assert not (tmp_path / "cache").exists()


def test_the_user_decides(measured: list[int], networks: dict[str, OnnxNetwork], video: VideoSource) -> None:
    for wanted, choice in (
        (Wanted("onnxruntime"), EXACT),
        (Wanted("openvino", "f32"), OTHER),
        (Wanted(precision="bf16"), ROUGH),
    ):
        assert Backends(wanted, 1).choices(networks, SIZE, video) == {"net": choice}
    assert measured == []
    assert Backends(Wanted("openvino"), 1).choices(networks, SIZE, video) == {"net": ROUGH}
    assert Backends(Wanted(precision="f32"), 1).choices(networks, SIZE, video) == {"net": OTHER}  # is remembered
    assert len(measured) == 1


def test_a_back_end_that_does_not_run_is_left_out_by_auto_and_refused_by_name(
    networks: dict[str, OnnxNetwork], video: VideoSource, backend: StandIn
) -> None:
    backend.is_broken = True
    assert Backends(Wanted(), 1).choices(networks, SIZE, video) == {"net": EXACT}
    assert [row.error != "" for row in read_measured()[0].rows] == [False, True, True]
    named = Backends(Wanted("openvino"), 1)
    with pytest.raises(ModelError, match="does not run by 'openvino'"):
        named.by("net", networks["net"], named.choices(networks, SIZE, video)["net"])


def test_measuring_takes_the_reference_where_others_do_not_agree(
    networks: dict[str, OnnxNetwork], video: VideoSource
) -> None:
    strict = Backends(Wanted(), 1, settings=Measuring(pixels=1.1))
    assert strict.choices(networks, SIZE, video) == {"net": EXACT}
    rows = read_measured()[0].rows
    assert [row.choice for row in rows] == [EXACT, OTHER, ROUGH]
    assert all(row.agreement == 1 and row.difference == 0 and (row.ms or 0) > 0 for row in rows)


# Runs, ledgers, traces


@pytest.fixture
def label(net: Path, street: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., dict[str, Any]]:
    """Label the street, or replay or resume a run, and return the ledger; prices are not measured."""
    monkeypatch.setattr(warm_up, "calibrate", lambda _: False)
    monkeypatch.setattr(Prices, "load", lambda *_: frozen_prices())

    def label(
        folder: str,
        backend: str = "auto",
        precision: str = "auto",
        resume: Path | None = None,
        replay: Path | None = None,
    ) -> dict[str, Any]:
        request = Request((Budget(float("inf")),)) if replay is None else None
        order = Order([street], request, resume, replay, output=tmp_path / folder)
        wanted = wanted_of(backend, precision, order.earlier)
        model: LoadedModel = load(networks=[net], threads=1, wanted=wanted)
        written = Labeller(model).run(order, order.task())
        return dict(written.ledgers[0])

    return label


def trace(folder: Path) -> dict[str, Any]:
    return dict(json.loads((folder / "trace.json").read_text())["settings"])


def test_ledger_and_trace_name_what_ran_each_network(
    label: Callable[..., dict[str, Any]], measured: list[int], tmp_path: Path
) -> None:
    ledger = label("out")
    assert ledger["backends"] == {"net": {"backend": "openvino", "precision": "bf16"}}
    assert trace(tmp_path / "out")["backends"] == ledger["backends"]
    assert ledger["sources"]["net"]["count"] == N_FRAMES
    assert len(measured) == 1


@pytest.mark.usefixtures("measured")
def test_a_replay_and_a_resumed_run_take_what_ran_before(label: Callable[..., dict[str, Any]], tmp_path: Path) -> None:
    first = label("out", "openvino", "f32")
    assert first["backends"]["net"] == {"backend": "openvino", "precision": "f32"}
    for how in ("replay", "resume"):
        again = label(how, **{how: tmp_path / "out"})
        assert again["backends"] == first["backends"]
        assert not any("labels may differ" in note for note in again["notes"])


@pytest.mark.usefixtures("measured")
def test_another_one_by_name_is_marked_as_inexact(label: Callable[..., dict[str, Any]], tmp_path: Path) -> None:
    label("out", "openvino", "bf16")
    again = label("again", "onnxruntime", replay=tmp_path / "out")
    assert again["backends"]["net"] == {"backend": "onnxruntime", "precision": "f32"}
    line = "net was run by openvino bf16 in the earlier run and by onnxruntime f32 now: labels may differ"
    assert line in again["notes"]


@pytest.mark.usefixtures("measured")
def test_what_is_no_longer_there_is_refused_and_nothing_is_written(
    label: Callable[..., dict[str, Any]], tmp_path: Path, backend: StandIn
) -> None:
    label("out", "openvino", "bf16")
    backend.is_there = False
    for how in ("replay", "resume"):
        with pytest.raises(
            UsageError, match=r"'net' was run by openvino bf16 in the earlier run, which is not to be had"
        ):
            label("again", **{how: tmp_path / "out"})
    assert not (tmp_path / "again").exists()


def test_runs_that_do_not_say_were_by_the_reference(
    label: Callable[..., dict[str, Any]], tmp_path: Path, measured: list[int]
) -> None:
    label("out", "onnxruntime")
    path = tmp_path / "out" / "trace.json"
    stored = json.loads(path.read_text())
    del stored["settings"]["backends"]
    path.write_text(json.dumps(stored))
    again = label("again", replay=tmp_path / "out")
    assert again["backends"]["net"]["backend"] == "onnxruntime"
    assert measured == []


def test_prices_are_kept_for_each_back_end_and_precision(networks: dict[str, OnnxNetwork]) -> None:
    network = networks["net"]
    keys = [network.by(choice).key for choice in (EXACT, OTHER, ROUGH)]
    assert keys == [network.key, f"{network.key} openvino f32", f"{network.key} openvino bf16"]


def test_choices_are_read_as_they_were_stored_and_damage_is_told() -> None:
    choices = {"a": EXACT, "b": ROUGH}
    assert read_choices({"backends": stored_choices(choices)}) == choices
    assert read_choices({}) == {}
    damages: tuple[object, ...] = ({"a": 3}, {"a": {}}, 3)
    for damage in damages:
        with pytest.raises(UsageError, match="damaged at 'backends'; label the video again"):
            read_choices({"backends": damage})


def test_networks_that_the_earlier_run_does_not_name_are_not_inexact() -> None:
    assert inexact({"a": EXACT}, {"a": EXACT, "b": ROUGH}) == []


def test_descriptors_run_by_what_was_asked(networks: dict[str, OnnxNetwork]) -> None:
    plain = NetworkDescriptor("net", networks["net"])
    colour, own = Backends(Wanted("openvino", "bf16"), 1).of_descriptors([Colour(), plain])
    assert isinstance(colour, Colour)
    assert isinstance(own, NetworkDescriptor)
    assert own.network.choice == ROUGH
    assert own.source.kind == f"{plain.source.kind} openvino bf16"
