"""What is kept back of a budget."""

import pytest

from budgetseg.timing.margins import Margins

MARGINS = Margins(share=0.01, seconds=0.005, waiting_s=0.02, waiting_share=0.03)


def test_on_an_idle_machine_a_share_and_a_few_milliseconds_are_kept_back() -> None:
    assert MARGINS.reserve_s(2.0, waiting=0.0) == pytest.approx(0.025)


def test_where_the_process_waits_for_a_core_more_is_kept_back() -> None:
    assert MARGINS.reserve_s(2.0, waiting=0.5) == pytest.approx(0.025 + 0.01)


def test_what_is_kept_back_for_waiting_is_a_small_share_of_a_short_budget() -> None:
    assert MARGINS.reserve_s(0.1, waiting=0.5) == pytest.approx(0.006 + 0.003)


def test_of_a_budget_without_a_bound_nothing_is_kept_back() -> None:
    assert MARGINS.reserve_s(float("inf"), waiting=0.5) == 0
