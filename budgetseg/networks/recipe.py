"""Settings of training networks, which can be imported without PyTorch."""

from dataclasses import dataclass

__all__ = ["NetworkRecipe"]


@dataclass(frozen=True)
class NetworkRecipe:
    """Settings of training networks.

    Attributes
    ----------
    n_steps : number of batches
    batch : frames in a batch
    rate : highest learning rate of the one-cycle schedule
    decay : weight decay
    average : decay of the running average of the weights, which is the result
    distil : weight of the large network's predictions in the loss of the small one
    time_limit_s : training ends by then, with a compressed schedule; the result then depends on the machine
    seed : of all random choices
    device : cpu or cuda
    int8 : whether the large network's convolutions use 8-bit integers (see `quantize`)
    """

    n_steps: int = 6000
    batch: int = 16
    rate: float = 4e-3
    decay: float = 3e-2
    average: float = 0.998
    distil: float = 1.0
    time_limit_s: float = float("inf")
    seed: int = 0
    device: str = "cpu"
    int8: bool = False
