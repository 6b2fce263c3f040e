"""Models compared on tasks of any kind: what is known of their items is gathered, sliced and
compared, with marks, notes and signatures.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isnan
from pathlib import Path
from types import MappingProxyType

import polars as pl
import xxhash

from embedlab.analysis.another_dataset import Elsewhere, elsewhere
from embedlab.analysis.comparison import ComparedSlice, compare_evidence
from embedlab.analysis.evidence import Evidence, member_columns
from embedlab.analysis.expressions import TRAINED, meanings
from embedlab.analysis.scores import ModelColumns
from embedlab.analysis.uncertainty import METHOD
from embedlab.choices import Aggregate
from embedlab.comparison.evidence import outcome_evidence, slices_of
from embedlab.data.dataset import DatasetState
from embedlab.data.overlaps import KnownText
from embedlab.data.shared_text import Overlap
from embedlab.models.catalog import Model, ModelSpec
from embedlab.models.packaged import is_packaged
from embedlab.outcomes.cuts import DATASET, ItemSlice
from embedlab.outcomes.frame import Outcomes, joined_outcomes
from embedlab.outcomes.grouping import is_expression, lacking_datasets
from embedlab.outcomes.selection import ItemSelection, select_items
from embedlab.outcomes.stored import joined_members
from embedlab.runs.signature import HASH_DIGITS, Signature, merged
from embedlab.scoring.answers import Answers
from embedlab.scoring.outcomes import averages_of, shared_rows
from embedlab.scoring.provenance import COMMON, overlap_sign
from embedlab.scoring.selection import SelectedTask
from embedlab.scoring.training_text import keyed_items


def trained_column(keys: pl.DataFrame, texts: Mapping[str, KnownText]) -> pl.Series:
    """Return the models that were trained on each item († the pair, ‡ a sentence of it), null for
    none; KEYS are the hashes of their sentences, TEXTS by model.
    """
    known = keys.select(pl.all_horizontal(pl.all().is_not_null())).to_series()
    marked = [
        [
            f"{mark}{name}" if (mark := overlap_sign(overlap)) else ""
            for overlap in text.row_overlaps(keys.filter(known))
        ]
        for name, text in texts.items()
    ]
    nothing = pl.Series(TRAINED, [None], dtype=pl.String).new_from_index(0, keys.height)
    if not texts:
        return nothing
    named = [", ".join(filter(None, row)) or None for row in zip(*marked, strict=True)]
    return nothing.scatter(known.arg_true(), pl.Series(named, dtype=pl.String))


Facts = Mapping[
    str, str
]  # pooling, max_tokens, precision, training_precision, truncated: those that apply to a member
Progress = Callable[[int, int], None]
TEST = "dyadic"  # what signatures and frames call the test of every difference


@dataclass(frozen=True, kw_only=True)
class Slicing:
    """Which items of the tasks are compared, how they are grouped, and how two models are
    tested.
    """

    by: str = DATASET  # a property, a number of groups of it, or two crossed
    where: str = ""  # an expression over properties; all items without one
    has_rest: bool = False  # whether what the expression leaves out of each dataset is shown too
    aggregate: Aggregate = "all"
    common: bool = False  # items alone that all models have predictions of
    margin: float | None = None  # of equivalence, in units of the scores
    has_letters: bool = False  # whether each two models are tested, not only those with the first
    has_another: bool = False  # whether what a dataset of the same kind would give is wanted

    @property
    def is_plain(self) -> bool:
        """Whether each number is of a whole dataset."""
        return self.by == DATASET and not self.where and not self.common


@dataclass(frozen=True, kw_only=True)
class TaskComparison:
    """The rows of all tasks and averages, in order."""

    slices: Sequence[ComparedSlice]
    models: Sequence[ModelColumns]
    slicing: Slicing = Slicing()
    # compared of all, where they are those that all models score
    rows: tuple[int, int] | None = None
    shared: Mapping[str, Mapping[str, Overlap]]  # by model, then by row
    counts: Mapping[str, Mapping[str, Overlap]]  # by model, then by slice, without averages
    facts: Mapping[str, Facts]  # by member, for members that were evaluated on a task
    marks: tuple[str, ...]
    notes: tuple[str, ...]
    left_out: tuple[
        str, ...
    ] = ()  # datasets without a row, and why; or that a selection leaves out no item
    signatures: Mapping[str, str]  # by model
    states: Sequence[DatasetState]  # of the data that was read
    is_whole: bool  # nothing was missing
    evidence: Sequence[Evidence] = ()  # behind the rows, in their order
    elsewhere: Sequence[
        Elsewhere
    ] = ()  # what differences on five datasets that hardly share pairs say of another one


@dataclass(kw_only=True)
class Gathered:
    """What is known of the models on some tasks, before it is sliced and compared."""

    models: Sequence[ModelColumns]
    order: Sequence[str]  # of the tasks
    outcomes: list[Outcomes] = field(default_factory=list)
    figures: list[Evidence] = field(default_factory=list)  # numbers without items
    overlaps: dict[str, dict[str, Overlap]] = field(
        default_factory=dict
    )  # of items by model, then by dataset
    texts: dict[str, KnownText] = field(
        default_factory=dict
    )  # the training text of models, where it is known
    # what is not here to be looked up of each model's training text; empty where all is
    uncounted: dict[str, str] = field(default_factory=dict)
    facts: dict[str, Facts] = field(
        default_factory=dict
    )  # by member, of those that could do a task
    marks: set[str] = field(default_factory=set)
    notes: list[str] = field(default_factory=list)
    signatures: dict[str, list[Signature]] = field(
        default_factory=dict
    )  # by model, one a member and task
    states: list[DatasetState] = field(default_factory=list)
    is_whole: bool = True
    common: tuple[str, ...] = ()  # what identifies the items that all models score, where only they

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to compare."""
        return not (self.outcomes or self.figures)

    @property
    def scored(self) -> list[Outcomes]:
        """The items of tasks whose gold and predictions are scores."""
        return [outcomes for outcomes in self.outcomes if outcomes.has_scores]

    def of_rows(self, rows: Sequence[ModelColumns]) -> "Gathered":
        """Return the same of other models, whose members are models here."""
        return replace(
            self,
            models=rows,
            texts={
                row.name: self.texts[member]
                for row in rows
                for member in row.members[:1]
                if member in self.texts
            },
            uncounted={row.name: self.uncounted.get(row.members[0], "") for row in rows},
            overlaps={
                row.name: {
                    key: overlap
                    for member in row.members
                    for key, overlap in self.overlaps.get(member, {}).items()
                }
                for row in rows
            },
            signatures={
                row.name: [each for member in row.members for each in self.signatures[member]]
                for row in rows
            },
        )

    def compared(self, slicing: Slicing, progress: Progress | None = None) -> TaskComparison:
        """Return the models compared with the first of them on what SLICING picks and cuts."""
        evidence, overlaps, left_out, rows = self._sliced(slicing, progress)
        places = {task: index for index, task in reversed([*enumerate(self.order)])}
        evidence.sort(
            key=lambda evidence: places[evidence.task]
        )  # numbers without items stay with their task
        slices = compare_evidence(
            evidence,
            self.models,
            self.models[0].name,
            margin=slicing.margin,
            has_letters=slicing.has_letters,
        )
        averages = {each.key for each in evidence if each.average_of}
        counts = {
            name: {key: shared for key, shared in overlap.items() if shared and key not in averages}
            for name, overlap in overlaps.items()
        }
        return TaskComparison(
            slices=slices,
            models=self.models,
            slicing=slicing,
            rows=rows if slicing.common else None,
            shared={name: shared_rows(evidence, overlap) for name, overlap in overlaps.items()},
            counts=counts,
            facts=self.facts,
            marks=tuple(sorted({*self.marks, *((COMMON,) if slicing.common else ())})),
            notes=tuple(self.notes),
            left_out=tuple(left_out),
            signatures=self._signed(slices, slicing),
            states=self.states,
            is_whole=self.is_whole,
            evidence=evidence,
            elsewhere=elsewhere(evidence, slices, self.models, self.models[0].name)
            if slicing.has_another and slicing.by == DATASET and not slicing.where
            else (),
        )

    def _sliced(
        self, slicing: Slicing, progress: Progress | None
    ) -> tuple[list[Evidence], dict[str, dict[str, Overlap]], list[str], tuple[int, int]]:
        """Return the evidence of the slices, the text that each shares with training text, what is
        left out, and compared of all rows.
        """
        if not self.outcomes:
            return [*self.figures], self.overlaps, [], (0, 0)
        members, outcomes = member_columns(self.models), joined_outcomes(self.outcomes)
        models = {model.name: model.members for model in self.models}
        selection = select_items(outcomes, slicing.where, models) if slicing.where else None
        by = select_items(outcomes, slicing.by, models) if is_expression(slicing.by) else slicing.by
        parts = slices_of(
            outcomes,
            members,
            by=by,
            selection=selection,
            common=slicing.common,
            has_rest=slicing.has_rest,
        )
        is_chosen = any(
            each is not None and each.is_by_results
            for each in (selection, by if isinstance(by, ItemSelection) else None)
        )
        self.common = (f"common/items@{_digest(outcomes, parts)}",) if slicing.common else ()
        evidence = outcome_evidence(
            outcomes,
            members,
            parts,
            aggregate=slicing.aggregate,
            is_chosen=is_chosen,
            progress=progress,
        )
        uncounted = self._uncounted_text(slicing)
        if selection is not None and selection.holds.all() and not uncounted:
            uncounted = [
                f"nothing is left out: all {len(selection.holds):,} items fit {slicing.where!r}"
            ]
        left_out = [*uncounted, *_left_out(outcomes, parts, slicing, selection, by)]
        if not slicing.is_plain:
            left_out += self.without_items()
        rows = sum(len(part.rows) for part in parts), outcomes.rows.height
        return (
            [*evidence, *(self.figures if slicing.is_plain else ())],
            self._overlaps_of(outcomes, parts, slicing),
            left_out,
            rows,
        )

    def _uncounted_text(self, slicing: Slicing) -> list[str]:
        """Return a note on the models whose training text the expression cannot look up."""
        picked = (slicing.where, *meanings(slicing.where).values())
        is_looked_up = any("trained:" in expression for expression in picked)
        lacks = [
            f"{model.name}: {lack}"
            for model in self.models
            if (lack := self.uncounted.get(model.name)) and is_looked_up
        ]
        return (
            [f"items may be in training text that is not at hand: {'; '.join(lacks)}"]
            if lacks
            else []
        )

    def without_items(self) -> list[str]:
        """Return a note on the numbers that are left out because no items are behind them."""
        names = ", ".join(dict.fromkeys(self._called(figure) for figure in self.figures))
        return [f"left out, without items: {names}"] if names else []

    def _called(self, figure: Evidence) -> str:
        """Return what a number without items is called: its task, or itself where the task has
        items of other datasets.
        """
        with_items = {block.task for outcomes in self.outcomes for block in outcomes.blocks}
        return figure.key if figure.task in with_items else figure.task

    def _overlaps_of(
        self, outcomes: Outcomes, parts: Sequence[ItemSlice], slicing: Slicing
    ) -> dict[str, dict[str, Overlap]]:
        """Return the text that each slice shares with the training text of each model, by the key
        of the slice.
        """
        by_model = {name: _counted(outcomes, parts, text) for name, text in self.texts.items()}
        if slicing.is_plain:
            for name, overlaps in self.overlaps.items():  # what is declared, and kept without text
                known = {key: shared for key, shared in by_model.get(name, {}).items() if shared}
                by_model[name] = overlaps | known
        return by_model

    def _signed(self, slices: Sequence[ComparedSlice], slicing: Slicing) -> dict[str, str]:
        """Return the signature of each model over all tasks that it has numbers of."""
        signed = {}
        for model in (
            (model for model in slices[0].scores if model in self.signatures) if slices else ()
        ):
            compared_slices = [
                compared for compared in slices if not isnan(compared.scores[model].value)
            ]
            sizes = {
                (compared.task, compared.slice_key): compared.pairs
                for compared in compared_slices
                if not compared.average_of
            }
            merged_signature = merged(self.signatures[model])
            signature = replace(
                merged_signature,
                data=(*merged_signature.data, *self.common),
                by=(slicing.by, *_picked(slicing)),
                aggregation=tuple(
                    {
                        compared.setting
                        for compared in compared_slices
                        if compared.setting is not None
                    }
                ),
                interval=(METHOD,),
                margin=(f"{100 * slicing.margin:g}",) if slicing.margin is not None else (),
                metric=tuple(compared.metric for compared in compared_slices),
                n=(str(sum(sizes.values())),),
                test=(TEST,),
            )
            signed[model] = str(signature)
        return signed


