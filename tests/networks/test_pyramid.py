"""The networks of the ladder."""

import pytest
import torch

from budgetseg.networks.architecture import SHAPES, build, count_parameters
from budgetseg.networks.pyramid import Pyramid, PyramidShape

NAMES = [name for name, shape in SHAPES.items() if isinstance(shape, PyramidShape)]


@pytest.mark.parametrize("name", NAMES)
def test_scores_come_at_a_share_of_the_sides_of_any_frame(name: str) -> None:
    shape = SHAPES[name]
    assert isinstance(shape, PyramidShape)
    for height, width in ((64, 96), (90, 122)):
        scores = build(name, 5, published=False).eval()(torch.zeros(1, 3, height, width))
        assert scores.shape == (1, 5, -(-height // shape.finest), -(-width // shape.finest))


def test_the_decoder_is_light() -> None:
    network = Pyramid(11, PyramidShape("lite0"))
    assert count_parameters(network) - count_parameters(network.encoder) < 0.05 * count_parameters(network)


def test_every_weight_that_is_trained_counts_for_the_scores() -> None:
    network = build("slim", 3, published=False)
    network(torch.rand(2, 3, 64, 64)).sum().backward()
    assert all(parameter.grad is not None for parameter in network.parameters())
