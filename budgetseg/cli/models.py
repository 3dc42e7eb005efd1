"""`budgetseg models`: the bundled models, their classes, and their expected accuracy."""

from typing import TYPE_CHECKING, Annotated

import typer

from budgetseg.cli.console import AsJson, Rows, print_json, print_table

if TYPE_CHECKING:
    from budgetseg.app.card import ModelCard

__all__ = ["models"]

CURVE = """Budgets are shares of the cost of all descriptors. Accuracy is class average / global in %, by regions, on
training videos, with classifiers that were not trained on them."""
FRAMES = "A model with networks labels by frames, unless --space says otherwise, and is more accurate then."


def models(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="MODEL",
            help="Name of a bundled model, or folder of a model that 'budgetseg train' wrote.",
            show_default="all bundled models",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the bundled models, or describe one model in full.

    Prints training data, classes, descriptors, and expected accuracy by budget. Every model is loaded for this, so a
    damaged one is refused.

    \b
    budgetseg models
    budgetseg models camvid
    budgetseg models mymodel --json
    """  # noqa: D301  # the parser keeps the lines after a real backspace
    from budgetseg.app.card import card_of
    from budgetseg.models.find import bundled_models

    cards = [card_of(own) for own in ([name] if name else bundled_models())]
    if as_json:
        print_json([card.as_dict() for card in cards])
    elif name:
        _print_one(cards[0])
    else:
        _print_all(cards)


def _print_all(cards: "list[ModelCard]") -> None:
    header = ("model", "trained on", "classes", "descriptors", "MB")
    print_table(header, [_row(card) for card in cards])
    _print_curves(cards)


def _print_one(card: "ModelCard") -> None:
    facts = {
        "trained on": _trained_on(card),
        "classes": f"{len(card.classes)}: {', '.join(card.classes)}",
        "descriptors": ", ".join(card.descriptors) or "none",
        "networks": ", ".join(card.networks) or "none",
        "supervoxels": "none" if card.tier is None else f"tier {card.tier}",
        "size": f"{_megabytes(card)} MB",
        "folder": str(card.folder),
    }
    print_table(("model", card.name), list(facts.items()))
    _print_curves([card])


def _row(card: "ModelCard") -> tuple[str, ...]:
    return (
        card.name,
        _trained_on(card),
        str(len(card.classes)),
        ", ".join(card.descriptors or card.networks),
        _megabytes(card),
    )


def _trained_on(card: "ModelCard") -> str:
    """The dataset and its splits, in words."""
    from budgetseg.datasets import DATASETS

    if card.dataset is None:
        return "unknown"
    what = DATASETS[card.dataset].what if card.dataset in DATASETS else card.dataset
    return f"{what} ({', '.join(card.splits)})" if card.splits else what


def _megabytes(card: "ModelCard") -> str:
    return f"{card.n_bytes / 1e6:.1f}"


def _print_curves(cards: "list[ModelCard]") -> None:
    """Print expected accuracy by budget, with a column for each model that has it."""
    curves = {card.name: {own.budget_fraction: own for own in card.expected} for card in cards if card.expected}
    if not curves:
        typer.echo("No accuracy to expect: the model has no learned policy.")
        return
    rows: Rows = []
    for fraction in sorted({fraction for curve in curves.values() for fraction in curve}):
        found = [curve.get(fraction) for curve in curves.values()]
        cells = ["-" if own is None else f"{100 * own.class_average:.1f} / {100 * own.overall:.1f}" for own in found]
        rows.append((f"{100 * fraction:g} %", *cells))
    print_table(("budget", *curves), rows)
    typer.echo(CURVE)
    if any(card.networks for card in cards):
        typer.echo(FRAMES)