def _picked(slicing: Slicing) -> Iterator[str]:
    """Yield what besides the property identifies the items: the expression that picks them, and
    what the names in both mean.
    """
    if slicing.where:
        yield f"where {slicing.where}"
    yield from (
        f"@{name}={expression}"
        for name, expression in meanings(f"{slicing.where} {slicing.by}").items()
    )


def _counted(outcomes: Outcomes, parts: Sequence[ItemSlice], text: KnownText) -> dict[str, Overlap]:
    """Return how much of each slice is in a training TEXT."""
    return {part.key: text.overlap(keyed_items(outcomes, part)) for part in parts}


def _left_out(
    outcomes: Outcomes,
    parts: Sequence[ItemSlice],
    slicing: Slicing,
    selection: ItemSelection | None,
    by: str | ItemSelection,
) -> Iterator[str]:
    """Yield which datasets have no slice, and why."""
    apart = by.lacking if isinstance(by, ItemSelection) else lacking_datasets(outcomes, by)
    where = selection.lacking if selection is not None else ()
    there = {outcomes.blocks[part.block].dataset for part in parts}
    unfit = [
        block.dataset for block in outcomes.blocks if block.dataset not in {*there, *apart, *where}
    ]
    for why, names in (
        (f"without {slicing.by!r}", apart),
        (f"without what {slicing.where!r} reads", where),
        ("no item fits", unfit),
    ):
        if names:
            yield f"left out, {why}: {', '.join(names)}"


