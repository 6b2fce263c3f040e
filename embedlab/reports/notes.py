"""What tables, pages and papers say of their numbers: the notes below a table, on the data, on the
models' training data and on how each model was used; and captions, on measures and units, on how
many items, and what intervals and marks mean.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from math import isnan
from typing import TYPE_CHECKING, Literal

from embedlab.analysis.comparison import ComparedSlice, reach_checkpoints
from embedlab.analysis.seed_notes import HANGS
from embedlab.choices import TableScale
from embedlab.core.note import Note, kind_of, phrases_of
from embedlab.core.printable import MODELS, PAIRS_SHARED, SENTENCES_SHARED, count_text
from embedlab.data.marks import GENERATED, GENERATED_NOTE, PARTIAL, UNKNOWN_TEXT
from embedlab.data.published import state_remarks
from embedlab.outcomes.frame import DATASET, is_expression
from embedlab.scoring.provenance import SHORTENED, overlap_sign, training_notes
from embedlab.tasks.task import scale_of

if TYPE_CHECKING:
    from embedlab.analysis.evidence import ModelColumns
    from embedlab.analysis.power import Detectable
    from embedlab.data.dataset import DatasetState
    from embedlab.data.marks import Overlap
    from embedlab.encoders.encoder import EncoderFacts, PairScorer
    from embedlab.models.catalog import Model, ModelSpec
    from embedlab.runs.evaluations import Evaluation
    from embedlab.scoring.task_comparison import Facts, TaskComparison

USED = ("pooling", "max_tokens", "precision")
DEFAULT_PRECISION = "float32"


def with_marks(title: str, marks: Sequence[str]) -> str:
    """Return a title with the marks of all the numbers below it."""
    return " ".join([title, *(f"[{mark}]" for mark in marks)])


def generated_note(marks: Sequence[str]) -> list[str]:
    """Return what the mark of generated data means, if it is among MARKS."""
    note = Note(GENERATED_NOTE, short_texts=[GENERATED_NOTE], kind="generated")
    return [note] if "generated" in marks else []


def partial_notes(states: Sequence[DatasetState]) -> list[str]:
    """Return which data was incomplete, by how much, and which is not the published data."""
    return [
        Note(remark, short_texts=[remark], kind="partial" if state.partial else "remark")
        for state in states
        for remark in state_remarks(asdict(state))
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
    for full_text, short_texts in map(usage_phrases, members):
        text = f"{name}: {', '.join([full_text, *seeds])}"
        notes[text] = Note(text, models=(name,), short_texts=[*seeds, *short_texts], kind="usage")
    return list(notes.values())


def model_note(name: str, note: str) -> Note:
    """Return a NOTE about one model."""
    return Note(f"{name}: {note}", models=(name,), short_texts=phrases_of(note), kind=kind_of(note))


def slice_notes(slices: Iterable[ComparedSlice]) -> list[str]:
    """Return the notes on SLICES, each after the name of its slice; several measures of the same
    items share a note.
    """
    note_by_key: dict[tuple[str, str, str], str] = {}
    for row in slices:
        for note in row.notes:
            text = f"{row.key}: {note}"
            named_note = note.with_text(text) if isinstance(note, Note) else text
            note_by_key.setdefault((row.task, row.slice_key, note), named_note)
    return [*note_by_key.values()]


def usage_phrases(facts: Facts) -> tuple[str, list[str]]:
    """Return how one member was used, in words, and the phrases on what is not the default, which
    people see.
    """
    from embedlab.encoders.encoder import odd_texts

    usual_facts = [f"{key.replace('_', ' ')} {facts[key]}" for key in USED if key in facts]
    precision = facts.get("precision", DEFAULT_PRECISION)
    trained = facts.get("training_precision")
    is_usual = precision == (trained or DEFAULT_PRECISION) == DEFAULT_PRECISION
    addenda = [f"trained in {trained}"] if trained else []
    unusual = [] if is_usual else [f"precision {precision}", *addenda]
    if cut_count := int(facts.get("truncated", 0)):
        addenda.append(count_text(cut_count, "inputs cut"))
        limit_note = f" at {facts['max_tokens']} tokens" if "max_tokens" in facts else ""
        unusual.append(count_text(cut_count, f"inputs cut{limit_note}"))
    odd_notes = odd_texts(int(facts.get("zero_vectors", 0)), int(facts.get("unknown_texts", 0)))
    return ", ".join([*usual_facts, *addenda, *odd_notes]), [*unusual, *odd_notes]


def usage_facts(source: Evaluation | EncoderFacts, *more_keys: str) -> Facts:
    """Return how a member was used, from its evaluation or its encoder, including the facts
    MORE.
    """
    keys = (*USED, "training_precision", *more_keys)
    return {key: str(value) for key in keys if (value := getattr(source, key, None)) is not None}


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
    facts_of_members = [
        {**usage_facts(member.facts, *TEXT_COUNTS), **training_facts(spec)}
        for spec, member in zip(model.members, members, strict=True)
    ]
    return [*trained, *usage_note(model.name, facts_of_members)]


DEPENDENCE = "items of one topic count as dependent"
_LISTED = 8  # of more slices the numbers of items are said as a range
_DATA = {
    GENERATED: "Generated data: no number is about real language.",
    PARTIAL: "Partial: some of the data is incomplete.",
    SHORTENED: "Shortened: the models were not trained to the end.",
    UNKNOWN_TEXT: "What some of the models were trained on is unknown.",
}

Scales = Mapping[str, TableScale]
"""What tables multiply the numbers of each measure by, in the order of the measures."""


def scales_of(slices: Iterable[ComparedSlice | Detectable]) -> Scales:
    """Return the scales of the measures of SLICES."""
    return {row.metric: scale_of(row.task, row.metric) for row in slices}


def share_slices(slices: Iterable[ComparedSlice]) -> list[ComparedSlice]:
    """Return the slices whose numbers are shares: those that plots show."""
    return [row for row in slices if scale_of(row.task, row.metric) == 100]


def unit_text(scales: Scales) -> str:
    """Return " x 100" where all numbers are shares; else nothing, as no unit holds for all."""
    return " x 100" if {*scales.values()} == {100} else ""


def is_mixed(scales: Scales) -> bool:
    """Return whether some numbers are shares and others are not."""
    return len({*scales.values()}) > 1


def measures_in(scales: Scales) -> str:
    """Return the names of the measures, with x 100 after each that is a share, or once after all if
    all are.
    """
    names = [
        f"{'Spearman' if name == 'spearman' else name}{' x 100' * (is_mixed(scales) and scale == 100)}"
        for name, scale in scales.items()
    ]
    listed = " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))
    return f"{listed}{unit_text(scales)}"


def join_sentences(*sentences: str) -> str:
    """Return the SENTENCES that there are as one text."""
    return " ".join(filter(None, sentences))


def comparison_caption(
    comparison: TaskComparison, shown: Literal["differences", "scores", "own intervals"]
) -> str:
    """Return the caption of a table of scores: with their differences, without them, or with the
    intervals of each score, where no model is compared with another.
    """
    interval_sentences: Iterable[str]
    if shown == "own intervals":
        interval_sentences = [
            f"Brackets: 95% intervals over {_over(comparison)}."
        ] * _has_intervals(comparison)
    else:
        is_shown = shown == "differences" and len(comparison.models) > 1
        interval_sentences = _signs(comparison, shows_differences=is_shown)
    return table_caption(
        subject_text(comparison),
        *interval_sentences,
        marks=comparison.marks,
        is_ranked=len(comparison.models) > 1 and 100 in scales_of(comparison.slices).values(),
        seen=[overlap for counts in comparison.counts.values() for overlap in counts.values()],
        seeds=[len(model.members) for model in _trained(comparison)],
        last=_single_seeds(comparison),
    )


def table_caption(
    subject: str,
    *interval_sentences: str,
    marks: Sequence[str],
    is_ranked: bool,
    seen: Iterable[Overlap | None],
    seeds: Iterable[int],
    last: str = "",
) -> str:
    """Return the caption of a table of scores: its SUBJECT, its INTERVAL_SENTENCES, what the MARKS
    of all mean, the text that was SEEN, the SEEDS of each model.

    IS_RANKED: the highest of the models is bold.
    """
    seed_counts = " or ".join(map(str, sorted({count for count in seeds if count > 1})))
    spread = f"±: standard deviation over {seed_counts} seeds." if seed_counts else ""
    bold = "Bold: the highest of the models." * is_ranked
    return join_sentences(
        subject,
        *data_sentences(marks),
        *interval_sentences,
        bold,
        *seen_sentences(seen),
        spread,
        last,
    )


def figure_caption(comparison: TaskComparison, shown: str, *, drawn: str = "Bars") -> str:
    """Return the caption of a figure that SHOWS scores or differences, with their intervals DRAWN
    as bars or bands.
    """
    intervals = f"{drawn}: 95% intervals, each on its own, over {_over(comparison)}."
    shares = replace(comparison, slices=share_slices(comparison.slices))
    pairs, sentences = [], []
    for name, counts in comparison.counts.items():
        if any(overlap.shared_pairs for overlap in counts.values()):
            pairs.append(comparison.titles[name])
        elif any(counts.values()):
            sentences.append(comparison.titles[name])
    return join_sentences(
        f"{shown}: {subject_text(shares)}",
        *data_sentences(comparison.marks),
        intervals * _has_intervals(comparison),
        *trained_on(pairs, sentences),
        _single_seeds(comparison),
    )


def trained_on(pairs: Sequence[str], sentences: Sequence[str]) -> Iterator[str]:
    """Yield whose training data holds test PAIRS, or single test SENTENCES: a figure has no
    marks.
    """
    for unit, models in (("pairs", pairs), ("sentences", sentences)):
        if models:
            yield f"Test {unit} are in the training data of {', '.join(models)}."


def subject_text(comparison: TaskComparison) -> str:
    """Return what the scores are and of how many items, as a sentence."""
    measures = measures_in(scales_of(comparison.slices)).replace(" x 100", " × 100")
    property_name, condition = comparison.slicing.by, comparison.slicing.where
    property_note = ""
    if is_expression(property_name):
        property_note = f" by whether {property_name!r} holds"
    elif property_name != DATASET:
        property_note = f" by {property_name}"
    picked = f", items that match {condition!r}" if condition else ""
    subject = f"{measures}{property_note}{picked}"
    return f"{subject[:1].upper()}{subject[1:]}; {items_text(comparison)}."


def items_text(comparison: TaskComparison) -> str:
    """Return how many items each slice of a comparison has."""
    slices = [row for row in comparison.slices if not row.averaged_keys]
    common = ", those that all models score" if comparison.rows is not None else ""
    return f"{counted_items({item_row.slice_title: item_row.items for item_row in slices})}{common}"


def counted_items(counts: Mapping[str, int]) -> str:
    """Return how many items each slice has."""
    if not counts:
        return "averages"
    fewest, most = min(counts.values()), max(counts.values())
    if len(counts) == 1:
        return f"n = {most:,} items of {next(iter(counts))}"
    if fewest == most:
        return f"n = {most:,} items in each of {len(counts)}"
    if len(counts) <= _LISTED:
        return f"n = {', '.join(f'{count:,} ({name})' for name, count in counts.items())} items"
    return f"n = {fewest:,} to {most:,} items in each of {len(counts)}"


def data_sentences(marks: Sequence[str]) -> Iterator[str]:
    """Yield what the marks of all numbers mean for a reader."""
    return (text for mark, text in _DATA.items() if mark in marks)


def _has_intervals(comparison: TaskComparison) -> bool:
    scores = [score for row in comparison.slices for score in row.scores.values()]
    return any(not isnan(score.low) for score in scores)


def _over(comparison: TaskComparison) -> str:
    has_seeds = any(len(model.members) > 1 for model in comparison.models)
    return f"items{' and seeds' * has_seeds}; {DEPENDENCE}"


def _signs(comparison: TaskComparison, *, shows_differences: bool) -> Iterator[str]:
    """Yield what the brackets are, or how wide intervals are that have no place in the cells; then
    what letters and stars mean, and the family of the correction.
    """
    slices, over_note = comparison.slices, f"over {_over(comparison)}"
    widths = [
        scale_of(compared_slice.task, compared_slice.metric) * (score.high - score.low) / 2
        for compared_slice in slices
        for score in compared_slice.scores.values()
        if not isnan(score.low)
    ]
    if widths and shows_differences:
        reference, *_ = comparison.titles.values()
        yield f"Brackets: 95% intervals of each difference from {reference}, {over_note}."
    elif widths:
        half_widths = dict.fromkeys(f"±{width:z.1f}" for width in (min(widths), max(widths)))
        yield f"95% intervals {over_note}: {' to '.join(half_widths)}."
    tests = sum(compared_slice.tests for compared_slice in slices)
    if not tests:
        return
    if shows_differences:
        family = f" after Holm's correction over all {tests}" if tests > 1 else ""
        yield f"{MODELS.sign} marks a difference that is not zero at the 5% level{family}."
    if any(score.letters for row in slices for score in row.scores.values()):
        yield "Models that share a letter are not distinguished, corrected over each two models."
    if reach_checkpoints(slices):
        yield "With one run each, differences are about these checkpoints, not their recipes."
    if not shows_differences:
        return
    if any(row.topic for compared_slice in slices for row in compared_slice.differences.values()):
        yield f"{HANGS}: one topic decides the difference."
    if (margin := comparison.slicing.margin) is not None:
        margin_text = f"{100 * margin:g}"
        yield f"= marks a difference smaller than ±{margin_text} (two one-sided tests, Holm)."


def _trained(comparison: TaskComparison) -> list[ModelColumns]:
    return [model for model in comparison.models if model.seeds or any(model.runs)]


def _single_seeds(comparison: TaskComparison) -> str:
    trained = [model.name for model in _trained(comparison) if len(model.members) == 1]
    sentence = "One seed, so that intervals are about the checkpoint, not the recipe"
    names = ", ".join(comparison.titles[name] for name in trained)
    return f"{sentence}: {names}." if names else ""


def seen_sentences(overlaps: Iterable[Overlap | None]) -> Iterator[str]:
    """Yield what the marks of text that a model was trained on mean."""
    signs = {overlap_sign(overlap) for overlap in overlaps}
    if PAIRS_SHARED.sign in signs:
        yield f"{PAIRS_SHARED.sign}: test pairs are in the training data."
    if SENTENCES_SHARED.sign in signs:
        yield f"{SENTENCES_SHARED.sign}: that share of the test sentences is in the training data."
