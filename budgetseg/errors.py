"""The errors that budgetseg raises on purpose.

Every message is one line that says what is wrong and what to do. The command line prints it and exits with code 2.

    BudgetsegError
    ├── VideoError        a video or image folder cannot be read or written
    ├── DatasetError      a dataset is missing, incomplete or inconsistent
    ├── ModelError        a network or a trained model cannot be used
    ├── OutputError       results cannot be written where asked
    └── UsageError        a name, number or option makes no sense here
"""

__all__ = ["BudgetsegError", "DatasetError", "ModelError", "OutputError", "UsageError", "VideoError"]


class BudgetsegError(Exception):
    """Base of every error that budgetseg raises on purpose."""


class VideoError(BudgetsegError):
    """A video or image folder cannot be read or written."""


class DatasetError(BudgetsegError):
    """A dataset is missing, incomplete or inconsistent."""


class ModelError(BudgetsegError):
    """A network or a trained model cannot be used."""


class OutputError(BudgetsegError):
    """Results cannot be written where the user asked."""


class UsageError(BudgetsegError):
    """A name, a number or a combination of options makes no sense."""
