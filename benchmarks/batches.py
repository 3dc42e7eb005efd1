"""What it costs to take several decisions at a time, before the outcome of any is known: global accuracy in simulation.

Usage: python -m benchmarks.batches MODEL TABLES, where TABLES holds folders of `budgetseg describe`; of a model with
the network `dcnn`, its learned policy among all that count.
"""

import sys
from pathlib import Path

from budgetseg.app.strategy import counted
from budgetseg.descriptors.table import read_table
from budgetseg.models.bundle import load_model
from budgetseg.models.find import find_model
from budgetseg.policy.learned import METHOD, learned_for
from budgetseg.simulate import Arena, reward
from budgetseg.simulate.table import play_plain

BUDGETS = (0.02, 0.05, 0.1, 0.15, 0.2, 0.5)
AT_A_TIME = (1, 8, 16, 32, 64)


def main(model: str, tables: Path) -> None:
    """Print a line for each number of decisions."""
    trained = load_model(find_model(model))
    names = counted(trained)
    own = learned_for(trained.policies, METHOD, names)
    if own is None:
        sys.exit(f"'{model}' has no learned policy among {', '.join(names)}")
    arenas = [Arena.of(trained, read_table(folder)) for folder in sorted(tables.iterdir())]
    print(f"{len(arenas)} videos of {min(map(len, arenas))} to {max(map(len, arenas))} supervoxels\n")
    print(f"| decisions at a time | {' | '.join(f'{100 * share:g} %' for share in BUDGETS)} |")
    print("|---" * (1 + len(BUDGETS)) + "|")
    for n in AT_A_TIME:
        figures = []
        for share in BUDGETS:
            n_right = n_labelled = 0
            for arena in arenas:
                policy, selection = own.at(share)
                episode = arena.begin(share * arena.full_s(names), names, selection)
                play_plain(episode, arena.probabilities, policy, n)
                n_right += int(reward(arena, episode.state).right.sum())
                n_labelled += int(arena.truth.sum())
            figures.append(f"{100 * n_right / n_labelled:.1f}")
        print(f"| {n} | {' | '.join(figures)} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
