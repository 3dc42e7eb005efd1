"""Sizes of inputs."""

from budgetseg.networks.sizes import input_size


def test_inputs_have_the_frames_size_or_a_share_of_it_in_whole_cells() -> None:
    assert input_size((241, 161), 1.0) == (241, 161)
    assert input_size((480, 360), 0.6) == (288, 216)
    assert input_size((480, 360), 1.5) == (720, 540)
    assert input_size((10, 3), 0.1) == (4, 4)
