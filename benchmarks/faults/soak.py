"""Many labellings in one process: memory stays flat.

Usage: python -m benchmarks.faults.soak OUT [N]; N is 1,000 where it is left out.
"""

import resource
import sys
from pathlib import Path

from benchmarks.faults.seeds import write_clips
from budgetseg.app.labeller import Labeller, Order
from budgetseg.app.model import load
from budgetseg.engine.request import Request
from budgetseg.types import Budget

__all__ = ["main"]

ALLOWED = 1.1
"""How many times its memory after a tenth of the labellings a process may have at the end."""


def main(out: Path, n: int) -> bool:
    """Label the same clips again and again; whether memory stayed flat."""
    clips = write_clips(out / "clips")
    model = load("camvid", threads=1, space="frames")
    peaks = []
    for k in range(n):
        order = Order([clips[k % len(clips)]], Request((Budget(0.1),)), output=out / "run")
        Labeller(model).run(order, order.task())
        peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
        if (k + 1) % max(1, n // 10) == 0:
            print(f"{k + 1}: {peaks[-1] / 1e3:.0f} MB", flush=True)
    return bool(peaks[-1] <= ALLOWED * peaks[n // 10])


if __name__ == "__main__":
    sys.exit(not main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1000))
