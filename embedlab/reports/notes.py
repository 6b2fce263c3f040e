"""The notes below a table: on the data, on the models' training data, and on how each model was
used.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import polars as pl

from embedlab.core.note import Note, kind_of, phrases_of
from embedlab.data.published import remarks
from embedlab.scoring.provenance import training_notes

if TYPE_CHECKING:
    from embedlab.analysis.scores import ModelColumns
    from embedlab.data.dataset import DatasetState
    from embedlab.encoders.encoder import EncoderFacts, PairScorer
    from embedlab.models.catalog import Model, ModelSpec
    from embedlab.runs.evaluations import Evaluation
    from embedlab.scoring.scored_pairs import ScoredPairs
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


def common_count(scored: "ScoredPairs", by: str) -> str:
    """Return how many of all pairs are behind the numbers of a title, where they are those that all
    models score.
    """
    return (
        f", {sum(len(items.rows) for items in scored.slices(by))} of {scored.table.height} pairs"
        if scored.common
        else ""
    )


def partial_notes(states: "Sequence[DatasetState]") -> list[str]:
    """Return which data was incomplete, by how much, and which is not the published data."""
    return [
        Note(remark, short=[remark], kind="partial" if state.partial else "remark")
        for state in states
        for remark in remarks(asdict(state))
    ]


def data_notes(scored: "ScoredPairs", *, is_of_whole_datasets: bool = True) -> list[str]:
    """Return the notes on the pairs, and on the models' training data; numbers of parts of datasets
    say by themselves what they lack.
    """
    skipped = [
        f"{state.name}: {count} pairs left out, {reason}"
        for state in scored.states
        for reason, count in state.skipped.items()
    ]
    trained = [
        model_note(model.name, note) for model in scored.models for note in _of_all(model, scored)
    ]
    unscored = unscored_notes(scored) if is_of_whole_datasets else []
    return [
        *generated_note(scored.marks),
        *partial_notes(scored.states),
        *skipped,
        *_repeated(scored),
        *unscored,
        *trained,
    ]


def _repeated(scored: "ScoredPairs") -> list[str]:
    """Return how many pairs of a user's own file are there more than once, and with how many gold
    scores; of a corpus that is known.
    """
    notes: list[str] = []
    for name in (state.name for state in scored.states if state.origin == "file"):
        pairs = scored.table.filter(pl.col("dataset") == name).group_by("sentence1", "sentence2")
        found = pairs.agg(rows=pl.len(), golds=pl.col("gold").n_unique()).filter(pl.col("rows") > 1)
        if found.height:
            disputed = found.filter(pl.col("golds") > 1).height
            differ = f", {disputed} of them with different gold scores" if disputed else ""
            notes.append(
                f"{name}: {found.height} pairs are there more than once "
                f"({found['rows'].sum()} rows){differ}"
            )
    return notes


def unscored_notes(scored: "ScoredPairs") -> list[str]:
    """Return on which datasets a model that was brought has no number, because it does not score
    all of their pairs.
    """
    sizes = dict(scored.table.group_by("dataset", maintain_order=True).len().iter_rows())
    notes: list[str] = []
    for model in scored.models:
        held = scored.table.group_by("dataset").agg(
            pl.min_horizontal(pl.col(name).fill_nan(None).count() for name in model.members)
        )
        counts = {
            name: count
            for name, count in held.iter_rows()
            if count < sizes[name] and not (scored.common and count)
        }
        parts = {
            name: f"{counts[name]} of {sizes[name]} pairs" if counts[name] else "no pair"
            for name in sizes
            if name in counts
        }
        more = (
            "; `compare --common` takes the pairs that all models score"
            if any(counts.values())
            else ""
        )
        if parts:
            lacking = ", ".join(
                f"{name} ({scored_pairs} scored)" for name, scored_pairs in parts.items()
            )
            notes.append(model_note(model.name, f"no number on {lacking}{more}"))
    return notes


def _of_all(model: "ModelColumns", scored: "ScoredPairs") -> list[str]:
    """Return the notes of a model's members, without repeats."""
    return list(
        dict.fromkeys(note for member in model.members for note in scored.member_notes(member))
    )


