"""Settings of training networks, which can be imported without PyTorch."""

from dataclasses import dataclass, field, replace

__all__ = ["LADDER", "SCRATCH", "Cameras", "NetworkRecipe", "Rung", "Views"]


@dataclass(frozen=True)
class Rung:
    """One network of a recipe.

    Attributes
    ----------
    name : of its file
    shape : name of its architecture (see `networks.architecture.SHAPES`)
    zoom : sides of its input over those of the frames
    """

    name: str
    shape: str
    zoom: float = 1.0


SCRATCH = (Rung("dcnn", "small"), Rung("dcnn_large", "large"))
"""Two networks from random weights."""


@dataclass(frozen=True)
class Views:
    """Random views of a frame in training.

    Attributes
    ----------
    smallest, largest : zoom
    aspect : largest logarithm of the change of the aspect ratio
    turn : largest rotation, in radians
    """

    smallest: float = 0.6
    largest: float = 2.0
    aspect: float = 0.12
    turn: float = 0.06


@dataclass(frozen=True)
class Cameras:
    """What other cameras, weather and encoders do to a frame. Values are chosen by eye, except where stated.

    Attributes
    ----------
    often : probability of each change
    gamma : largest logarithm of the exponent of brightness
    balance : largest logarithm of the gain of a colour
    dusk : share of the light that is left, at least
    blur : largest deviation of a Gaussian blur, in pixels
    detail : smallest share of the sides that a frame is reduced to before it is enlarged again
    noise : largest deviation of noise, of a value of 1 for white
    blocks : largest step in which the finest detail of a block of 8×8 pixels is kept, as JPEG at low quality does
    reflection : largest share of another picture that is seen in the windscreen
    bars : largest share of a side that one black bar takes; 16:9 in 4:3 has bars of 0.125
    flat : weight of the loss that makes predictions in black bars uniform, so that no class is seen there
    """

    often: float = 0.25
    gamma: float = 0.6
    balance: float = 0.25
    dusk: float = 0.35
    blur: float = 1.5
    detail: float = 0.4
    noise: float = 0.08
    blocks: float = 0.25
    reflection: float = 0.3
    bars: float = 0.18
    flat: float = 0.1


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
    distil : weight of the predictions of teachers in the loss; without teachers, of those of the last network in the
        loss of the others that are trained with it
    time_limit_s : training ends by then, with a compressed schedule; the result then depends on the machine
    seed : of all random choices
    device : cpu or cuda
    int8 : whether the large network's convolutions use 8-bit integers (see `quantize`)
    rungs : the networks
    together : whether they are trained side by side on the same views, or one after the other
    encoder_rate : highest learning rate of published weights
    rarity : classes count by their frequency to the power of minus this, relative to the median of the classes
    views : random views
    cameras : changes of other cameras; None for none
    teacher_zooms : sizes at which teachers see a view, over that of the view; their predictions are averaged
    teacher_mirrors : whether they see it mirrored, too
    unlabelled : share of a batch that is frames without labels, where there are some and teachers
    channels_last : whether the channels of a pixel lie together in memory, which suits most GPUs
    calibrated : whether scores are divided by a temperature that is found on frames of the folds
    bf16 : whether a CPU computes in 16 bits, as a GPU always does; large networks learn 1.5 times as fast where the
        processor has such instructions, small ones more slowly
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
    rungs: tuple[Rung, ...] = SCRATCH
    together: bool = True
    encoder_rate: float = 4e-4
    rarity: float = 0.5
    views: Views = field(default_factory=Views)
    cameras: Cameras | None = None
    teacher_zooms: tuple[float, ...] = (1.0,)
    teacher_mirrors: bool = False
    unlabelled: float = 0.25
    channels_last: bool = True
    calibrated: bool = False
    bf16: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the networks."""
        return tuple(rung.name for rung in self.rungs)

    def parts(self) -> "tuple[NetworkRecipe, ...]":
        """Recipes of the trainings that follow one another: of all networks together, or of each by itself."""
        return (self,) if self.together else tuple(replace(self, rungs=(rung,)) for rung in self.rungs)


LADDER = NetworkRecipe(
    rate=2e-3,
    average=0.999,
    distil=0.0,
    rungs=(Rung("dcnn_large", "lite2", 1.5), Rung("dcnn_medium", "lite0"), Rung("dcnn", "thin", 2 / 3)),
    together=False,
    rarity=0.25,
    views=Views(smallest=0.5, aspect=0.2),
    cameras=Cameras(),
    calibrated=True,
)
"""Three networks from ImageNet weights, one after the other."""
