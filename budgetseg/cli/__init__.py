"""The command line: one thin command per file."""

import signal
import sys

__all__ = ["main"]


def main() -> None:
    """Run the program; Ctrl-C while it is loaded ends it as quietly as later."""
    try:
        from budgetseg.cli.app import main as run
    except KeyboardInterrupt:
        sys.stderr.write("budgetseg: interrupted\n")
        sys.exit(128 + signal.SIGINT)
    run()
