"""What `budgetseg -v` says beside the answer: what the program is doing, with the time, on standard error."""

import logging
from collections.abc import Callable

__all__ = ["start_logging"]


def start_logging() -> Callable[[], None]:
    """Let all of budgetseg's loggers speak, until what comes back is called."""
    logger, handler = logging.getLogger("budgetseg"), logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s.%(msecs)03d %(name)s: %(message)s", "%H:%M:%S"))
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)

    def stop() -> None:
        logger.removeHandler(handler)
        logger.setLevel(before)

    return stop
