"""Kernels give to the bit what they gave when it was recorded; other processors round otherwise."""

import json

import pytest

from budgetseg.machine import cpu_model
from tests.propagate.goldens import FILE, KERNELS, digest

STORED = json.loads(FILE.read_text())


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.skipif(STORED["cpu"] != cpu_model(), reason="recorded on another processor")
def test_a_kernel_gives_what_was_recorded(name: str) -> None:
    assert digest(name) == STORED["digests"][name]
