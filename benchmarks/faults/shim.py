"""The program, killed or stopped at its n-th change of the file system below one folder.

Usage: python -m benchmarks.faults.shim FOLDER N kill|term WORDS..., where WORDS are those of `budgetseg`.
"""

import builtins
import io
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import budgetseg.switch as switch
from budgetseg.cli.app import main

CHANGES = ("rename", "replace", "link", "unlink", "mkdir", "rmdir")
SIGNALS = {"kill": signal.SIGKILL, "term": signal.SIGTERM}


def watch(folder: str, n: int, number: int) -> None:
    """Send this process a signal before change n of files below a folder; opening one to write it is a change."""
    count = 0

    def watched(call: Callable[..., Any], is_open: bool = False) -> Callable[..., Any]:
        def counted(*given: Any, **named: Any) -> Any:
            nonlocal count
            is_here = any(folder in os.fsdecode(word) for word in given[:2] if isinstance(word, str | bytes | Path))
            is_change = not is_open or set(str(named.get("mode", given[1] if len(given) > 1 else "r"))) & set("wax+")
            if is_here and is_change:
                count += 1
                if count == n:
                    os.kill(os.getpid(), number)
            return call(*given, **named)

        return counted

    for name in CHANGES:
        setattr(os, name, watched(getattr(os, name)))
    vars(io)["open"] = vars(builtins)["open"] = watched(open, is_open=True)
    vars(switch)["_exchange"] = watched(switch._exchange)


if __name__ == "__main__":
    watch(sys.argv[1], int(sys.argv[2]), SIGNALS[sys.argv[3]])
    sys.argv = ["budgetseg", *sys.argv[4:]]
    main()
