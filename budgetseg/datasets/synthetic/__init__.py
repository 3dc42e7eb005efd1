"""A synthetic world: seeded street scenes with exact labels, for tests, the demo and the learning experiments.

A camera stands or slowly moves on the sidewalk of an endless street and looks along it. Everything in a frame follows
from the seed and the time. No single descriptor distinguishes all classes, so choosing among them matters:

    pair                               the same                                     what differs
    road, sidewalk                     grain and lightness, pale lines along z      colour
    building, fence                    two-tone boards and glass: one texture,      texture: boards lie in a
                                       turned by 90 degrees                         building, stand in a fence
    tree, hedge                        leaves and bark: one texture, turned         texture: twigs hang in a
                                       by 90 degrees                                tree, grow sideways in a hedge
    moving car, parked car             shapes, paints, either heading               motion
    walking person, standing person    figures, clothes, any moment of a step       motion, and the swing of the limbs

Sky and sign (road signs and street lamps, with their posts) differ from the rest in colour and texture. Clips differ in
light, exposure, white balance, palettes, traffic and the side they are seen from; things hide each other, cast shadows,
fade into haze; frames carry sensor noise. Drawing is done at twice the size: colours are averaged, labels picked.
"""

from budgetseg.datasets.synthetic.classes import CLASSES
from budgetseg.datasets.synthetic.dataset import SyntheticDataset
from budgetseg.datasets.synthetic.render import FRAMES_PER_S, frames, render

__all__ = ["CLASSES", "FRAMES_PER_S", "SyntheticDataset", "frames", "render"]
