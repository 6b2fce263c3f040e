"""A comparison as the Compare room shows it: a verdict in words, the lines of a forest plot, why.
Without Textual.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite

import numpy as np

from embedlab.analysis.comparison import ComparedSlice, Difference
from embedlab.choices import Aggregate
from embedlab.comparison.comparison import Comparison, compare_outcomes
from embedlab.comparison.evidence import outcome_evidence, slices_of
from embedlab.comparison.explanation import Explanation, explained
from embedlab.core.progress import StartProgress
from embedlab.outcomes.cuts import DATASET
from embedlab.outcomes.selection import ItemSelection
from embedlab.tui.workbench import Shown

BY = (DATASET, "source", "dice", "negation", "number", "question", "length", "words", "gold")
_HALVES_SEED = 0  # of the halves that combinations of properties are searched and tested on
_SCALE = 100


@dataclass(frozen=True, kw_only=True)
class ForestLine:
    """One model on one slice beside the reference, in points."""

    slice_key: str
    title: str
    items: int
    reference: float
    model: str
    score: float
    delta: float
    low: float
    high: float
    sign: str  # ▲ ▼ or =
    is_average: bool
    notes: tuple[str, ...]


def compare_shown(
    shown: Shown,
    *,
    by: str = DATASET,
    aggregate: Aggregate = "all",
    common: bool = False,
    selection: ItemSelection | None = None,
) -> Comparison:
    """Compare the models of SHOWN with the first of them."""
    assert shown.outcomes is not None
    return compare_outcomes(
        shown.outcomes,
        shown.columns,
        by=by,
        aggregate=aggregate,
        common=common,
        selection=selection,
    )


def main_slice(comparison: Comparison | None) -> ComparedSlice | None:
    """The slice that sums a comparison up: the last average, or the only slice."""
    if comparison is None:
        return None
    averages = [compared for compared in comparison.slices if compared.average_of]
    if averages:
        return averages[-1]
    return comparison.slices[0] if len(comparison.slices) == 1 else None


def model_scores(comparison: Comparison | None) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """The score of each model in sum, and its sign against the reference."""
    compared = main_slice(comparison)
    if compared is None or comparison is None:
        return {}, {}
    scores = {
        name: f"{_SCALE * score.value:z.1f}" if isfinite(score.value) else "·"
        for name, score in compared.scores.items()
    }
    signs = {
        name: _sign(difference)
        for name, difference in compared.differences.items()
        if isfinite(difference.delta)
    }
    return scores, signs


def _sign(difference: Difference) -> str:
    if not difference.significant:
        return "="
    return "▲" if difference.delta > 0 else "▼"


def verdict(comparison: Comparison) -> list[str]:
    """What the comparison says, in sentences: of each model against the reference."""
    others = [name for name in comparison.models if name != comparison.reference]
    if not others:
        compared = main_slice(comparison)
        if compared is None:
            return [f"{comparison.reference} alone: choose another model to compare with (c)"]
        score = compared.scores[comparison.reference]
        interval = _interval(score.low, score.high)
        return [
            f"{comparison.reference} scores {_SCALE * score.value:z.1f}{interval} on "
            f"{compared.title}: choose another model to compare with (c)"
        ]
    known = [
        difference
        for compared in comparison.slices
        for difference in compared.differences.values()
        if isfinite(difference.delta)
    ]
    if known and not any(difference.significant for difference in known):
        slices = len(comparison.slices)
        where = f"any of {slices} rows" if slices > 1 else comparison.slices[0].title
        return [f"No difference from {comparison.reference} is clear on {where}."]
    return [_sentence(comparison, name) for name in others]


def _sentence(comparison: Comparison, name: str) -> str:
    compared = main_slice(comparison)
    parts = [one for one in comparison.slices if not one.average_of and name in one.differences]
    clear = [one for one in parts if one.differences[name].significant]
    above = sum(one.differences[name].delta > 0 for one in clear)
    below = len(clear) - above
    if len(parts) < 2 or not clear:
        rows = ""
    elif len(clear) == len(parts) and (not above or not below):
        rows = f"; clear on all {len(parts)} rows"
    else:
        counts = [f"{n} {word}" for n, word in ((above, "above"), (below, "below")) if n]
        rows = f"; of {len(parts)} rows it is clearly {' and '.join(counts)}"
    if compared is None or name not in compared.differences:
        return f"{name}: {rows.removeprefix('; ') or 'no row differs clearly'}."
    difference = compared.differences[name]
    if not isfinite(difference.delta):
        return f"{name} was not scored on all of {compared.title}{rows}."
    interval = _interval(difference.low, difference.high)
    if not difference.significant:
        said = f"{name} cannot be told from {comparison.reference} on {compared.title}"
        return f"{said}: {_SCALE * difference.delta:+z.1f}{interval}{rows}."
    side = "above" if difference.delta > 0 else "below"
    points = abs(_SCALE * difference.delta)
    return (
        f"{name} is {points:.1f} points {side} {comparison.reference} on "
        f"{compared.title}{interval}{rows}."
    )


def _interval(low: float, high: float) -> str:
    if not (isfinite(low) and isfinite(high)):
        return ""
    return f" [{_SCALE * low:z.1f}, {_SCALE * high:z.1f}]"


def forest_lines(comparison: Comparison) -> Iterator[ForestLine]:
    """A line for each slice and each model beside the reference."""
    others = [name for name in comparison.models if name != comparison.reference]
    for compared in comparison.slices:
        reference = compared.scores[comparison.reference].value
        for name in others or [comparison.reference]:
            difference = compared.differences.get(name)
            score = compared.scores[name]
            yield ForestLine(
                slice_key=compared.key,
                title=compared.title,
                items=compared.pairs,
                reference=_SCALE * reference,
                model=name,
                score=_SCALE * score.value,
                delta=_SCALE * (difference.delta if difference else score.value),
                low=_SCALE * (difference.low if difference else score.low),
                high=_SCALE * (difference.high if difference else score.high),
                sign=_sign(difference) if difference and isfinite(difference.delta) else "",
                is_average=bool(compared.average_of),
                notes=compared.notes,
            )


def slice_expression(comparison: Comparison, line: ForestLine) -> str:
    """The filter that picks the items of a line, where the filter language has it."""
    if comparison.by == DATASET:
        return f"dataset:{line.slice_key}" if not line.is_average else ""
    dataset, _, value = line.slice_key.partition("/")
    if comparison.by == "source":
        return f"dataset:{dataset} source:{value}"
    return ""


def explain(
    shown: Shown, other: str, selection: ItemSelection | None, progress: StartProgress
) -> Explanation:
    """Why the model called OTHER differs from the reference."""
    assert shown.outcomes is not None
    models = [
        next(model for model in shown.columns if model.name == name)
        for name in (shown.columns[0].name, other)
    ]
    members = [member for model in models for member in model.members]
    parts = slices_of(shown.outcomes, members, by=DATASET, selection=selection)
    evidence = outcome_evidence(shown.outcomes, members, parts)
    rng = np.random.default_rng(_HALVES_SEED)
    return explained(
        shown.outcomes, models, evidence, selection, rng=rng, examples=3, progress=progress
    )


def why_lines(found: Explanation) -> list[tuple[str, str]]:
    """An explanation as (text, style) lines: where they differ, then what each alone gets right."""
    lines = [("where the difference is larger or smaller", "bold")]
    uneven = [one for one in found.uneven if one.contrast.significant]
    for one in uneven[:6]:
        contrast = one.contrast
        lines.append(
            (
                f"  {one.title}: {_SCALE * contrast.delta:+z.1f}"
                f"{_interval(contrast.low, contrast.high)} beside other items ({one.items:,})",
                "",
            )
        )
    if not uneven:
        lines.append((f"  nowhere clearly, of {len(found.kinds)} kinds of items", "$faint"))
    for side in found.sides:
        lines += [("", ""), (f"{side.model} alone right on {side.items:,} items", "bold")]
        facts = [fact for fact in (*side.common, *side.words) if fact.significant][:5]
        for fact in facts:
            shares = f"{fact.share:.0%} of them, {fact.elsewhere:.0%} of the others"
            lines.append((f"  {fact.title}: {shares}", ""))
        if not facts:
            lines.append(("  they have nothing in common that other items lack", "$faint"))
        for row in side.typical[:2]:
            first, second = (found.outcomes.column(key)[row] for key in ("sentence1", "sentence2"))
            lines.append((f"  · {first or ''} ┊ {second or ''}", "$faint"))
    return lines


def ends_of(lines: Sequence[ForestLine]) -> tuple[float, float]:
    """The ends of the axis that all LINES share; it holds 0."""
    ends = [end for line in lines for end in (line.low, line.high, line.delta) if isfinite(end)]
    low, high = min([0.0, *ends]), max([0.0, *ends])
    slack = (high - low) * 0.04 or 1.0
    return low - slack, high + slack


def forest_bar(line: ForestLine, low: float, high: float, width: int) -> str:
    """The interval of LINE on the axis from LOW to HIGH in WIDTH cells, with 0 as a rule."""

    def place(value: float) -> int:
        return max(0, min(round((value - low) / (high - low) * (width - 1)), width - 1))

    cells = [" "] * width
    cells[place(0.0)] = "│"
    if isfinite(line.low) and isfinite(line.high):
        for cell in range(place(line.low), place(line.high) + 1):
            cells[cell] = "─" if cells[cell] == " " else "┼"
    if isfinite(line.delta):
        cells[place(line.delta)] = "●" if line.sign in {"▲", "▼"} else "○"
    return "".join(cells)
