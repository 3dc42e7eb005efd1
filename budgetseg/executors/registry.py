"""Executors by name."""

from dataclasses import dataclass

from budgetseg.errors import UsageError
from budgetseg.executors.core import Executor
from budgetseg.executors.local import Local
from budgetseg.executors.processes import Processes

__all__ = ["AUTO", "EXECUTORS", "ExecutorOptions", "open_executor"]

AUTO = "auto"
EXECUTORS = ("local", "processes", "ray")


@dataclass(frozen=True)
class ExecutorOptions:
    """Who does the work.

    Attributes
    ----------
    executor : a name in `EXECUTORS`, or `auto`: processes where more than one is asked for, else this process
    jobs : workers at a time; None for one in this process, and for as many as there is room for elsewhere
    cpus : cores of a worker
    gpus : of a worker, in a Ray cluster
    address : of a Ray cluster; None where none was given
    """

    executor: str = AUTO
    jobs: int | None = None
    cpus: int = 1
    gpus: float = 0
    address: str | None = None

    @property
    def name(self) -> str:
        """The executor; UsageError for one that there is not, or that does not fit."""
        name = self.executor
        if name == AUTO:
            usual = "processes" if (self.jobs or 1) > 1 else "local"
            name = usual if self.address is None else "ray"
        if name not in EXECUTORS:
            raise UsageError(f"no executor '{name}'; choose from auto, {', '.join(EXECUTORS)}")
        if name == "local" and (self.jobs or 1) > 1:
            raise UsageError("the executor 'local' does one video at a time; leave out --jobs, or use processes")
        if name != "ray" and (self.address is not None or self.gpus):
            raise UsageError("--address and --gpus are for Ray; leave them out, or use --executor ray")
        return name


def open_executor(options: ExecutorOptions, cores: int) -> Executor:
    """The executor that does the work of a job, on a machine of so many cores."""
    if options.name == "ray":
        from budgetseg.executors.ray import Ray

        return Ray(options.address or "auto", options.jobs, options.cpus, options.gpus)
    if options.name == "processes":
        return Processes(options.jobs or max(cores // options.cpus, 1))
    return Local()
