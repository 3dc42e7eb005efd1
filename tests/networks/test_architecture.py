"""The shape of the networks."""

import pytest
import torch

from budgetseg.networks.architecture import LARGE, SMALL, Network, Shape, count_parameters


@pytest.mark.parametrize("shape", [SMALL, LARGE])
@pytest.mark.parametrize(("height", "width"), [(64, 96), (90, 122)])
def test_scores_come_at_a_quarter_of_the_sides(shape: Shape, height: int, width: int) -> None:
    scores = Network(5, shape).eval()(torch.zeros(2, 3, height, width))
    assert scores.shape == (2, 5, -(-height // 4), -(-width // 4))


def test_the_large_network_is_the_larger_by_more_than_ten_times() -> None:
    small, large = (count_parameters(Network(11, shape)) for shape in (SMALL, LARGE))
    assert small < 200_000
    assert large > 10 * small
