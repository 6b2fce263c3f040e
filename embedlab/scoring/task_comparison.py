"""Models compared on tasks of any kind: what is known of their items is gathered, sliced and
compared, with marks, notes and signatures.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from math import isnan
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import xxhash

from embedlab.analysis.evidence import Evidence, ModelColumns, member_columns
from embedlab.analysis.uncertainty import METHOD
from embedlab.comparison.comparison import Comparison, Slicing, compare_slices
from embedlab.comparison.evidence import outcome_evidence, slices_of
from embedlab.data.marks import total_overlap, what_is_shared
from embedlab.models.grammar import titles_of
from embedlab.models.published import is_packaged
from embedlab.outcomes.frame import DATASET, ItemSlice, Outcomes, is_expression, join_outcomes
from embedlab.outcomes.stored import join_members
from embedlab.runs.signature import HASH_DIGITS, Signature, merged
from embedlab.runs.store import RunFolder
from embedlab.scoring.provenance import COMMON, overlap_sign
from embedlab.scoring.training_text import keyed_items

if TYPE_CHECKING:
    from embedlab.analysis.comparison import ComparedSlice
    from embedlab.core.session import ProgressCallback
    from embedlab.data.dataset import DatasetState
    from embedlab.data.marks import Overlap
    from embedlab.data.overlaps import KnownText
    from embedlab.models.catalog import Model, ModelSpec
    from embedlab.outcomes.selection import ItemSelection
    from embedlab.scoring.selection import SelectedTask
    from embedlab.tasks.task import TaskResult


def trained_column(keys: pl.DataFrame, texts: Mapping[str, KnownText]) -> pl.Series:
    """Return the models that were trained on each item († the pair, ‡ a sentence of it), null for
    none; KEYS are the hashes of the items' sentences, TEXTS what each model was trained on.
    """
    trained = pl.Series("trained", [None], dtype=pl.String).new_from_index(0, keys.height)
    if not texts:
        return trained
    has_text = keys.select(pl.all_horizontal(pl.all().is_not_null())).to_series()
    known_keys = keys.filter(has_text)
    models_of_row: list[list[str]] = [[] for _ in range(known_keys.height)]
    for name, text in texts.items():
        for models, overlap in zip(models_of_row, text.row_overlaps(known_keys), strict=True):
            if sign := overlap_sign(overlap):
                models.append(f"{sign}{name}")
    names = pl.Series([", ".join(models) or None for models in models_of_row], dtype=pl.String)
    return trained.scatter(has_text.arg_true(), names)


# pooling, max_tokens, precision, training_precision, truncated: those that apply to a member
Facts = Mapping[str, str]
TEST = "dyadic"  # what signatures and frames call the test of every difference


@dataclass(frozen=True, kw_only=True)
class TaskComparison(Comparison):
    """The rows of all tasks and averages, in order, with what is known of their numbers."""

    # compared of all, where they are those that all models score
    rows: tuple[int, int] | None = None
    shared: Mapping[str, Mapping[str, Overlap]]  # by model, then by row
    counts: Mapping[str, Mapping[str, Overlap]]  # by model, then by slice, without averages
    facts: Mapping[str, Facts]  # by member, for members that were evaluated on a task
    model_marks: Mapping[str, Collection[str]]  # by model
    notes: tuple[str, ...]
    # datasets without a row, and why; or that a selection leaves out no item
    left_out: tuple[str, ...] = ()
    signatures: Mapping[str, str]  # by model
    states: Sequence[DatasetState]  # of the data that was read
    is_whole: bool  # nothing was missing

    @property
    def marks(self) -> list[str]:
        """The marks of any model's numbers."""
        return sorted({*chain(*self.model_marks.values())})

    @property
    def titles(self) -> dict[str, str]:
        """The models as tables call them, by name."""
        return titles_of(self.names)


@dataclass(kw_only=True)
class ModelProvenance:
    """What is known of a model on some tasks, beside its numbers."""

    text: KnownText | None = None  # that it was trained on; None where it is unknown
    lack: str = ""  # what of that text is not here to be looked up
    marks: set[str] = field(default_factory=set)  # of its numbers
    # that its items share with that text, by dataset
    overlaps: dict[str, Overlap] = field(default_factory=dict)
    signatures: list[Signature] = field(default_factory=list)  # one a member and task