def _digest(outcomes: Outcomes, parts: Sequence[ItemSlice]) -> str:
    """Return what identifies the items of PARTS among those of the same data."""
    digest = xxhash.xxh3_64()
    for part in parts:
        digest.update(f"{part.key}\0".encode("utf-8", "surrogatepass"))
        digest.update(outcomes.rows["item"].to_numpy()[part.rows].tobytes())
    return digest.hexdigest()[:HASH_DIGITS]


def item_outcomes(
    selected: SelectedTask,
    answers: Answers,
    members: Sequence[str],
    cache: Path | None = None,
    texts: Mapping[str, KnownText] = MappingProxyType({}),
) -> Outcomes | None:
    """Return the items of a task as outcomes of MEMBERS, None where no member has any."""
    suite = selected.evaluation_name()
    datasets = dict.fromkeys(name for answer in answers.values() for name in answer.outcomes)
    return joined_members(
        {member: answer.outcomes for member, answer in answers.items()},
        members,
        cache=cache,
        averages={suite: averages_of(selected, [*datasets])},
        mixed_metrics={suite: selected.definition.mixed_metric},
        trained=lambda outcomes: trained_column(outcomes.text_keys, texts),
    )


def model_columns(model: Model) -> ModelColumns:
    """Return the columns of a model among the predictions."""
    return ModelColumns(
        name=model.name,
        members=tuple(spec.name for spec in model.members),
        seeds=tuple(spec.seed for spec in model.members if spec.seed is not None),
        runs=tuple(_runs_behind(spec) for spec in model.members),
        is_published=all(_is_published(spec) for spec in model.members),
    )


def _is_published(spec: ModelSpec) -> bool:
    """Return whether a member is a checkpoint of the hub or of a package, a published table or a
    rule, and not a run or a folder.
    """
    if spec.parts:
        return all(_is_published(part) for part in spec.parts)
    if spec.adapter is not None:
        return False
    if spec.kind == "folder":
        return is_packaged(Path(spec.location))
    return spec.kind in {"hub", "dice"} or spec.repository is not None or spec.shipped.is_published


def _runs_behind(spec: ModelSpec) -> frozenset[str]:
    """Return the runs that a member is made of."""
    if spec.parts:
        return frozenset().union(*(_runs_behind(part) for part in spec.parts))
    return frozenset({spec.name} if spec.is_run else ())