def usage_notes(models: "Sequence[ModelColumns]", facts: "Mapping[str, Facts]") -> list[str]:
    """Return how each of MODELS was used, by the FACTS of its members."""
    return [
        note
        for model in models
        for note in usage_note(model.name, [facts[member] for member in model.members])
    ]


def usage_note(name: str, members: "Sequence[Facts]") -> list[str]:
    """Return how the MEMBERS of a model were used, once where all were used alike, and how many its
    means are over.
    """
    seeds = [f"mean of {len(members)} seeds"] if len(members) > 1 else []
    notes = [
        Note(
            f"{name}: {', '.join([usage(facts), *seeds])}",
            models=(name,),
            short=[*seeds, *unusual_usage(facts)],
            kind="usage",
        )
        for facts in members
    ]
    return list(dict.fromkeys(notes))


def model_note(name: str, note: str) -> Note:
    """Return a NOTE about one model."""
    return Note(f"{name}: {note}", models=(name,), short=phrases_of(note), kind=kind_of(note))


def slice_note(key: str, note: str) -> str:
    """Return a note on the slice called KEY."""
    return note.with_text(f"{key}: {note}") if isinstance(note, Note) else f"{key}: {note}"


def unusual_usage(facts: "Facts") -> list[str]:
    """Return the phrases that people see of how one member was used that is not the default."""
    precision, trained = (
        facts.get("precision", DEFAULT_PRECISION),
        facts.get("training_precision", DEFAULT_PRECISION),
    )
    is_usual = precision == trained == DEFAULT_PRECISION
    cut = facts.get("truncated", "0")
    return [
        *([f"precision {precision}"] if not is_usual else []),
        *([f"trained in {trained}"] if not is_usual and "training_precision" in facts else []),
        *(
            [
                f"{cut} inputs cut"
                + (f" at {facts['max_tokens']} tokens" if "max_tokens" in facts else "")
            ]
            if cut != "0"
            else []
        ),
        *_odd_texts(facts),
    ]


def usage(facts: "Facts") -> str:
    """Return how one member was used, in words."""
    used = [f"{key.replace('_', ' ')} {facts[key]}" for key in USED if key in facts]
    trained = [f"trained in {facts['training_precision']}"] if "training_precision" in facts else []
    return ", ".join(
        [
            *used,
            *trained,
            *([f"{facts['truncated']} inputs cut"] if facts.get("truncated", "0") != "0" else []),
            *_odd_texts(facts),
        ]
    )


def _odd_texts(facts: "Facts") -> tuple[str, ...]:
    from embedlab.encoders.encoder import odd_texts

    return odd_texts(int(facts.get("zero_vectors", 0)), int(facts.get("unknown_texts", 0)))


def facts_of(noted: "Evaluation | EncoderFacts", *more: str) -> "Facts":
    """Return how a member was used, from its evaluation or its encoder, including the facts
    MORE.
    """
    keys = (*USED, "training_precision", *more)
    return {key: str(value) for key in keys if (value := getattr(noted, key, None)) is not None}


def training_facts(spec: "ModelSpec") -> "Facts":
    """Return the precision that a member was trained in, if embedlab trained it."""
    from embedlab.scoring.provenance import training_precision

    precision = training_precision(spec)
    return {"training_precision": precision} if precision else {}


def model_marks(models: "Sequence[Model]") -> list[str]:
    """Return the marks of every number of MODELS: those of their training data."""
    from embedlab.scoring.provenance import training_marks

    return sorted(
        {mark for model in models for spec in model.members for mark in training_marks(spec)}
    )


def model_notes(model: "Model", members: "Sequence[PairScorer]") -> list[str]:
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
