"""A Ray cluster of several nodes on this machine: jobs survive the loss of nodes and of the program itself."""

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from budgetseg.app.job import Status
from budgetseg.app.manifest import DONE, MANIFEST, Row
from budgetseg.errors import UsageError
from budgetseg.executors.ray import Ray
from tests.app.jobs import carry_out, job_of, order_of
from tests.app.streets import write_seeing_model, write_street
from tests.executors.test_executors import FOREVER_S, fail, finished, keep, square

ray = pytest.importorskip("ray")
N_VIDEOS = 6
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A head without workers, and two nodes with a worker each."""
    from ray.cluster_utils import Cluster

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.setenv("BUDGETSEG_CACHE", str(tmp_path_factory.mktemp("cache")))
        found = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
        found.add_node(num_cpus=1)
        found.add_node(num_cpus=1)
        yield found
        found.shutdown()  # type: ignore[no-untyped-call]


@pytest.fixture(scope="module")
def executor(cluster: Any) -> Iterator[Ray]:
    """Its actors get ready once for all tests."""
    with Ray(cluster.address) as found:
        yield found


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("onnx")
    return write_seeing_model(tmp_path_factory.mktemp("models") / "seeing")


@pytest.fixture(scope="module")
def videos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("videos")
    for k in range(N_VIDEOS):
        write_street(folder / f"{k}.mp4", 4 + k, seed=k)
    (folder / "broken.mp4").write_text("no video\n" * 50)
    return folder


def digests(rows: list[Row]) -> dict[str, str]:
    return {row.name: row.digest for row in rows if row.state == DONE}


def n_done(folder: Path) -> Counter[str]:
    """How often each video was labelled, by the manifest."""
    path = folder / MANIFEST
    lines = path.read_text().splitlines()[1:] if path.exists() else []
    return Counter(line.split('"')[3] for line in lines if '"state": "done"' in line)


def test_actors_keep_what_they_load_and_errors_come_back(executor: Ray) -> None:
    assert (executor.n_workers, executor.n_idle) == (2, 2)
    executor.submit(fail)
    assert str(finished(executor, 1)[0].answer.error) == "clip.mp4: damaged; get another one"
    for number in range(2):
        executor.submit(keep, number)
        (outcome,) = finished(executor, 1)
    assert outcome.answer.value == [0, 1]
    executor.cancel(executor.submit(time.sleep, FOREVER_S))
    executor.submit(square, 4)
    assert finished(executor, 1)[0].answer.value == 16


def test_labels_are_those_of_this_process(executor: Ray, model: Path, videos: Path, tmp_path: Path) -> None:
    here = carry_out(order_of([videos], tmp_path / "here"), model)
    there = job_of(order_of([videos], tmp_path / "there"), model).run(executor)
    assert digests(here) == digests(there)
    assert len(digests(here)) == N_VIDEOS
    assert {row.name: row.state for row in there}["broken"] == "skipped"


def test_a_lost_node_loses_nothing_and_nothing_is_done_twice(
    cluster: Any, executor: Ray, model: Path, videos: Path, tmp_path: Path
) -> None:
    node = cluster.add_node(num_cpus=1)
    left = [node]
    while executor.n_workers < 3:  # a machine that joins is used
        executor.wait(0.1)
        time.sleep(0.01)

    def show(status: Status) -> None:
        if len(status.running) == 3 and left:
            cluster.remove_node(left.pop(), allow_graceful=False)

    order = order_of([videos], tmp_path / "out")
    rows = job_of(order, model, show=show).run(executor)
    assert not left
    assert len(digests(rows)) == N_VIDEOS
    assert set(n_done(order.folder).values()) == {1}


SCRIPT = """
import sys
from pathlib import Path
from budgetseg.executors.ray import Ray
from tests.app.jobs import carry_out, order_of
address, videos, out, model = sys.argv[1:]
carry_out(order_of([Path(videos)], Path(out)), Path(model), Ray(address))
"""


def test_when_the_program_is_killed_a_rerun_takes_up_the_rest(
    cluster: Any, executor: Ray, model: Path, videos: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    node = cluster.add_node(num_cpus=1)
    words = [sys.executable, "-c", SCRIPT, cluster.address, str(videos), str(out), str(model)]
    with subprocess.Popen(words, env=ENVIRONMENT) as program:
        while not n_done(out):
            assert program.poll() is None
            time.sleep(0.01)
        program.send_signal(signal.SIGKILL)
    cluster.remove_node(node)
    before = n_done(out)
    rows = job_of(order_of([videos], out), model).run(executor)
    assert not before.keys() & digests(rows).keys()
    assert n_done(out).keys() == {str(k) for k in range(N_VIDEOS)}
    assert digests(job_of(order_of([videos], out), model).rows).keys() == n_done(out).keys()


@pytest.mark.parametrize(
    ("address", "line"),
    [
        ("127.0.0.1:1", "nobody answers at '127.0.0.1:1' .*; start a cluster with 'ray start --head'"),
        ("somewhere", "--address must be auto, HOST:PORT or ray://HOST:PORT. Got 'somewhere'"),
    ],
)
def test_an_address_that_does_not_answer_is_one_line(address: str, line: str) -> None:
    with pytest.raises(UsageError, match=line):
        Ray(address)  # before it connects


def test_more_than_a_machine_has_is_refused(cluster: Any) -> None:
    code = "import sys; from budgetseg.executors.ray import Ray; Ray(sys.argv[1], cpus=64)"  # one connection a process
    words = [sys.executable, "-c", code, cluster.address]
    done = subprocess.run(words, capture_output=True, text=True, env=ENVIRONMENT, check=False)
    assert "has 64 CPUs and 0 GPUs free; ask for less" in done.stderr
