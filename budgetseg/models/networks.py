"""The networks of a model that label frames."""

from collections.abc import Sequence
from pathlib import Path

from budgetseg.descriptors.registry import open_networks
from budgetseg.models.bundle import AnyModel, Model, NetworkModel
from budgetseg.networks.run import OnnxNetwork
from budgetseg.networks.together import agreed, differences, named_cards
from budgetseg.types import Classes

__all__ = ["in_class_order", "networks_alone", "networks_of"]


def networks_of(model: AnyModel) -> dict[str, OnnxNetwork]:
    """The networks that label frames, by name, with the classes of the model; empty if it has none.

    Networks of a trained model that predict other classes are descriptors only.
    """
    names = model.classes.names
    if isinstance(model, NetworkModel):
        networks = agreed({name: OnnxNetwork(card) for name, card in model.cards.items()})
    else:
        opened = open_networks(model.classifiers.names, model.networks)
        networks = {name: network for name, network in opened.items() if not differences(network, names)}
    return {name: network.among(names) for name, network in networks.items()}


def in_class_order(model: Model) -> list[str]:
    """Names of the networks of a trained model that predict its classes in its order, without any class map."""
    opened = open_networks(model.classifiers.names, model.networks)
    names = model.classes.names
    same = [name for name, own in opened.items() if own.names == names or not own.classes.is_named]
    return [name for name in same if not differences(opened[name], names) and opened[name].shape[2] == len(names)]


def networks_alone(paths: Sequence[str | Path], name: str) -> NetworkModel:
    """A model of the networks that a user gives, ONNX files or cards; the classes are those of the first."""
    cards = named_cards(paths)
    networks = agreed({own: OnnxNetwork(card) for own, card in cards.items()})
    whole = {own: network.card for own, network in networks.items()}
    return NetworkModel(name, Classes.of(next(iter(networks.values())).names), whole)