@dataclass(kw_only=True)
class ComparisonInput:
    """What models are and predict on some tasks, before it is sliced and compared."""

    models: Sequence[ModelColumns]
    order: Sequence[str]  # of the tasks
    outcomes: list[Outcomes] = field(default_factory=list)
    figures: list[Evidence] = field(default_factory=list)  # numbers without items
    models_by_name: dict[str, ModelProvenance] = field(default_factory=dict)  # by model
    facts: dict[str, Facts] = field(default_factory=dict)  # by member that could do a task
    notes: list[str] = field(default_factory=list)
    states: list[DatasetState] = field(default_factory=list)
    is_whole: bool = True

    @property
    def marks(self) -> set[str]:
        """The marks of any model's numbers."""
        return {*chain(*(model.marks for model in self.models_by_name.values()))}

    @property
    def texts(self) -> Mapping[str, KnownText]:
        """The training text of models, where it is known."""
        models = self.models_by_name.items()
        return {name: model.text for name, model in models if model.text is not None}

    @property
    def scored(self) -> list[Outcomes]:
        """The items of tasks whose gold and predictions are scores."""
        return [outcomes for outcomes in self.outcomes if outcomes.has_scores]

    def with_rows(self, rows: Sequence[ModelColumns]) -> ComparisonInput:
        """Return the results of other models, whose members are models here."""
        models = {}
        for row in rows:
            members = [self.models_by_name[member] for member in row.members]
            model = ModelProvenance(text=members[0].text, lack=members[0].lack)
            models[row.name] = model
            for member in members:
                model.marks |= member.marks
                model.overlaps |= member.overlaps
                model.signatures += member.signatures
        return replace(self, models=rows, models_by_name=models)

    def compare(self, slicing: Slicing, progress: ProgressCallback | None = None) -> TaskComparison:
        """Return the models compared with the first of them on what SLICING picks and cuts."""
        evidence = [*self.figures]
        overlaps = {name: model.overlaps for name, model in self.models_by_name.items()}
        left_out: list[str] = []
        common: tuple[str, ...] = ()  # what identifies the items that all models score
        counts = (0, 0)  # of compared and of all items
        if self.outcomes:
            outcomes = join_outcomes(self.outcomes)
            members = member_columns(self.models)
            selection = self._select(outcomes, slicing.where) if slicing.where else None
            by: str | ItemSelection = slicing.by
            if is_expression(slicing.by):
                by = self._select(outcomes, slicing.by)
            parts = slices_of(
                outcomes,
                members,
                by=by,
                selection=selection,
                common=slicing.common,
                has_rest=slicing.has_rest,
            )
            is_chosen = selection is not None and selection.is_by_results
            is_chosen |= not isinstance(by, str) and by.is_by_results
            evidence = outcome_evidence(
                outcomes,
                members,
                parts,
                aggregate=slicing.aggregate,
                is_chosen=is_chosen,
                progress=progress,
            )
            left_out += self._unread(slicing) or _unselected(selection, slicing)
            left_out += _left_out(outcomes, parts, slicing, selection, by)
            if slicing.is_plain:
                evidence += self.figures
            else:
                left_out += self.without_items()
            overlaps = self._overlaps_of(outcomes, parts, slicing)
            if slicing.common:
                common = (f"common/items@{_digest(outcomes, parts)}",)
            left_out_items = sum(block.left_out for block in outcomes.blocks)
            counts = sum(len(part.rows) for part in parts), outcomes.rows.height + left_out_items
        # numbers without items stay with their task
        evidence.sort(key=lambda row: self.order.index(row.task))
        compared = compare_slices(evidence, self.models, slicing)
        averages = {row.key for row in evidence if row.averaged_keys}
        shared_of_datasets = {}
        for name, by_slice in overlaps.items():
            shared_of_datasets[name] = {
                key: overlap for key, overlap in by_slice.items() if overlap and key not in averages
            }
        common_mark = {COMMON} if slicing.common else set()
        return TaskComparison(
            **vars(compared),
            rows=counts if slicing.common else None,
            shared={name: shared_rows(evidence, overlap) for name, overlap in overlaps.items()},
            counts=shared_of_datasets,
            facts=self.facts,
            model_marks={
                name: model.marks | common_mark for name, model in self.models_by_name.items()
            },
            notes=tuple(self.notes),
            left_out=tuple(left_out),
            signatures=self._signatures(compared.slices, slicing, common),
            states=self.states,
            is_whole=self.is_whole,
        )

    def _select(self, outcomes: Outcomes, expression: str) -> ItemSelection:
        from embedlab.outcomes.selection import select_items

        models = {model.name: model.members for model in self.models}
        return select_items(outcomes, expression, models)

    def _unread(self, slicing: Slicing) -> list[str]:
        """Return a note on training text that an expression looks items up in and that is not
        here.
        """
        expressions = (slicing.where, *slicing.meanings.values()) if slicing.where else ()
        is_looked_up = any("trained:" in expression for expression in expressions)
        return self.unread_notes if is_looked_up else []

    @property
    def unread_notes(self) -> list[str]:
        """Return a note on the training text of models that is not here to be looked up in."""
        lacks = [f"{name}: {own.lack}" for name, own in self.models_by_name.items() if own.lack]
        text = f"items may be in training text that is not at hand: {'; '.join(lacks)}"
        return [text] if lacks else []

    def without_items(self) -> list[str]:
        """Return a note on the numbers that are left out because no items are behind them."""
        tasks_with_items = {block.task for outcomes in self.outcomes for block in outcomes.blocks}
        titles = [  # by its task, or by itself where the task has items of other datasets
            figure.key if figure.task in tasks_with_items else figure.task
            for figure in self.figures
        ]
        names = ", ".join(dict.fromkeys(titles))
        return [f"left out, without items: {names}"] if names else []

    def _overlaps_of(
        self, outcomes: Outcomes, parts: Sequence[ItemSlice], slicing: Slicing
    ) -> dict[str, dict[str, Overlap]]:
        """Return the text that each slice shares with the training text of each model, by the key
        of the slice.
        """
        by_model = {}
        for name, text in self.texts.items():
            by_model[name] = {part.key: text.overlap(keyed_items(outcomes, part)) for part in parts}
        if slicing.is_plain:  # also what is declared, and kept without text
            for name, model in self.models_by_name.items():
                counted = by_model.get(name, {})
                by_model[name] = counted | model.overlaps | what_is_shared(counted)
        return by_model

    def _signatures(
        self, slices: Sequence[ComparedSlice], slicing: Slicing, common: Sequence[str]
    ) -> dict[str, str]:
        """Return the signature of each model over all tasks that it has numbers of."""
        conditions = [f"where {slicing.where}"] if slicing.where else []
        meanings = [f"@{name}={expression}" for name, expression in slicing.meanings.items()]
        signatures = {}
        for name in slices[0].scores if slices else ():
            model = self.models_by_name[name]
            if not model.signatures:
                continue
            scored = [row for row in slices if not isnan(row.scores[name].value)]
            sizes = {
                (row.task, row.slice_key): row.items for row in scored if not row.averaged_keys
            }
            merged_signature = merged(model.signatures)
            signature = replace(
                merged_signature,
                data=(*merged_signature.data, *common),
                by=(slicing.by, *conditions, *meanings),
                aggregation=tuple({row.setting for row in scored if row.setting is not None}),
                interval=(METHOD,),
                margin=(f"{100 * slicing.margin:g}",) if slicing.margin is not None else (),
                metric=tuple(row.metric for row in scored),
                n=(str(sum(sizes.values())),),
                test=(TEST,),
            )
            signatures[name] = str(signature)
        return signatures


