"""What must be said beside a number: partial or generated data, evaluated or learnt from, and test text seen in training."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from embedlab.data.marks import marks_of
from embedlab.data.shared_text import Overlap

if TYPE_CHECKING:  # whoever shows kept numbers needs neither polars nor what opens training data
    from embedlab.models.catalog import ModelSpec
    from embedlab.runs.environment import Environment
    from embedlab.runs.store import RunFolder

OVERLAP, SHORTENED = "overlap", "shortened"
PAIRS_SHARED, SENTENCES_SHARED = "†", "‡"


def training_marks(spec: "ModelSpec") -> tuple[str, ...]:
    """The marks of every number of a model: those of the data of the runs in it or behind it, and of training text that is unknown."""
    from embedlab.evaluation.stated_text import UNKNOWN_TEXT, is_text_unknown

    known = _environments(spec)
    marks = marks_of(is_partial=any(one.is_partial for one in known), is_sample=any(one.is_sample for one in known))
    shortened = (SHORTENED,) if any(one.is_shortened for one in known) else ()
    return (*marks, *shortened, *((UNKNOWN_TEXT,) if is_text_unknown(spec) else ()))


def training_precision(spec: "ModelSpec") -> str | None:
    """The number format, or formats, that the runs in a model and behind it were trained in; None where embedlab trained nothing of it."""
    return " and ".join(dict.fromkeys(one.precision for one in _environments(spec))) or None


def training_notes(spec: "ModelSpec") -> tuple[str, ...]:
    """What the marks mean: to how many steps training was shortened, which of its data was incomplete, and by how much.

    Where a run drew fewer rows than there were, how many, and whether each seed drew its own; and what is known of the text that no
    run records.
    """
    from embedlab.evaluation.stated_text import stated_text_notes

    runs = _runs(spec)
    known = [run.environment() for run in runs]
    shortened = [f"training shortened to {one.steps} of {one.whole_steps} steps" for one in known if one.is_shortened]
    parts = [(part, run) for run, one in zip(runs, known, strict=True) for part in one.data if part.get("partial") or "used" in part]
    return tuple(dict.fromkeys([*shortened, *(_read(part, run) for part, run in parts), *stated_text_notes(spec)]))


def _read(part: Mapping[str, Any], run: "RunFolder") -> str:
    """What a run read of a PART of which it did not read all."""
    name, rows = f"{part['name']} {part.get('split')}", part.get("rows")
    there = f"partial {name}: {rows} of {part.get('expected_rows')} rows" if part.get("partial") else f"the {rows} rows of {name}"
    if "used" not in part:
        return f"trained on {there}"
    reading = [stage.data for stage in run.recipe().stages if part["name"] in stage.data.datasets]
    is_own = any(data.sample == "seed" or data.shares for data in reading)
    drawn = "drawn anew by each seed" if is_own else "the same for every seed"
    return f"trained on {part['used']} rows, {drawn}, of {there}"


def _environments(spec: "ModelSpec") -> "list[Environment]":
    """How the runs in a model, and those behind it, were made."""
    return [run.environment() for run in _runs(spec)]


def _runs(spec: "ModelSpec") -> "list[RunFolder]":
    """The runs in a model, and those behind it."""
    from embedlab.evaluation.training_text import lineage

    return list(lineage(spec))


def overlap_mark(shared: Overlap | None) -> str:
    """The sign beside a score: of pairs that the model learnt from, or else of single sentences; empty where nothing is shared."""
    if not shared:
        return ""
    return PAIRS_SHARED if shared.shared_pairs else SENTENCES_SHARED


def overlap_notes(overlaps: Mapping[str, Overlap]) -> tuple[str, ...]:
    """The footnotes of these signs, with the counts of each slice."""
    pairs = [f"{name} {one.shared_pairs} of {one.pairs}" for name, one in overlaps.items() if one.shared_pairs]
    sentences = [
        f"{name} {one.shared_sentences} of {one.sentences}"
        for name, one in overlaps.items()
        if one.shared_sentences and not one.shared_pairs
    ]
    notes = ((PAIRS_SHARED, "pairs", pairs), (SENTENCES_SHARED, "sentences", sentences))
    return tuple(f"{sign} test {what} that are in its training data: {', '.join(counts)}" for sign, what, counts in notes if counts)
