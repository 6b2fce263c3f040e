"""`embedlab audit`: the test items that a model has read in training, and what its score owes to
them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isfinite, nan
from typing import TYPE_CHECKING, Annotated, Any

from embedlab.commands.command import command
from embedlab.commands.options import SUITES, TASKS, model_flag
from embedlab.core.errors import UsageError
from embedlab.core.session import Session
from embedlab.reports.report import Report
from embedlab.reports.tables import Column, Table, TableCell, columns_of, number

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from embedlab.data.dataset import DatasetState
    from embedlab.data.source import Source
    from embedlab.models.catalog import ModelSpec
    from embedlab.outcomes.frame import Outcomes
    from embedlab.scoring.training_text import TrainingText


STAR = 0.05
_COUNTS = ("both_read", "one_read", "nearly_read")
_EFFECTS = ("effect", "owed", "placebo")


@dataclass(frozen=True, kw_only=True)
class AuditOptions:
    """A model, the tasks whose items it may have read, and the models that it is compared with."""

    model: Annotated[str, model_flag()]
    tasks: Annotated[Sequence[str], TASKS] = ()
    suites: Annotated[Sequence[str], SUITES] = ()
    reference: Annotated[str, model_flag("A model that has not read the items.")] = "wordllama"
    placebo: Annotated[
        str,
        model_flag("A second such model: a lead over it is not due to reading."),
    ] = "dice"


@command("data runs machine output latex")
def audit(options: AuditOptions, session: Session) -> Report:
    """Find the test items that MODEL has read in training, and what its score gains from them.

    It looks up each item in the training text of runs and in the corpora that the model card
    states, as far as the data folder has them. Corpora that it lacks are unknown, not unread.

    Examples:
        $ embedlab audit minilm --data DIR
        $ embedlab audit snli-supcl --task sts15 --reference dice --placebo wordllama --json

    """
    from embedlab.comparison.comparison import Slicing
    from embedlab.evaluation import gather
    from embedlab.outcomes.frame import join_outcomes
    from embedlab.scoring.selection import select_from

    names = [options.model, options.reference, options.placebo]
    if len({*names}) < len(names):
        roles = {"reference": options.reference, "placebo": options.placebo}
        defaults = " and ".join(
            f"the {role} is {name} by default"
            for role, name in roles.items()
            if name == AuditOptions.__dataclass_fields__[role].default
        )
        raise UsageError(
            f"{', '.join(names)}: the model, the reference and the placebo are three models"
            f"{f' ({defaults})' * bool(defaults)}",
            hint="name others with --reference and --placebo",
        )
    selected_tasks = select_from(options.suites, options.tasks, session.settings.data)
    gathered = gather(names, selected_tasks, session, slicing=Slicing(), setting="literature")
    members = {model.name: [*model.members] for model in gathered.models}
    outcomes = join_outcomes(gathered.outcomes)
    return audit_report(options, outcomes, members, gathered.marks, gathered.states, session)


def audit_report(
    options: AuditOptions,
    outcomes: Outcomes,
    members: dict[str, list[str]],
    marks: set[str],
    states: Sequence[DatasetState],
    session: Session,
) -> Report:
    """Return the audit on OUTCOMES, which have the columns MEMBERS of each model."""
    import polars as pl

    from embedlab.analysis.seed_tests import holm
    from embedlab.data.source import Source
    from embedlab.evaluation import resolve_models
    from embedlab.reports.notes import generated_note, partial_notes, with_marks
    from embedlab.scoring.training_text import foreign_models, total_text

    (model,) = resolve_models([options.model], session, has_tasks=True)
    text = total_text(model.members, session.settings)
    with session.progress("looking up test sentences in training text"):
        read_counts, is_near = _read_sentences(
            outcomes, text, Source.from_settings(session.settings)
        )
    rows = list(_rows(options, outcomes, members, read_counts, is_near))
    items = len(read_counts)
    heading = (
        f"{options.model} is known to have read a sentence of {(read_counts > 0).sum():,} of "
        f"{items:,} test items"
    )
    if text.text is None and any(any(foreign_models(spec)) for spec in model.members):
        for row in rows:  # not known is not none
            row |= dict.fromkeys(_COUNTS, nan)
        heading = (
            f"what {options.model} has read is not known: none of {items:,} items is looked up"
        )
    for title in ("effect", "placebo"):
        p_values = holm([row.get(f"{title}_p", nan) for row in rows])
        for row, corrected in zip(rows, p_values, strict=True):
            row[f"{title}_p_corrected"] = corrected
    columns = (
        *columns_of(
            "dataset [key]",
            "items",
            "both_read = both read",
            "one_read = one read",
            "nearly_read = nearly",
            "effect = effect on a read item [difference]",
            "owed = the score owes [difference]",
        ),
        Column("placebo", f"placebo ({options.placebo})", "difference"),
    )
    correction = f", Holm over {len(rows)} datasets" * (len(rows) > 1)
    notes = [
        *_statement(text, model.members),
        f"effect: by how much more {options.model} leads {options.reference} on items that it has "
        f"read than on others of the same source, gold, word overlap and length, in points of "
        f"Spearman x 100 an item; * differs from 0 (5%{correction})",
        f"placebo: the same for {options.placebo}, which did not read them as far as is known: "
        f"where it has a * too, the items differ in more than having been read",
        "nearly: one word apart from a read sentence; these items are in neither group",
        *generated_note(sorted(marks)),
        *partial_notes(states),
    ]
    rows = [*map(_with_known, rows)]
    printed_rows = [row | {key: _cell(row, key) for key in _EFFECTS} for row in rows]
    frame = pl.DataFrame(rows, infer_schema_length=None)
    return Report.of(Table(with_marks(heading, sorted(marks)), columns, printed_rows, notes, frame))


def _statement(text: TrainingText, spec: Sequence[ModelSpec]) -> list[str]:
    """Return what there is to say of the text that is known, what is not known last."""
    from embedlab.data.stated_corpora import card_corpora
    from embedlab.scoring.training_text import foreign_models, lineage, published_folder

    lines = []
    if any(any(lineage(member)) for member in spec):
        lines += ["the training text of its runs was looked up", *map(str, text.notes)]
    if text.counted_corpora:
        lines.append(
            f"looked up, of the corpora that its card names: {', '.join(text.counted_corpora)}"
        )
    if text.absent:
        lines.append(
            f"not here, and so unknown: {len(text.absent)} of the {len(text.corpora)} corpora that "
            f"its card names ({', '.join(text.absent)})"
        )
    published = [model for member in spec for model in foreign_models(member)]
    folders = [published_folder(model) for model in published]
    if any(folder is None or not card_corpora(folder) for folder in folders):
        lines.append("its card does not say everything that it read: it may have read more items")
    return lines


def _read_sentences(
    outcomes: Outcomes, text: TrainingText, source: Source
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return how many sentences of each item were read, as case-folded words, and which items have
    a sentence that was not but nearly was; (rows,) each.
    """
    import numpy as np
    import polars as pl

    from embedlab.data.overlaps import KnownText
    from embedlab.data.stated_corpora import nearly_known, stated_sentences

    columns = outcomes.sentences.select(
        first=pl.col("sentence1").fill_null(""),
        second=pl.coalesce("sentence2", "sentence1").fill_null(""),
    ).get_columns()
    sentences = pl.DataFrame({"sentence1": pl.concat(columns).unique().sort()})
    is_read = (text.text or KnownText.of([])).has_any(sentences, ["sentence1"])
    read, unread = (sentences["sentence1"].filter(flags) for flags in (is_read, ~is_read))
    is_near = nearly_known(unread.to_list(), stated_sentences(text.corpora, source))
    near = unread.filter(is_near)
    counts = np.sum([column.is_in(read.implode()) for column in columns], axis=0)
    is_near_one = np.any([column.is_in(near.implode()) for column in columns], axis=0)
    return counts, is_near_one & (counts == 0)


