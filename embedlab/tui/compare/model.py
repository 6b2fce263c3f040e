"""A comparison as the Compare room shows it: a verdict in words, the lines of a forest plot, why.
Without Textual.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite, isnan, nan

import numpy as np

from embedlab.analysis.comparison import ComparedSlice, Difference
from embedlab.comparison.comparison import WHOLE, Comparison, Slicing, compare_outcomes
from embedlab.comparison.evidence import outcome_evidence, slices_of
from embedlab.comparison.explanation import DifferenceExplanation, explain_difference
from embedlab.core.session import StartProgress
from embedlab.outcomes.frame import DATASET
from embedlab.outcomes.selection import ItemSelection
from embedlab.tui.plain import safe_line
from embedlab.tui.runs.model import round_ticks
from embedlab.tui.theme import HOLLOW, model_sign
from embedlab.tui.workbench import ShownItems

BY = (DATASET, "source", "dice", "negation", "number", "question", "length", "words", "gold")
_BY_NAME = (DATASET, "source", "negation", "number", "question")  # the others are in bands
_HALVES_SEED = 0  # of the halves that combinations of properties are searched and tested on
_SCALE = 100
_MOST_KINDS = 6


@dataclass(frozen=True, kw_only=True)
class ForestLine:
    """One model on one slice beside the reference, in points."""

    terms: Sequence[str]  # of a filter, which pick its items; none where it has no such ones
    title: str
    items: int
    reference: float
    model: str
    place: int  # among the chosen models
    score: float
    delta: float
    low: float
    high: float
    sign: str  # ▲ ▼ or =
    mark: str  # of the model, filled where the difference is clear
    is_average: bool
    notes: tuple[str, ...]


def compare_shown(
    shown: ShownItems, slicing: Slicing = WHOLE, selection: ItemSelection | None = None
) -> Comparison:
    """Compare the models of SHOWN with the first of them."""
    assert shown.outcomes is not None
    return compare_outcomes(shown.outcomes, shown.columns, slicing, selection=selection)


def main_slice(comparison: Comparison | None) -> ComparedSlice | None:
    """The slice that sums a comparison up: the last average, or the only slice."""
    if comparison is None:
        return None
    averages = [row for row in comparison.slices if row.averaged_keys]
    if averages:
        return averages[-1]
    return comparison.slices[0] if len(comparison.slices) == 1 else None


def model_scores(comparison: Comparison | None) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """The score of each model in sum, and its sign against the reference."""
    main = main_slice(comparison)
    if main is None or comparison is None:
        return {}, {}
    scores = {
        name: f"{_SCALE * score.value:z.1f}" if isfinite(score.value) else "·"
        for name, score in main.scores.items()
    }
    sign_of_model = {name: _sign(difference) for name, difference in main.differences.items()}
    return scores, sign_of_model


def _sign(difference: Difference) -> str:
    if isnan(difference.p):
        return ""  # not tested
    if not difference.significant:
        return "="
    return "▲" if difference.delta > 0 else "▼"


def verdict(comparison: Comparison) -> list[str]:
    """What the comparison says, in sentences, as the command line says it; one where nothing is
    clear.
    """
    from embedlab.reports.verdicts import verdicts

    reference, *other_models = comparison.names
    if not other_models:
        compared_slice = main_slice(comparison)
        sentence = f"{reference} alone"
        if compared_slice is not None:
            score = compared_slice.scores[reference]
            interval = ""
            if isfinite(score.low):
                interval = f" [{_SCALE * score.low:z.1f}, {_SCALE * score.high:z.1f}]"
            sentence = (
                f"{reference} has {_SCALE * score.value:z.1f}{interval} on {compared_slice.title}"
            )
        return [f"{sentence}: choose another model to compare with (c)"]
    are_clear = [
        difference.significant
        for compared_slice in comparison.slices
        for difference in compared_slice.differences.values()
        if isfinite(difference.p)
    ]
    if len(are_clear) > 1 and not any(are_clear):
        return [f"No difference from {reference} is clear on any row."]
    return verdicts(comparison.slices, comparison.names, by=comparison.slicing.by)


def forest_lines(comparison: Comparison, models: Sequence[str] = ()) -> Iterator[ForestLine]:
    """A line for each slice and each model beside the reference: what sums the comparison up, the
    other averages, then the rest. MODELS are all that were chosen, in order of their signs.
    """
    main = main_slice(comparison)
    datasets = {row.key.partition("/")[0] for row in comparison.slices if not row.averaged_keys}
    named = f"{next(iter(datasets))} " if len(datasets) == 1 else ""  # by the header already
    property_name = f"{comparison.slicing.by}: "  # is the head of the titles
    reference_name, *other_names = comparison.names
    slices = sorted(
        comparison.slices,
        key=lambda compared_slice: (compared_slice is not main, not compared_slice.averaged_keys),
    )
    for compared_slice in slices:
        reference = compared_slice.scores[reference_name].value
        for name in other_names or [reference_name]:
            difference = compared_slice.differences.get(name)
            score = compared_slice.scores[name]
            sign = _sign(difference) if difference else ""
            position = (models or comparison.names).index(name)
            symbol = model_sign(position)
            yield ForestLine(
                terms=_terms(compared_slice, comparison.slicing.by),
                title=compared_slice.title.removeprefix(named).replace(property_name, ""),
                items=compared_slice.items,
                reference=_SCALE * reference,
                model=name,
                place=position,
                score=_SCALE * score.value,
                delta=_SCALE * (difference.delta if difference else score.value),
                low=_SCALE * (difference.low if difference else score.low),
                high=_SCALE * (difference.high if difference else score.high),
                sign=sign,
                mark=symbol if sign in {"▲", "▼"} else symbol.translate(HOLLOW),
                is_average=bool(compared_slice.averaged_keys),
                notes=compared_slice.notes,
            )


def _terms(compared_slice: ComparedSlice, by: str) -> Sequence[str]:
    dataset = compared_slice.dataset
    if not dataset or by not in _BY_NAME:
        return ()
    kind = compared_slice.slice_key.removeprefix(dataset)[1:].removeprefix(f"{by}=")
    name = f'"{dataset}"' if {*" ,"} & {*dataset} else dataset  # of a file, as it is called
    return [f"dataset:{name}", *([f'{by}:"{kind}"'] if kind else ())]


def explain_shown(
    shown: ShownItems, other: str, selection: ItemSelection | None, progress: StartProgress
) -> DifferenceExplanation:
    """Why the model called OTHER differs from the reference."""
    assert shown.outcomes is not None
    models = [
        next(model for model in shown.columns if model.name == name)
        for name in (shown.columns[0].name, other)
    ]
    members = [member for model in models for member in model.members]
    dataset_slices = slices_of(shown.outcomes, members, by=DATASET, selection=selection)
    evidence = outcome_evidence(shown.outcomes, members, dataset_slices)
    rng = np.random.default_rng(_HALVES_SEED)
    return explain_difference(
        shown.outcomes, models, evidence, selection, rng=rng, examples=3, progress=progress
    )


@dataclass(frozen=True, kw_only=True)
class WhyLine:
    """A line of an explanation: a heading, a kind of items with an interval, a share, a text."""

    text: str
    style: str = ""
    low: float = nan
    delta: float = nan
    high: float = nan
    items: int = 0


def why_lines(explanation: DifferenceExplanation) -> list[WhyLine]:
    """Where the difference is larger or smaller, then what each model alone gets right."""
    uneven = [kind for kind in explanation.kind_differences if kind.contrast.significant][
        :_MOST_KINDS
    ]
    uneven += [tested.kind_difference for tested in explanation.search.confirmed[:2]]
    kinds = len(explanation.kinds)
    lines = [WhyLine(text="No property divides these items into kinds.")]
    if kinds:
        text = f"On none of {kinds} kinds of items is the difference clearly larger or smaller."
        lines = [WhyLine(text=text)]
    if uneven:
        lines = [WhyLine(text=f"{explanation.second} gains or loses on", style="bold")]
        for kind in uneven:
            low, delta, high = (
                _SCALE * end for end in (kind.contrast.low, kind.contrast.delta, kind.contrast.high)
            )
            lines.append(
                WhyLine(text=kind.title, low=low, delta=delta, high=high, items=kind.items)
            )
        text = f"points beside all other items; Holm over {kinds} kinds"
        lines.append(WhyLine(text=text, style="$faint"))
    for side in explanation.sides:
        heading = f"{side.model} alone is right on {side.items:,} items"
        lines += [WhyLine(text=""), WhyLine(text=heading, style="bold")]
        commonalities = [
            commonality for commonality in (*side.common, *side.words) if commonality.significant
        ][:_MOST_KINDS]
        for commonality in commonalities:
            shares = (
                f"{commonality.share:.0%} of them, {commonality.elsewhere:.0%} of all other items"
            )
            lines.append(WhyLine(text=f"{commonality.title}: {shares}"))
        if not commonalities:
            lines.append(WhyLine(text="nothing sets them apart from other items", style="$faint"))
        for row in side.typical[:2]:
            columns = map(explanation.outcomes.column, ("sentence1", "sentence2"))
            texts = "\n  ".join(safe_line(column[row]) for column in columns if column[row])
            lines.append(WhyLine(text=f"• {texts}", style="italic $faint"))
    return lines


def ends_of(lines: Sequence[ForestLine]) -> tuple[float, float]:
    """The ends of the axis that all LINES share; it holds 0."""
    line_ends = [
        end for line in lines for end in (line.low, line.high, line.delta) if isfinite(end)
    ]
    low, high = min([0.0, *line_ends]), max([0.0, *line_ends])
    slack = (high - low) * 0.04 or 1.0
    return low - slack, high + slack


def place_on(value: float, low: float, high: float, width: int) -> int:
    """The cell of VALUE on the axis from LOW to HIGH in WIDTH cells."""
    return max(0, min(round((value - low) / (high - low) * (width - 1)), width - 1))


def axis_labels(low: float, high: float, width: int) -> str:
    """Round numbers of the axis over their places in WIDTH cells, 0 always."""
    cells = [" "] * width
    for value, text in sorted(
        round_ticks(low, high, max(2, width // 9)), key=lambda tick: tick[0] != 0
    ):
        position = place_on(value, low, high, width)
        start = max(0, min(position - (len(text) - 1) // 2, width - len(text)))
        if not "".join(cells[max(start - 1, 0) : start + len(text) + 1]).strip():
            cells[start : start + len(text)] = text
    return "".join(cells)


def forest_bar(line: ForestLine, low: float, high: float, width: int) -> str:
    """The interval of LINE on the axis from LOW to HIGH in WIDTH cells, with 0 as a rule."""
    cells = [" "] * width
    cells[place_on(0.0, low, high, width)] = "│"
    if isfinite(line.low) and isfinite(line.high):
        left, right = (place_on(end, low, high, width) for end in (line.low, line.high))
        for cell in range(left, right + 1):
            cells[cell] = "─" if cells[cell] == " " else "┼"
    if isfinite(line.delta):
        cells[place_on(line.delta, low, high, width)] = line.mark
    return "".join(cells)
