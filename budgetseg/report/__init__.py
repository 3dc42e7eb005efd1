"""Reports: results and labelled videos as one HTML page that opens from disk."""

from budgetseg.report.page import write_report

__all__ = ["write_report"]