def _rows(
    options: AuditOptions,
    outcomes: Outcomes,
    members: dict[str, list[str]],
    read_counts: NDArray[np.int64],
    is_near: NDArray[np.bool_],
) -> Iterator[dict[str, Any]]:
    """Yield the counts of each dataset, and where all three models score its pairs, what the model
    and the placebo gain; what is not known is no number.
    """
    import numpy as np
    import polars as pl

    from embedlab.analysis.near_duplicates import NearDuplicates
    from embedlab.analysis.reading_effect import reading_effect
    from embedlab.analysis.topics import topics_of_texts
    from embedlab.outcomes.frame import text_numbers
    from embedlab.outcomes.property import property_named

    texts = text_numbers(outcomes)
    dice, length = (
        property_named(name).values(outcomes).cast(pl.Float64).to_numpy()
        for name in ("dice", "length")
    )
    covariates = np.stack([dice, np.log(length + 1)], axis=1)
    names = [options.model, options.reference, options.placebo]
    predictions = {name: outcomes.predictions.select(members[name]).to_numpy() for name in names}
    is_scored = ~np.isnan(np.concatenate([*predictions.values()], axis=1)).any(axis=1)
    for index, block in enumerate(outcomes.blocks):
        rows = outcomes.rows_of(index)
        counts = read_counts[rows]
        row = {
            "dataset": block.dataset,
            "items": len(rows),
            "both_read": int((counts == 2).sum()),
            "one_read": int((counts == 1).sum()),
            "nearly_read": int(is_near[rows].sum()),
        }
        kept_rows = rows[is_scored[rows] & ~is_near[rows]]
        if block.measures[0] == "spearman" and not block.classes and len(kept_rows):
            sources = outcomes.rows["source"].gather(kept_rows).fill_null("").rank("dense")
            near = block.near() if block.near is not None else NearDuplicates.none()
            topics = topics_of_texts(texts[rows], near)  # of this dataset alone
            effects = {}
            for title, leader in (("effect", options.model), ("placebo", options.placebo)):
                effects[title] = reading_effect(
                    outcomes.rows["gold"].gather(kept_rows).to_numpy(),
                    predictions[leader][kept_rows].T,
                    predictions[options.reference][kept_rows].T,
                    read_counts[kept_rows] > 0,
                    topics=topics[np.searchsorted(rows, kept_rows)],
                    sources=(sources.to_numpy() - 1).astype(np.intp),
                    covariates=covariates[kept_rows],
                )
                effect = effects[title]
                row |= _interval(title, effect.effect, effect.low, effect.high)
                row[f"{title}_p"] = effect.p
            effect = effects["effect"]
            row |= {"compared_read": effect.read_items, "compared_unread": effect.unread_items}
            row |= _interval("owed", *effect.effect_on_score(len(rows)))
        yield row


def _interval(title: str, value: float, low: float, high: float) -> dict[str, float]:
    return {title: value, f"{title}_low": low, f"{title}_high": high}


def _with_known(row: dict[str, Any]) -> dict[str, Any]:
    return {
        key: value if isinstance(value, str) or isfinite(value) else None
        for key, value in row.items()
    }


def _cell(row: dict[str, Any], key: str) -> TableCell:
    corrected = row.get(f"{key}_p_corrected")
    star = "*" if corrected is not None and corrected < STAR else ""
    interval: dict[str, Any] = {end: row.get(f"{key}_{end}") for end in ("low", "high")}
    return number(row.get(key), digits=1, is_signed=True, sign=star, **interval)
