"""`embedlab power`: which difference between two models these pairs and seeds can detect, and how many seeds a wanted one needs."""

from math import isinf
from typing import TYPE_CHECKING, Annotated

import typer

from embedlab.cli import completion
from embedlab.cli.models import ModelName
from embedlab.cli.options import common, examples
from embedlab.cli.terminal import Terminal
from embedlab.core.errors import ExitCode, UsageError
from embedlab.reports.notes import data_notes, usage_notes, with_marks

if TYPE_CHECKING:
    from embedlab.analysis.power import Detectable
    from embedlab.reports.tables import TableCell, Value

EXAMPLES = examples(
    "embedlab power snli-ce snli-supcl --data DIR",
    "embedlab power snli-ce snli-supcl --dataset sts12 --detect 1 --seeds 5",
)


@common("data", "runs", "machine", "output")
def power(
    first: ModelName,
    second: ModelName,
    dataset: Annotated[
        list[str] | None,
        typer.Option(
            "--dataset", metavar="NAME", help="An STS dataset or file of pairs; again for more. [all]", autocompletion=completion.datasets
        ),
    ] = None,
    detect: Annotated[float | None, typer.Option("--detect", metavar="POINTS", help="How many seeds a difference of POINTS needs.")] = None,
    seeds: Annotated[int | None, typer.Option("--seeds", metavar="N", help="What N seeds of each recipe would detect.")] = None,
    *,
    terminal: Terminal,
) -> None:
    """Say which difference between two models can be detected: at 5%, with 80% power, on each dataset and on the usual averages.

    Effective pairs are as many independent pairs as would give the same variance: pairs that share a sentence say less.
    """
    from embedlab.analysis.power import detectable
    from embedlab.reports.tables import Column, Table
    from embedlab.workflows.scoring import chosen_datasets, score

    _check(first, second, detect, seeds)
    scored, is_whole = score([first, second], terminal, datasets=chosen_datasets(dataset, "dataset"))
    found = detectable(scored.table, *scored.models, detect=detect / 100 if detect is not None else None, seeds=seeds)
    own = [len(model.members) for model in scored.models if model.is_recipe]
    columns = [
        Column(key="dataset", title="dataset"),
        Column(key="pairs", title="pairs"),
        Column(key="sentences", title="sentences"),
        Column(key="effective_pairs", title="effective pairs", align="right"),
        Column(key="design_effect", title="design effect", digits=2),
        Column(key="difference", title="difference", digits=2),
        Column(key="smallest", title="detectable", digits=2),
        *([Column(key="planned", title=f"with {seeds} seeds", digits=2)] if seeds is not None else []),
        *([Column(key="seeds_needed", title=f"seeds for {detect:g}", align="right")] if detect is not None else []),
    ]
    notes = [
        f"difference: {second} minus {first}, Spearman x 100; detectable: 5% two-sided, 80% power, one test",
        "seeds: " + (", ".join(map(str, own)) + " behind these numbers" if own else "neither model is a recipe: pairs alone vary"),
    ]
    if detect is not None and not any(count > 1 for count in own):
        notes.append("no model has two seeds: how many a difference needs is unknown")
    title = with_marks(f"What can be told of {second} and {first}", scored.marks)
    rows = [_row(one) for one in found]
    terminal.show(
        Table(title=title, columns=columns, rows=rows, notes=[*data_notes(scored), *usage_notes(scored.models, scored.facts), *notes])
    )
    if not is_whole:
        raise typer.Exit(ExitCode.MISSING)


def _check(first: str, second: str, detect: float | None, seeds: int | None) -> None:
    if first == second:
        raise UsageError(f"model {first!r} is named twice", hint="name two models")
    if detect is not None and not 0 < detect < 100:
        raise UsageError(f"--detect is {detect:g}: not a difference", hint="give points above 0 and below 100, for example --detect 1")
    if seeds is not None and seeds < 2:
        raise UsageError(f"--seeds is {seeds}: too few to know a spread", hint="give 2 or more")


def _row(one: "Detectable") -> "dict[str, Value | TableCell]":
    from embedlab.reports.tables import TableCell

    return {
        "dataset": one.key,
        "pairs": one.pairs,
        "sentences": one.sentences,
        "effective_pairs": TableCell(value=one.effective_pairs, text=f"{one.effective_pairs:.0f}" if one.effective_pairs > 0 else "–"),
        "design_effect": one.uncertainty.design_effect,
        "difference": 100 * one.difference,
        "smallest": 100 * one.smallest,
        "planned": 100 * one.planned if one.planned is not None else None,
        "seeds_needed": _seeds_cell(one.seeds_needed),
    }


def _seeds_cell(needed: float | None) -> "TableCell | None":
    from embedlab.reports.tables import TableCell

    if needed is None or needed != needed:
        return None
    return TableCell(value=needed, text="no number" if isinf(needed) else f"{needed:.0f}")
