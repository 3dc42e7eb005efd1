"""A job on a large cluster, by an event simulation of the job's own ledger.

Usage: python -m benchmarks.cluster [NODES [VIDEOS]]

Workers take leases from the `Allotment` that `budgetseg label` uses, one for each video, and settle them. Lengths of
videos are drawn from a stated distribution: a median of a minute, and one in a hundred longer than ten. What a frame
costs, what files cost, how long a worker takes to get ready, and how fast the driver hands out videos are fields of
`Cluster`, each with the command that measured it. Printed, for several kinds of trouble: the makespan against the
budget, which is also the least that such a job can take; the share of the workers' time that labels; the share of the
time in which the driver is busy; and the seconds that the simulation took.
"""

import heapq
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from budgetseg.app.allotment import Allotment, Bounds
from budgetseg.app.outlook import Outlook
from budgetseg.timing.clock import WallClock


@dataclass(frozen=True)
class Cluster:
    """What is simulated.

    Attributes
    ----------
    nodes, videos : how many
    frame_s : of a worker, to label a frame fully; `budgetseg bench batch`
    files_s : of a worker, to open a video and write its files, for a frame; `budgetseg bench batch`
    ready_s : of a worker, to start and to load the model; `budgetseg bench batch`
    look_s : of a worker, to look at a video; `budgetseg bench batch`
    call_s : of the driver for each video: claim, lease, call, and line of the manifest
    share : of the full cost that the budget pays for
    straggling : share of the workers that are three times as slow as the others
    lost : share of the workers that are lost in the middle of the job
    """

    nodes: int = 1000
    videos: int = 100_000
    frame_s: float = 0.03
    files_s: float = 0.006
    ready_s: float = 15.0
    look_s: float = 0.05
    call_s: float = 0.002
    share: float = 0.3
    straggling: float = 0.0
    lost: float = 0.0


def lengths(n: int, seed: int = 0) -> Iterator[float]:
    """Frames of videos: a median of a minute at 25 frames a second, and one in a hundred of more than ten minutes."""
    rng = np.random.default_rng(seed)
    yield from np.exp(rng.normal(np.log(60 * 25), 1.0, n)).tolist()


def outlook(n_frames: float, cluster: Cluster, rng: np.random.Generator) -> Outlook:
    """A video whose accuracy saturates sooner or later."""
    full_s = n_frames * cluster.frame_s
    seconds = full_s * np.geomspace(0.01, 1, 8)
    lost = rng.uniform(2, 40) * np.exp(-np.arange(8) / rng.uniform(1, 4))
    return Outlook(n_frames, n_frames * cluster.files_s, 0.0, tuple(seconds.tolist()), tuple((-lost).tolist()))


def simulate(cluster: Cluster) -> dict[str, float]:
    """Figures of a job."""
    rng = np.random.default_rng(1)
    videos = [outlook(n, cluster, rng) for n in lengths(cluster.videos)]
    full_s = sum(video.seconds[-1] for video in videos)
    files_s = sum(video.files_s for video in videos)
    looking_s = cluster.ready_s + cluster.look_s * cluster.videos / cluster.nodes
    elapsed_s = looking_s + (cluster.share * full_s + files_s) / cluster.nodes
    clock = WallClock()
    allotment = Allotment(videos, [1.0] * cluster.videos, Bounds(elapsed_s=elapsed_s))
    waiting = allotment.order()[::-1]
    slow = np.where(rng.random(cluster.nodes) < cluster.straggling, 3.0, 1.0)
    dies_s = np.where(
        rng.random(cluster.nodes) < cluster.lost, rng.uniform(0.2, 0.9, cluster.nodes) * elapsed_s, np.inf
    )
    idle = [(looking_s, worker) for worker in range(cluster.nodes)]  # when each asks for work
    heapq.heapify(idle)
    running: list[tuple[float, int, int, float, float]] = []  # when it ends, video, worker, began, budget
    driver_s = looking_s  # until when the driver is busy
    labelled_s = ends_s = 0.0
    n_alive = cluster.nodes
    while waiting or running:
        if waiting and idle and (not running or idle[0][0] <= running[0][0]):
            asks_s, worker = heapq.heappop(idle)
            driver_s = max(driver_s, asks_s) + cluster.call_s
            k = waiting.pop()
            budget_s = allotment.lease(k, driver_s, n_alive)
            took_s = budget_s + slow[worker] * videos[k].files_s
            heapq.heappush(running, (min(driver_s + took_s, dies_s[worker]), k, worker, driver_s, budget_s))
            continue
        now_s, k, worker, began_s, budget_s = heapq.heappop(running)
        if now_s >= dies_s[worker]:
            allotment.put_back(k, now_s - began_s)
            waiting.append(k)
            n_alive -= 1
            continue
        allotment.settle(k, now_s - began_s, budget_s)
        labelled_s += budget_s
        ends_s = max(ends_s, now_s)
        heapq.heappush(idle, (now_s, worker))
    return {
        "budget s": elapsed_s,
        "makespan s": ends_s,
        "makespan / budget": ends_s / elapsed_s,
        "labelling": labelled_s / (cluster.nodes * ends_s),
        "driver busy": cluster.videos * cluster.call_s / ends_s,
        "simulated in s": clock.now_s(),
    }


def main(nodes: int, videos: int) -> None:
    """Print a table."""
    usual = Cluster(nodes, videos)
    cases = {
        "usual": usual,
        "a tenth of the budget": replace(usual, share=0.03),
        "a tenth of the nodes is slow": replace(usual, straggling=0.1),
        "one node in twenty is lost": replace(usual, lost=0.05),
        "a driver ten times as slow": replace(usual, call_s=10 * usual.call_s),
    }
    shown = False
    for name, cluster in cases.items():
        found = simulate(cluster)
        if not shown:
            print(f"| {nodes} nodes, {videos} videos |", " | ".join(found), "|")
            print("|" + "---|" * (1 + len(found)))
            shown = True
        print(f"| {name} |", " | ".join(f"{value:.3f}" for value in found.values()), "|", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000, int(sys.argv[2]) if len(sys.argv) > 2 else 100_000)
