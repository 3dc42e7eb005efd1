"""The log of `budgetseg -v`: what the program is doing, with the time, on standard error."""

import logging
from collections.abc import Callable

__all__ = ["start_logging"]


def start_logging() -> Callable[[], None]:
    """Print the messages of all of budgetseg's loggers; the function that is returned stops this."""
    logger = logging.getLogger("budgetseg")
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s.%(msecs)03d %(name)s: %(message)s", "%H:%M:%S"))
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)

    def stop() -> None:
        logger.removeHandler(handler)
        logger.setLevel(before)

    return stop
