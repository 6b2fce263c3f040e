"""The marks and notes of numbers: partial or generated data in evaluation or training, and test
text seen in training.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from embedlab.core.note import Note, NoteKind
from embedlab.core.printable import FEW, PAIRS_SHARED, SENTENCES_SHARED
from embedlab.data.marks import UNKNOWN_TEXT, marks_of

if TYPE_CHECKING:  # showing stored numbers needs neither polars nor the readers of training data
    from embedlab.data.marks import Overlap
    from embedlab.models.catalog import ModelSpec
    from embedlab.runs.environment import Environment
    from embedlab.runs.store import RunFolder

SHORTENED = "shortened"
COMMON = "common pairs"  # of numbers on the pairs that all models score
WHITENED = (
    "whitened by the scored sentences: its vectors depend on the test sentences, which it "
    "saw without their gold"
)


def training_marks(spec: ModelSpec) -> tuple[str, ...]:
    """Return the marks of all numbers of a model: of its runs' training data, and of unknown
    training text.
    """
    from embedlab.scoring.training_text import is_text_unknown

    environments = _environments(spec)
    marks = marks_of(
        is_partial=any(environment.is_partial for environment in environments),
        is_generated=any(environment.is_generated for environment in environments),
    )
    if any(environment.is_shortened for environment in environments):
        marks = (*marks, SHORTENED)
    return (*marks, UNKNOWN_TEXT) if is_text_unknown(spec) else marks


def training_precision(spec: ModelSpec) -> str | None:
    """Return the precision, or precisions, that the runs of a model were trained in; None where
    embedlab trained none of it.
    """
    return (
        " and ".join(dict.fromkeys(environment.precision for environment in _environments(spec)))
        or None
    )


def training_notes(spec: ModelSpec) -> tuple[str, ...]:
    """Return what the marks mean, and failed trainings: shortened training, incomplete data
    and by how much.

    Also whether whitening saw the test sentences, how many rows a run drew where it did not read
    all, whether each seed drew its own, and what is known of training text that no run records.
    """
    from embedlab.runs.status import trained_flaw
    from embedlab.scoring.training_text import lineage, stated_text_notes

    runs = list(lineage(spec))
    environments = [run.environment() for run in runs]
    shortened = [
        Note(
            f"training shortened to {environment.steps} of {environment.whole_steps} steps",
            kind="shortened",
        )
        for environment in environments
        if environment.is_shortened
    ]
    unread_parts = [
        (data_state, run)
        for run, environment in zip(runs, environments, strict=True)
        for data_state in environment.data
        if data_state.get("partial") or "used" in data_state
    ]
    fitted = [WHITENED] if spec.is_fitted else []
    flaws = [Note(flaw, kind="failed") for run in runs if (flaw := trained_flaw(run))]
    return tuple(
        dict.fromkeys(
            [
                *fitted,
                *flaws,
                *shortened,
                *(
                    note
                    for data_state, run in unread_parts
                    for note in _partial_read_notes(data_state, run)
                ),
                *stated_text_notes(spec),
            ]
        )
    )


def _partial_read_notes(data_state: Mapping[str, Any], run: RunFolder) -> Iterator[str]:
    """Yield notes on data, in its DATA STATE, that a run did not read completely."""
    name = f"{data_state['name']} {data_state.get('split')}"
    rows = data_state.get("rows")
    used_rows = data_state.get("used")
    if data_state.get("partial"):
        expected_rows = data_state.get("expected_rows")
        yield Note(
            f"trained on partial {name}: {used_rows or rows} of {expected_rows} rows",
            kind="partial",
        )
    if used_rows is None:
        return
    reading = [
        stage.data for stage in run.recipe().stages if data_state["name"] in stage.data.names
    ]
    is_drawn_by_seed = any(data.sample == "seed" or data.shares for data in reading)
    drawing = "drawn anew by each seed" if is_drawn_by_seed else "the same for every seed"
    # rows that were drawn on purpose change no reading of a number
    yield Note(f"trained on {used_rows} of the {rows} rows of {name} ({drawing})", kind="detail")


def _environments(spec: ModelSpec) -> list[Environment]:
    """Return the environments of the runs in a model and of those they started from."""
    from embedlab.scoring.training_text import lineage

    return [run.environment() for run in lineage(spec)]


def overlap_sign(overlap: Overlap | None) -> str:
    """Return the sign of a score whose test pairs, or single sentences, are in the training data;
    empty without shared text.
    """
    if not overlap:
        return ""
    if overlap.shared_pairs:
        return PAIRS_SHARED.sign
    return "" if _is_few(overlap) else SENTENCES_SHARED.sign


def overlap_mark(overlap: Overlap | None) -> str:
    """Return the sign of `overlap_sign`, with the share of shared sentences where that is large
    enough to read.
    """
    sign = overlap_sign(overlap)
    share = overlap.share if overlap else None
    return (
        f"{sign}{100 * share:z.0f}%"
        if sign == SENTENCES_SHARED.sign and share is not None
        else sign
    )


def _is_few(overlap: Overlap) -> bool:
    """Return whether fewer of the sentences are shared than a score should be read with; a
    declaration counts as many.
    """
    return not overlap.declared and overlap.share is not None and overlap.share < FEW


def overlap_notes(overlaps: Mapping[str, Overlap]) -> tuple[str, ...]:
    """Return the footnotes of these signs, with the counts of each slice."""
    pairs = []
    sentences = []
    few = []
    for name, overlap in overlaps.items():
        shared = f"{name} {overlap.shared_sentences} of {overlap.sentences}"
        if overlap.shared_pairs:
            pairs.append(f"{name} {overlap.shared_pairs} of {overlap.pairs}")
        elif overlap.shared_sentences and _is_few(overlap):
            few.append(shared)
        elif overlap.shared_sentences:
            sentences.append(shared)
    kinds: tuple[tuple[NoteKind, str, list[str]], ...] = (
        ("shared pairs", f"{PAIRS_SHARED.sign} test pairs", pairs),
        ("shared sentences", f"{SENTENCES_SHARED.sign} test sentences", sentences),
        ("few shared sentences", "fewer than 5% of the test sentences", few),
    )
    notes = []
    for kind, texts, counts in kinds:
        if counts:
            text = f"{texts} that are in its training data: {', '.join(counts)}"
            notes.append(Note(text, kind=kind))
    if declared := ", ".join(name for name, overlap in overlaps.items() if overlap.declared):
        text = f"{SENTENCES_SHARED.sign} declared as its training data, not counted: {declared}"
        notes.append(Note(text, kind="shared sentences"))
    return tuple(notes)
