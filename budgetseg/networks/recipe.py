"""How networks are trained, in figures; to name them takes no PyTorch."""

from dataclasses import dataclass

__all__ = ["NetworkRecipe"]


@dataclass(frozen=True)
class NetworkRecipe:
    """How to train.

    Attributes
    ----------
    n_steps : batches
    batch : frames a batch
    rate : highest learning rate of the one-cycle schedule
    decay : weight decay
    average : decay of the running average of the weights, which is what comes out
    distil : weight of the large network's opinion in the loss of the small one
    time_limit_s : training ends earlier to fit, its schedule compressed; the result then depends on the machine
    seed : of everything random
    device : cpu or cuda
    int8 : whether the large network's convolutions become whole numbers of 8 bits (see `quantize`)
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
