"""Time and peak memory of a 3,000-frame video of 480x360: CamVid's dense run, back and forth, as H.264.

Usage: python benchmarks/long_video.py DATA FOLDER, where DATA holds camvid/ and FOLDER has 500 MB to spare.
"""

import json
import resource
import subprocess
import sys
from pathlib import Path

from budgetseg.datasets import open_dataset
from budgetseg.supervoxels import TIERS
from budgetseg.video import VideoWriter

N_FRAMES = 3000


def write_long_video(data: Path, path: Path) -> None:
    """The dense run forwards and backwards until it is long enough."""
    (dense,) = open_dataset("camvid", data / "camvid").videos("val")
    frames = dense.video().frames
    with VideoWriter(path, (480, 360), 15.0) as writer:
        for k in range(N_FRAMES):
            turn, t = divmod(k, len(frames))
            writer.write(frames[t if turn % 2 == 0 else -1 - t])


if __name__ == "__main__":
    folder = Path(sys.argv[2])
    write_long_video(Path(sys.argv[1]), folder / "long.mp4")
    for tier in sorted(TIERS):  # fast first: the peak of the children is the largest so far
        command = [sys.executable, "-m", "budgetseg", "supervoxels", str(folder / "long.mp4"), "-n", "30000", "--json"]
        done = subprocess.run([*command, "--tier", tier, "-o", str(folder / tier)], stdout=subprocess.PIPE, check=True)
        summary = json.loads(done.stdout)
        peak_mb = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        times = "  ".join(f"{stage} {summary[f'{stage}_s']:.1f} s" for stage in ("read", "segment", "write"))
        print(f"{tier}: {summary['n']} supervoxels in {summary['n_windows']} windows  {times}  peak {peak_mb:.0f} MB")
