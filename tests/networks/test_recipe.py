"""Recipes."""

from budgetseg.networks.recipe import LADDER, SCRATCH, NetworkRecipe


def test_networks_are_trained_together_or_one_after_the_other() -> None:
    assert NetworkRecipe().parts() == (NetworkRecipe(),)
    assert NetworkRecipe().rungs == SCRATCH
    assert [part.names for part in LADDER.parts()] == [(name,) for name in LADDER.names]