def _unselected(selection: ItemSelection | None, slicing: Slicing) -> list[str]:
    """Return a note where a SELECTION leaves out nothing."""
    if selection is None or not selection.is_selected.all():
        return []
    items = f"all {len(selection.is_selected):,} items"
    return [f"nothing is left out: {items} fit {slicing.where!r}"]


def _left_out(
    outcomes: Outcomes,
    parts: Sequence[ItemSlice],
    slicing: Slicing,
    selection: ItemSelection | None,
    by: str | ItemSelection,
) -> Iterator[str]:
    """Yield which datasets have no slice, and why."""
    without_property: Sequence[str] = ()
    if by != DATASET:
        from embedlab.outcomes.grouping import lacking_datasets

        without_property = (
            lacking_datasets(outcomes, by) if isinstance(by, str) else by.datasets_without
        )
    without_condition = selection.datasets_without if selection is not None else ()
    sliced_datasets = {outcomes.blocks[part.block].dataset for part in parts}
    unmatched = [
        block.dataset
        for block in outcomes.blocks
        if block.dataset not in {*sliced_datasets, *without_property, *without_condition}
    ]
    for reason, names in (
        (f"without {slicing.by!r}", without_property),
        (f"without what {slicing.where!r} reads", without_condition),
        ("no item matches", unmatched),
    ):
        if names:
            yield f"left out, {reason}: {', '.join(names)}"


