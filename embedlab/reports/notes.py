"""The notes below a table: on the data, on the models' training data, and on how each model was
used.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from embedlab.core.note import Note, kind_of, phrases_of
from embedlab.data.published import remarks
from embedlab.scoring.provenance import training_notes

if TYPE_CHECKING:
    from embedlab.analysis.comparison import ComparedSlice
    from embedlab.analysis.evidence import ModelColumns
    from embedlab.data.dataset import DatasetState
    from embedlab.encoders.encoder import EncoderFacts, PairScorer
    from embedlab.models.catalog import Model, ModelSpec
    from embedlab.runs.evaluations import Evaluation
    from embedlab.scoring.task_comparison import Facts

GENERATED_NOTE = "generated: no number is about real language"
USED = ("pooling", "max_tokens", "precision")
DEFAULT_PRECISION = "float32"


def with_marks(title: str, marks: Sequence[str]) -> str:
    """Return a title with the marks of all the numbers below it."""
    return " ".join([title, *(f"[{mark}]" for mark in marks)])


def generated_note(marks: Sequence[str]) -> list[str]:
    """Return what the mark of generated data means, if it is among MARKS."""
    note = Note(GENERATED_NOTE, short=[GENERATED_NOTE], kind="generated")
    return [note] if "generated" in marks else []


def partial_notes(states: Sequence[DatasetState]) -> list[str]:
    """Return which data was incomplete, by how much, and which is not the published data."""
    return [
        Note(remark, short=[remark], kind="partial" if state.partial else "remark")
        for state in states
        for remark in remarks(asdict(state))
    ]


def usage_notes(models: Sequence[ModelColumns], facts: Mapping[str, Facts]) -> list[str]:
    """Return how each of MODELS was used, by the FACTS of its members."""
    return [
        note
        for model in models
        for note in usage_note(model.name, [facts[member] for member in model.members])
    ]


def usage_note(name: str, members: Sequence[Facts]) -> list[str]:
    """Return how the MEMBERS of a model were used, once where all were used alike, and how many its
    means are over.
    """
    seeds = [f"mean of {len(members)} seeds"] if len(members) > 1 else []
    notes = {}
    for full, shown in map(usage, members):
        text = f"{name}: {', '.join([full, *seeds])}"
        notes[text] = Note(text, models=(name,), short=[*seeds, *shown], kind="usage")
    return list(notes.values())


def model_note(name: str, note: str) -> Note:
    """Return a NOTE about one model."""
    return Note(f"{name}: {note}", models=(name,), short=phrases_of(note), kind=kind_of(note))


def slice_notes(slices: Iterable[ComparedSlice]) -> list[str]:
    """Return the notes on SLICES, each after the slice's name; what holds for several measures of
    the same items is said once.
    """
    found: dict[tuple[str, str, str], str] = {}
    for each in slices:
        for note in each.notes:
            text = f"{each.key}: {note}"
            named = note.with_text(text) if isinstance(note, Note) else text
            found.setdefault((each.task, each.slice_key, note), named)
    return [*found.values()]


def usage(facts: Facts) -> tuple[str, list[str]]:
    """Return how one member was used, in words, and the phrases that people see of what is not the
    default.
    """
    from embedlab.encoders.encoder import odd_texts

    used = [f"{key.replace('_', ' ')} {facts[key]}" for key in USED if key in facts]
    precision = facts.get("precision", DEFAULT_PRECISION)
    trained = facts.get("training_precision")
    is_usual = precision == (trained or DEFAULT_PRECISION) == DEFAULT_PRECISION
    after = [f"trained in {trained}"] if trained else []
    shown = [] if is_usual else [f"precision {precision}", *after]
    if (cut := facts.get("truncated", "0")) != "0":
        after.append(f"{cut} inputs cut")
        at = f" at {facts['max_tokens']} tokens" if "max_tokens" in facts else ""
        shown.append(f"{cut} inputs cut{at}")
    odd = odd_texts(int(facts.get("zero_vectors", 0)), int(facts.get("unknown_texts", 0)))
    return ", ".join([*used, *after, *odd]), [*shown, *odd]


def facts_of(noted: Evaluation | EncoderFacts, *more: str) -> Facts:
    """Return how a member was used, from its evaluation or its encoder, including the facts
    MORE.
    """
    keys = (*USED, "training_precision", *more)
    return {key: str(value) for key in keys if (value := getattr(noted, key, None)) is not None}


def training_facts(spec: ModelSpec) -> Facts:
    """Return the precision that a member was trained in, if embedlab trained it."""
    from embedlab.scoring.provenance import training_precision

    precision = training_precision(spec)
    return {"training_precision": precision} if precision else {}


def model_marks(models: Sequence[Model]) -> list[str]:
    """Return the marks of every number of MODELS: those of their training data."""
    from embedlab.scoring.provenance import training_marks

    return sorted(
        {mark for model in models for spec in model.members for mark in training_marks(spec)}
    )


def model_notes(model: Model, members: Sequence[PairScorer]) -> list[str]:
    """Return the notes on the numbers of a model whose MEMBERS are loaded: incomplete training
    data, and how it was used.
    """
    from embedlab.encoders.encoder import TEXT_COUNTS

    trained = dict.fromkeys(
        model_note(model.name, note) for spec in model.members for note in training_notes(spec)
    )
    used = [
        {**facts_of(member.facts, *TEXT_COUNTS), **training_facts(spec)}
        for spec, member in zip(model.members, members, strict=True)
    ]
    return [*trained, *usage_note(model.name, used)]
