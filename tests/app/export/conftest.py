"""A labelled street to export."""

from pathlib import Path

import pytest

from budgetseg.app.labeller import Labeller, Order
from budgetseg.app.model import LoadedModel
from budgetseg.engine.request import Request
from budgetseg.types import Budget


@pytest.fixture(scope="session")
def street_run(tmp_path_factory: pytest.TempPathFactory, loaded: LoadedModel, street: Path) -> Path:
    """Folder of a street labelled at two budgets."""
    budgets = Budget(0.05, is_share=True), Budget(1.0, is_share=True)
    order = Order([street], Request(budgets, "descriptors"), output=tmp_path_factory.mktemp("runs") / "out")
    Labeller(loaded).run(order, order.task())
    return order.output or Path()
