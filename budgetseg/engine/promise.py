"""The accuracy to expect of labels, before anybody has looked at them."""

from dataclasses import dataclass

__all__ = ["Promise"]


@dataclass(frozen=True)
class Promise:
    """The share of pixels that is expected to be right.

    Attributes
    ----------
    accuracy : expected share, 0 to 1
    low, high : the interval that is to hold the true share; None where none was learned
    in_domain : whether the video looks like those that the figures were learned from: where not, `high` is all that can
        be said; None where nobody can tell
    class_average : expected mean over classes of the share of their pixels; None where it was not learned
    """

    accuracy: float
    low: float | None = None
    high: float | None = None
    in_domain: bool | None = None
    class_average: float | None = None

    def in_words(self, model: str) -> str:
        """A line for the user; `model` is the name of what labels."""
        if self.in_domain is False and self.high is not None:
            most = f"expect less than {_percent(self.high)} of the pixels right"
            return f"This video does not look like what '{model}' was trained on; {most}."
        line = f"Expected: about {_percent(self.accuracy)} of the pixels right"
        if self.low is not None and self.high is not None:
            line += f", between {_percent(self.low)} and {_percent(self.high)}"
        if self.class_average is not None:
            line += f", {_percent(self.class_average)} on average over classes"
        return f"{line}."


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