def _digest(outcomes: Outcomes, parts: Sequence[ItemSlice]) -> str:
    """Return what identifies the items of PARTS among those of the same data."""
    digest = xxhash.xxh3_64()
    for part in parts:
        digest.update(f"{part.key}\0".encode("utf-8", "surrogatepass"))
        digest.update(outcomes.rows["item"].to_numpy()[part.rows].tobytes())
    return digest.hexdigest()[:HASH_DIGITS]


def item_outcomes(
    selected: SelectedTask,
    results: Mapping[str, TaskResult],
    members: Sequence[str],
    cache: Path | None = None,
    texts: Mapping[str, KnownText] = MappingProxyType({}),
) -> Outcomes | None:
    """Return the items of a task as outcomes of MEMBERS, by whom RESULTS are; None where no member
    has any.
    """
    stored = {member: result.outcomes for member, result in results.items()}
    all_outcomes = [*chain(*stored.values())]
    # a setting of its classifiers is in the name
    suites = {dataset_outcomes.task for dataset_outcomes in all_outcomes}
    averages = selected.averages([*dict.fromkeys(each.name for each in all_outcomes)])
    return join_members(
        stored,
        members,
        cache=cache,
        averages=dict.fromkeys(suites, averages),
        mixed_metrics=dict.fromkeys(suites, selected.definition.mixed_metric),
        trained=lambda outcomes: trained_column(outcomes.text_keys, texts),
    )


def figure_evidence(
    task: str, results: Mapping[str, TaskResult], members: Sequence[str]
) -> list[Evidence]:
    """Return the numbers of MEMBERS on a task that have no items: they are shown next to each
    other, not tested.
    """
    values: dict[tuple[str, str, str], float] = {}
    keys: dict[tuple[str, str, int], None] = {}
    for member, result in results.items():
        for score in result.figures:
            keys[score.slice, score.metric, score.items] = None
            values.setdefault((member, score.slice, score.metric), score.value)
    return [
        Evidence(
            key=f"{dataset} {metric}",
            title=f"{dataset} {metric}",
            items=items,
            points=np.array([values.get((member, dataset, metric), np.nan) for member in members]),
            task=task,
            metric=metric,
            dataset=dataset,
        )
        for dataset, metric, items in keys
    ]


def shared_rows(
    evidence: Sequence[Evidence], overlaps: Mapping[str, Overlap]
) -> dict[str, Overlap]:
    """Return the text that each row shares with a training text, by its key; OVERLAPS are by
    slice.
    """
    slices = {row.key: row.slice_key for row in evidence}
    shared = {}
    for row in evidence:
        names = [slices[key] for key in row.averaged_keys] or [row.slice_key]
        if total := total_overlap(overlaps[name] for name in names if name in overlaps):
            shared[row.key] = total
    return shared


def model_columns(model: Model) -> ModelColumns:
    """Return the columns of a model among the predictions."""
    return ModelColumns(
        name=model.name,
        members=tuple(spec.name for spec in model.members),
        seeds=tuple(spec.seed for spec in model.members if spec.seed is not None),
        runs=tuple(_runs_behind(spec) for spec in model.members),
        is_published=all(_is_published(part) for spec in model.members for part in spec.uncombined),
    )


def _is_published(spec: ModelSpec) -> bool:
    """Return whether a member is a checkpoint of the hub or of a package, a published table or a
    rule, and not a run or a folder.
    """
    if spec.adapter is not None:
        return False
    if spec.kind == "folder":
        return is_packaged(Path(spec.location))
    return spec.kind in {"hub", "dice"} or spec.repository is not None or spec.shipped.is_published


def _runs_behind(spec: ModelSpec) -> frozenset[str]:
    """Return the runs that a member is made of, however it is read."""
    runs = (Path(part.location).parent for part in spec.uncombined if part.is_run)
    return frozenset(RunFolder(run).id for run in runs)
