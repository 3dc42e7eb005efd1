"""What the demo measures and writes."""

from pathlib import Path

import numpy as np

from budgetseg.datasets.synthetic import render
from budgetseg.evaluation.demo import N_STEPS, demo_supervoxels
from budgetseg.video import open_video


def test_the_demo_tells_each_step_and_shows_what_it_measured(tmp_path: Path) -> None:
    video, truth = render(0, n_frames=6, size=(160, 120))
    steps: list[int] = []
    rows = demo_supervoxels(video, truth, tmp_path / "demo", steps.append)
    assert sum(steps) == N_STEPS == len(rows)
    assert [(row.tier, row.n) for row in rows] == [
        ("quality", 300),
        ("quality", 1000),
        ("fast", 300),
        ("fast", 1000),
    ]
    fewer, more = rows[:2]
    assert 0.5 < fewer.reachable < more.reachable <= 1
    assert all(row.ms_per_frame > 0 for row in rows)
    assert sorted(file.stem for file in (tmp_path / "demo").iterdir()) == sorted(
        ["street", "truth", *(f"{row.tier}-{row.n}" for row in rows)]
    )
    street = open_video(tmp_path / "demo" / "street.mp4").read()
    assert np.abs(street.frames.astype(int) - video.frames).mean() < 8
