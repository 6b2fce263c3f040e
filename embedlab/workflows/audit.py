"""Which test items a model has read in training, and what its score owes to them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isnan
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from embedlab.analysis.reading_effect import ReadingEffect, reading_effect
from embedlab.analysis.seed_tests import holm
from embedlab.comparison.topics import item_topics
from embedlab.core.errors import UsageError
from embedlab.core.settings import Settings
from embedlab.data.overlaps import KnownText
from embedlab.data.source import Source
from embedlab.data.stated_corpora import (
    StatedCorpus,
    card_corpora,
    known_text,
    nearly_known,
    open_stated,
)
from embedlab.models.catalog import ModelSpec
from embedlab.models.hub import downloaded_folder
from embedlab.outcomes.frame import Outcomes, joined_outcomes
from embedlab.outcomes.property import property_named
from embedlab.reports.notes import generated_note, partial_notes, with_marks
from embedlab.reports.tables import Column, Table, TableCell, Value
from embedlab.runs.outcomes import SENTENCES
from embedlab.scoring.selection import select_from
from embedlab.scoring.task_comparison import Slicing
from embedlab.scoring.training_text import lineage, starting_models, training_text
from embedlab.workflows.compare_tasks import gather
from embedlab.workflows.models import resolve_models
from embedlab.workflows.options.audit import AuditOptions
from embedlab.workflows.report import Report
from embedlab.workflows.session import Session

Flags = NDArray[np.bool_]
STAR = 0.05
_EFFECTS = ("effect", "owed", "placebo")


@dataclass(frozen=True, kw_only=True)
class ReadText:
    """What is known of the text that a model has read."""

    corpora: tuple[StatedCorpus, ...]  # as model cards state them
    runs: KnownText | None  # what runs of embedlab were trained on
    is_stated: bool  # whether every model without a run states what it read

    @property
    def known(self) -> KnownText:
        """All text that is at hand."""
        known = known_text(self.corpora)
        return known if self.runs is None else known | self.runs

    @property
    def sentences(self) -> list[str]:
        """What there is to say, what is not known last."""
        at_hand = [corpus.title for corpus in self.corpora if corpus.is_at_hand]
        absent = [corpus.name for corpus in self.corpora if not corpus.is_at_hand]
        lines = []
        if self.runs is not None:
            lines.append("the training text of its runs is counted")
        if at_hand:
            lines.append(f"counted of what its card states: {', '.join(at_hand)}")
        if absent:
            lines.append(
                f"not at hand, so that nothing is known of it: {len(absent)} of the "
                f"{len(self.corpora)} corpora that its card states ({', '.join(absent)})"
            )
        if not self.is_stated:
            lines.append("what it read is not stated, or not in full: more items may be read")
        return lines


def audit_report(options: AuditOptions, session: Session) -> Report:
    """Count what the model has read of the selected tasks, and compare its lead over the reference
    on read and other items.
    """
    names = [options.model, options.reference, options.placebo]
    if len({*names}) < len(names):
        raise UsageError(
            f"{', '.join(names)}: the model, the reference and the placebo are three models",
            hint="name others with --reference and --placebo",
        )
    selected = select_from(options.suites, options.tasks, session.settings.data)
    (model,) = resolve_models([options.model], session)
    text = read_text(model.members, session.settings)
    gathered = gather(names, selected, session, slicing=Slicing(), setting="literature")
    outcomes = joined_outcomes(gathered.outcomes)
    with session.progress("looking for read sentences"):
        read, near = read_items(outcomes, text)
    members = {each.name: [*each.members] for each in gathered.models}
    rows = list(_rows(outcomes, names, members, read, near))
    return _report(options, rows, text, gathered.marks, gathered.states)


def read_text(specs: Sequence[ModelSpec], settings: Settings) -> ReadText:
    """Return what is known of the text that the member models SPECS have read."""
    source = Source.from_settings(settings)
    starts = [start for spec in specs for run in lineage(spec) for start in starting_models(run)]
    runs: KnownText | None = None
    stated: dict[str, None] = {}
    is_stated = True
    for spec in dict.fromkeys([*specs, *starts]):
        text = training_text(spec, settings).text
        runs = text if runs is None else runs if text is None else runs | text
        corpora = _card_of(spec)
        stated |= dict.fromkeys(corpora or ())
        is_stated &= corpora is not None or text is not None or spec.counts_words
    return ReadText(corpora=tuple(open_stated([*stated], source)), runs=runs, is_stated=is_stated)


def _card_of(spec: ModelSpec) -> tuple[str, ...] | None:
    if spec.parts or spec.counts_words:
        return None
    folder = Path(spec.location)
    if not folder.is_dir():
        found = downloaded_folder(spec.location, spec.revision) if spec.is_on_hub else None
        if found is None:
            return None
        folder = found
    return card_corpora(folder)


def read_items(outcomes: Outcomes, text: ReadText) -> tuple[NDArray[np.int64], Flags]:
    """Return how many sentences of each item were read, as case-folded words, and which items have
    a sentence that was not but nearly was; (rows,) each.
    """
    known, sides = text.known, outcomes.sentences.select(SENTENCES)
    second = sides["sentence2"].zip_with(sides["sentence2"].is_not_null(), sides["sentence1"])
    columns = [sides["sentence1"].fill_null(""), second.fill_null("")]
    has = [known.has_any(pl.DataFrame({"sentence1": column}), ["sentence1"]) for column in columns]
    count = np.sum(has, axis=0)
    unread = sorted({*pl.concat(columns).filter(~pl.Series(np.concatenate(has))).to_list()})
    is_near = dict(zip(unread, nearly_known(unread, text.corpora).tolist(), strict=True))
    near = np.any(
        [[is_near.get(sentence, False) for sentence in column] for column in columns], axis=0
    )
    return count, near & (count == 0)


def _rows(
    outcomes: Outcomes,
    names: Sequence[str],
    members: dict[str, list[str]],
    read: NDArray[np.int64],
    near: Flags,
) -> Iterator[dict[str, Value]]:
    topics = item_topics(outcomes)
    dice, length = (property_named(name).values(outcomes) for name in ("dice", "length"))
    model, reference, placebo = names
    for index, block in enumerate(outcomes.blocks):
        rows = outcomes.rows_of(index)
        row: dict[str, Value] = {
            "dataset": block.dataset,
            "items": len(rows),
            "both_read": int((read[rows] == 2).sum()),
            "one_read": int((read[rows] == 1).sum()),
            "nearly_read": int(near[rows].sum()),
        }
        effects = {}
        if block.measures[0] == "spearman" and not block.classes:
            used = rows[~near[rows]]
            facts = [column.gather(used).cast(pl.Float64).to_numpy() for column in (dice, length)]
            columns = {
                name: outcomes.predictions.select(members[name])[used].to_numpy().T
                for name in names
            }
            has_all = np.all([~np.isnan(each).any(axis=0) for each in columns.values()], axis=0)
            for title, (ahead, behind) in {
                "effect": (model, reference),
                "placebo": (placebo, reference),
            }.items():
                effects[title] = reading_effect(
                    outcomes.rows["gold"].gather(used).to_numpy()[has_all],
                    columns[ahead][:, has_all],
                    columns[behind][:, has_all],
                    (read[used] > 0)[has_all],
                    topics=topics[used][has_all],
                    sources=_numbers(outcomes.rows["source"].gather(used))[has_all],
                    covariates=np.stack([facts[0], np.log(facts[1] + 1)], axis=1)[has_all],
                )
        yield {**row, **_effect_values(effects, len(rows))}


def _numbers(source: pl.Series) -> NDArray[np.intp]:
    numbers = source.fill_null("").rank("dense").to_numpy() - 1
    return numbers.astype(np.intp)


def _effect_values(effects: dict[str, ReadingEffect], items: int) -> dict[str, Value]:
    values: dict[str, Value] = {}
    for title, effect in effects.items():
        parts = {"": effect.effect, "_low": effect.low, "_high": effect.high, "_p": effect.p}
        values |= {f"{title}{end}": _finite(value) for end, value in parts.items()}
    if (found := effects.get("effect")) is not None:
        values["compared_read"], values["compared_unread"] = found.read, found.unread
        for end, value in zip(("", "_low", "_high"), found.owed(items), strict=True):
            values[f"owed{end}"] = _finite(value)
    return values


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _report(
    options: AuditOptions,
    rows: list[dict[str, Value]],
    text: ReadText,
    marks: set[str],
    states: Sequence[object],
) -> Report:
    for title in ("effect", "placebo"):
        p = [
            float(value) if (value := row.get(f"{title}_p")) is not None else float("nan")
            for row in rows
        ]
        for row, corrected in zip(rows, holm(p), strict=True):
            row[f"{title}_p_corrected"] = None if isnan(corrected) else corrected
    frame = pl.DataFrame(rows, infer_schema_length=None)
    shown = [{**row, **{key: _cell(row, key) for key in _EFFECTS}} for row in rows]
    columns = (
        Column(key="dataset", title="dataset", role="key"),
        Column(key="items", title="items"),
        Column(key="both_read", title="both read"),
        Column(key="one_read", title="one read"),
        Column(key="nearly_read", title="nearly"),
        Column(key="effect", title="effect on a read item", role="difference"),
        Column(key="owed", title="the score owes", role="difference"),
        Column(key="placebo", title=f"placebo ({options.placebo})", role="difference"),
    )
    total = sum(int(row["both_read"] or 0) + int(row["one_read"] or 0) for row in rows)
    items = sum(int(row["items"] or 0) for row in rows)
    answer = f"{options.model} has read a sentence of {total:,} of {items:,} test items"
    notes = [
        *text.sentences,
        f"effect: by how much more {options.model} leads {options.reference} on items that it has "
        f"read than on others of the same source, gold, word overlap and length, in points of "
        f"Spearman x 100 an item; * differs from 0 (5%, Holm over {len(rows)} datasets)",
        f"placebo: the same for {options.placebo}, which did not read them as far as is known: "
        f"where it has a * too, the items differ in more than having been read",
        "nearly: one word apart from a read sentence; these items are in neither group",
        *generated_note(sorted(marks)),
        *partial_notes(states),  # type: ignore[arg-type]
    ]
    table = Table(
        title=with_marks(answer, sorted(marks)),
        columns=columns,
        rows=shown,
        frame=frame,
        notes=tuple(notes),
        keys=tuple(frame.columns),
    )
    return Report(frame=frame, tables=(table,), notes=tuple(notes))


def _cell(row: dict[str, Value], key: str) -> TableCell:
    value, low, high = (row.get(f"{key}{end}") for end in ("", "_low", "_high"))
    if value is None:
        return TableCell(value=None, text="–")
    corrected = row.get(f"{key}_p_corrected")
    star = "*" if corrected is not None and float(corrected) < STAR else ""
    interval = f" [{low:+.1f}, {high:+.1f}]" if low is not None and high is not None else ""
    return TableCell(value=value, text=f"{value:+.1f}{interval}{star}")
