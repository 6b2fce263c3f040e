"""The table of the differences between two models that can be detected."""

from collections.abc import Sequence
from dataclasses import replace
from math import isinf

from embedlab.analysis.power import Detectable
from embedlab.analysis.uncertainty import METHOD
from embedlab.evaluation.scored_pairs import ScoredPairs, signature_of
from embedlab.models.grammar import titles_of
from embedlab.reports.notes import common_count, data_notes, usage_notes, with_marks
from embedlab.reports.tables import Column, Table, TableCell, Value


def power_table(found: Sequence[Detectable], scored: ScoredPairs, *, detect: float | None, seeds: int | None) -> Table:
    """Return one row a dataset or average; DETECT is a difference in points, SEEDS the number of seeds of a plan."""
    titles = titles_of([model.name for model in scored.models])
    first, second = titles.values()
    own = [len(model.members) for model in scored.models if model.is_recipe]
    columns = [
        Column(key="dataset", title="dataset", role="key"),
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
    if not any(count > 1 for count in own):
        if detect is not None:
            notes.append("no model has two seeds: how many a difference needs is unknown")
        if seeds is not None and own:
            notes.append(f"no model has two seeds: what {seeds} seeds detect is unknown; train more seeds first, with --seeds")
    return Table(
        title=with_marks(f"Detectable differences between {second} and {first}{common_count(scored, 'dataset')}", scored.marks),
        columns=columns,
        rows=[_row(one) for one in found],
        notes=[*data_notes(scored), *usage_notes(scored.models, scored.facts), *notes],
        signatures=_signatures(scored),
        titles=titles,
    )


def _signatures(scored: ScoredPairs) -> dict[str, str]:
    """Return the signature of each model's numbers."""
    found = {model.name: signature_of(scored, model, by="dataset", aggregation=("all",), metric="spearman") for model in scored.models}
    return {name: str(replace(one, interval=(METHOD,))) for name, one in found.items()}


def _row(one: Detectable) -> dict[str, Value | TableCell]:
    return {
        "dataset": one.key,
        "pairs": one.pairs,
        "sentences": one.sentences,
        "effective_pairs": TableCell(value=one.effective_pairs, text=f"{one.effective_pairs:z.0f}" if one.effective_pairs > 0 else "–"),
        "design_effect": one.uncertainty.design_effect,
        "difference": 100 * one.difference,
        "smallest": 100 * one.smallest,
        "planned": 100 * one.planned if one.planned is not None else None,
        "seeds_needed": _seeds_cell(one.seeds_needed),
    }


def _seeds_cell(needed: float | None) -> TableCell | None:
    if needed is None or needed != needed:
        return None
    return TableCell(value=needed, text="no number" if isinf(needed) else f"{needed:z.0f}")
