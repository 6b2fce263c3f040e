"""Tables of models compared on items, from their stored answers, without the models.

    python research/programs/stored_answers.py store research/scores/NAME.parquet MODEL…
        --task glue --data DIR --runs DIR [--by PROPERTY]
    python research/programs/stored_answers.py add research/scores/NAME.parquet FILE…
    python research/programs/stored_answers.py show research/scores/NAME.parquet [MODEL…]
        [--by PROPERTY] [--dataset NAME] [--measure NAME]
    python research/programs/stored_answers.py refresh research/PAGE.md…

MODEL may be NAME=MODEL; where tables and claims are made, "largest class" always gives the most
frequent label. `store` writes every member's (seed's) answer to each item with the label, hashes of
the item's sentences, no text; the value of each PROPERTY that tables are cut by; and, as metadata,
what titles and notes of tables say. Models are compared with the first. `add` takes the models of
other such files, of the same items, when their runs and those of NAME are no longer at hand
together. `show` prints what `embedlab compare MODEL… --suite TASK` prints; the correction is over
the datasets that are shown. `refresh` writes each table of a page again that is between these two
lines; tables of similarities of pairs are those of stored_tables.py:

    <!-- answers scores/NAME.parquet [MODEL…] [--by PROPERTY] [--dataset NAME] [--measure NAME]
    [--notes] [--signature] --> <!-- end of answers -->
"""

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl
import table_pages
from pydantic import TypeAdapter
from stored_runs import UNTRAINED, StoredTraining, stored_training

from embedlab.analysis.comparison import compare_evidence
from embedlab.analysis.evidence import Evidence, ModelColumns, member_columns
from embedlab.analysis.near_duplicates import Links, NearDuplicates
from embedlab.commands.options import take_aliases
from embedlab.comparison.comparison import Slicing
from embedlab.comparison.evidence import outcome_evidence
from embedlab.core.settings import Settings, load_settings
from embedlab.data.dataset import DatasetState
from embedlab.data.marks import Overlap
from embedlab.encoders.encoder import EncoderFacts
from embedlab.encoders.score_place import ScorePlace
from embedlab.models.catalog import ModelSpec
from embedlab.outcomes.frame import DATASET, ItemSlice, Outcomes, join_outcomes
from embedlab.outcomes.grouping import cut_by_values
from embedlab.outcomes.property import property_named
from embedlab.outcomes.stored import join_members
from embedlab.runs.environment import StoredPart
from embedlab.runs.evaluations import Evaluation, StoredScore
from embedlab.runs.outcomes import PREDICTED, TEXT_IDS, StoredOutcomes, class_indices, items_frame
from embedlab.scoring.readiness import Work
from embedlab.scoring.results import member_result, stored_evaluation
from embedlab.scoring.selection import SelectedTask
from embedlab.scoring.task_comparison import (
    ComparisonInput,
    TaskComparison,
    figure_evidence,
    item_outcomes,
)
from embedlab.tasks.task import TaskResult, evaluation_without_scores
from embedlab.tasks.task import task as find_task

FACTS = "embedlab-answers"  # the parquet metadata key
ITEM_COLUMNS = {"item": pl.UInt32(), "gold": pl.String(), "predicted": pl.String()}
OF_ITEM = "item:"  # before the name of a property in the names of columns
WHOSE = ("task", "member", "name")  # of the items: columns next to those of outcomes
LARGEST = "largest class"  # the model that always gives the most frequent label of the items


@dataclass(frozen=True, kw_only=True)
class ShownRows:
    """Which rows a table has of a file."""

    by: str = DATASET  # a property that the file has of its items
    datasets: tuple[str, ...] = ()  # none: all
    measure: str = ""  # none: all


ALL_ROWS = ShownRows()


@dataclass(frozen=True, kw_only=True)
class KnownOutcomes:
    """A member's answers to a dataset, without its items."""

    dataset: str
    split: str
    fingerprint: str
    classes: tuple[str, ...]
    data: tuple[StoredPart, ...]
    marks: tuple[str, ...]
    measures: tuple[str, ...] = ()  # none: those of the task, as files of before have it


@dataclass(frozen=True, kw_only=True)
class StoredMember:
    """A member on one task."""

    outcomes: Mapping[str, KnownOutcomes]  # by name
    scores: tuple[StoredScore, ...]
    evaluation: Evaluation | None = None
    training: StoredTraining = UNTRAINED


@dataclass(frozen=True, kw_only=True)
class StoredComparison:
    """What a table says besides its numbers, and the members of each task."""

    models: tuple[ModelColumns, ...]
    shared: Mapping[str, Mapping[str, Overlap]]
    counts: Mapping[str, Mapping[str, Overlap]]
    facts: Mapping[str, Mapping[str, str]]
    marks: tuple[str, ...]
    notes: tuple[str, ...]
    signatures: Mapping[str, str]
    states: tuple[DatasetState, ...]
    is_whole: bool
    tasks: Mapping[str, tuple[str, ...]]  # the selected datasets of each; none: the whole task
    properties: tuple[str, ...] = ()  # of which each item's value is stored
    # by task and dataset: the numbers of two texts that are nearly the same, and their cosine; a
    # file of before has none
    near: Mapping[str, Mapping[str, tuple[tuple[int, int, float], ...]]] = field(
        default_factory=dict
    )
    members: Mapping[str, Mapping[str, StoredMember]]  # by task, then by member


def store(
    path: Path,
    names: Sequence[str],
    tasks: Sequence[SelectedTask],
    settings: Settings,
    properties: Sequence[str] = (),
) -> None:
    """Write the answers of the models called NAMES, and the PROPERTIES of items, into PATH; those
    that lack are evaluated first.
    """
    from embedlab.api import NotebookSession
    from embedlab.evaluation import gather, resolve_model

    session = NotebookSession(settings=settings)
    gathered = gather(names, tasks, session, slicing=Slicing(), setting="literature")
    compared = gathered.compare(Slicing())
    cut = [compared, *(gathered.compare(Slicing(by=name)) for name in properties)]
    specs = [spec for name in names for spec in resolve_model(name, session).members]
    answers = {
        one.task: {
            spec.name: member_result(
                spec,
                one,
                Work(selected=tasks, wants_items=True),
                None,
                stored_evaluation(ScorePlace.of(spec, settings), one.stored_name(), None, settings),
                session,
                lambda _: lambda *_: None,
            )
            for spec in specs
        }
        for one in tasks
    }
    own = {
        item.name: getattr(compared, item.name)
        for item in fields(StoredComparison)
        if hasattr(compared, item.name)
    }
    own |= {name: together([getattr(one, name) for one in cut]) for name in ("shared", "counts")}
    facts = StoredComparison(
        **{
            **own,
            "models": tuple(compared.models),
            "notes": tuple(map(str, compared.notes)),
            "states": tuple(compared.states),
        },
        properties=tuple(properties),
        near=near_links(gathered),
        tasks={one.task: one.names for one in tasks},
        members={
            one.task: {
                spec.name: stored_member(one, spec, answers[one.task][spec.name], settings)
                for spec in specs
            }
            for one in tasks
        },
    )
    write(
        path,
        facts,
        with_properties(pl.concat(items_of(answers), how="diagonal"), gathered, properties),
    )


def add(path: Path, others: Sequence[Path]) -> None:
    """Write the models of the files OTHERS, with their answers, behind those of the file at
    PATH.
    """
    stored, items = stored_comparison(path), pl.read_parquet(path)
    for other in others:
        found, answers = stored_comparison(other), pl.read_parquet(other)
        check_same_items(path, other, (stored, items), (found, answers))
        stored = replace(
            stored,
            models=(*stored.models, *found.models),
            notes=(*stored.notes, *found.notes),
            marks=(*dict.fromkeys((*stored.marks, *found.marks)),),
            members={task: {**own, **found.members[task]} for task, own in stored.members.items()},
            **{
                name: {**getattr(stored, name), **getattr(found, name)}
                for name in ("shared", "counts", "facts", "signatures")
            },
        )
        items = pl.concat([items, answers])
    write(path, stored, items)


def check_same_items(
    path: Path,
    other: Path,
    mine: tuple[StoredComparison, pl.DataFrame],
    theirs: tuple[StoredComparison, pl.DataFrame],
) -> None:
    """Refuse the file OTHER where it has a model of PATH, or not the very items of PATH."""
    (stored, items), (found, answers) = mine, theirs
    known = {model.name for model in stored.models}
    if twice := [model.name for model in found.models if model.name in known]:
        raise SystemExit(f"{other}: {path} has {twice[0]!r} too")
    what = ("tasks", "properties", "states", "is_whole")
    different = [name for name in what if getattr(stored, name) != getattr(found, name)]
    of_items = [name for name in items.columns if name not in {"member", "predicted"}]
    if different or items.columns != answers.columns:
        raise SystemExit(f"{other}: other {different[0] if different else 'columns'} than {path}")
    if (
        not items.select(of_items)
        .unique()
        .sort(of_items)
        .equals(answers.select(of_items).unique().sort(of_items))
    ):
        raise SystemExit(f"{other}: other items than {path}")


def write(path: Path, stored: StoredComparison, items: pl.DataFrame) -> None:
    """Write answers to ITEMS and what is STORED of their models into PATH."""
    path.parent.mkdir(parents=True, exist_ok=True)
    items.write_parquet(
        path,
        compression="zstd",
        compression_level=19,
        metadata={FACTS: json.dumps(asdict(stored), default=sorted)},
    )


def together(parts: Sequence[Mapping[str, Mapping[str, Overlap]]]) -> dict[str, dict[str, Overlap]]:
    """Return the text that the slices of all PARTS share, by model and slice."""
    return {
        name: {key: found for part in parts for key, found in part.get(name, {}).items()}
        for part in parts
        for name in part
    }


def near_links(
    gathered: ComparisonInput,
) -> dict[str, dict[str, tuple[tuple[int, int, float], ...]]]:
    """Return the texts of each task and dataset that are nearly the same, by their numbers."""
    links: dict[str, dict[str, tuple[tuple[int, int, float], ...]]] = {}
    for block in (block for outcomes in gathered.outcomes for block in outcomes.blocks):
        if block.near is not None:
            near = block.near()
            sides = near.ids[near.links.first].tolist(), near.ids[near.links.second].tolist()
            found = zip(*sides, near.links.cosine.tolist(), strict=True)
            links.setdefault(block.task, {})[block.dataset] = tuple(found)
    return links


def near_again(links: Sequence[tuple[int, int, float]]) -> NearDuplicates:
    """Return the LINKS of a file as what compared items are known by."""
    first, second, cosine = zip(*links, strict=True) if links else ((), (), ())
    ids, places = np.unique(np.array([*first, *second], np.uint64), return_inverse=True)
    sides = np.split(places.astype(np.int32), 2)
    found = Links(first=sides[0], second=sides[1], cosine=np.array(cosine, np.float32))
    return NearDuplicates(ids=ids, links=found)


def with_near(
    outcomes: Outcomes, links: Mapping[str, Sequence[tuple[int, int, float]]]
) -> Outcomes:
    """Return OUTCOMES whose datasets know which of their texts are nearly the same."""
    blocks = [
        replace(block, near=partial(near_again, links[block.dataset]))
        if block.dataset in links
        else block
        for block in outcomes.blocks
    ]
    return replace(outcomes, blocks=tuple(blocks))


def with_properties(
    items: pl.DataFrame, gathered: ComparisonInput, names: Sequence[str]
) -> pl.DataFrame:
    """Return ITEMS with the value of each property in NAMES, which GATHERED models' items have."""
    if not names:
        return items
    outcomes = join_outcomes(gathered.outcomes)
    blocks = blocks_of(outcomes)
    values = [property_named(name).values(outcomes).alias(f"{OF_ITEM}{name}") for name in names]
    known = (
        outcomes.rows.select("block", "item")
        .with_columns(values)
        .join(blocks, on="block", maintain_order="left")
        .drop("block")
    )
    return items.join(known, on=["task", "name", "item"], how="left", maintain_order="left")


def blocks_of(outcomes: Outcomes) -> pl.DataFrame:
    """Return the task and dataset of each block."""
    rows = [(place, block.task, block.dataset) for place, block in enumerate(outcomes.blocks)]
    return pl.DataFrame(
        rows, schema={"block": pl.UInt16, "task": pl.String, "name": pl.String}, orient="row"
    )


def stored_member(
    task: SelectedTask, spec: ModelSpec, found: TaskResult, settings: Settings
) -> StoredMember:
    """Return what is stored of a member besides the items."""
    place = ScorePlace.of(spec, settings)
    path = place.evaluations / f"{task.stored_name()}.json"
    evaluation = Evaluation.load(path) if path.is_file() else None
    names = [item.name for item in fields(KnownOutcomes)]
    outcomes = {
        own.name: KnownOutcomes(**{key: getattr(own, key) for key in names})
        for own in found.outcomes
    }
    return StoredMember(
        outcomes=outcomes,
        scores=found.figures,
        evaluation=evaluation
        if evaluation is not None and evaluation.fingerprint == place.fingerprint
        else None,
        training=stored_training(spec),
    )


def items_of(answers: Mapping[str, Mapping[str, TaskResult]]) -> Iterator[pl.DataFrame]:
    """Yield the items of each member and dataset, with the columns WHOSE; an empty frame first, for
    tasks without items.
    """
    yield pl.DataFrame(schema={**dict.fromkeys(WHOSE, pl.String), **ITEM_COLUMNS})
    for task, members in answers.items():
        for member, found in members.items():
            for own in found.outcomes:
                whose = dict(zip(WHOSE, (task, member, own.name), strict=True))
                # without the sentences: those of some corpora may not be passed on
                frame = join_members({member: [own]}, [member])
                assert frame is not None
                texts = frame.rows.select(
                    key for key in TEXT_IDS if not frame.rows[key].null_count()
                )
                labels = (
                    as_text(own.items[key], own.classes).alias(key)
                    for key in ITEM_COLUMNS
                    if key != "item"
                )
                yield pl.DataFrame([own.items["item"], *labels, *texts]).select(
                    *(pl.lit(value).alias(key) for key, value in whose.items()), pl.all()
                )


def as_text(values: pl.Series, classes: Sequence[str]) -> pl.Series:
    """Return the labels of class indices, and other numbers as text."""
    texts = [classes[int(value)] if classes else str(value) for value in values]
    return pl.Series(texts, dtype=pl.String)


def stored_comparison(path: Path) -> StoredComparison:
    """Return what is known of the models in the file at PATH."""
    return TypeAdapter(StoredComparison).validate_json(pl.read_parquet_metadata(path)[FACTS])


def stored_answers(path: Path, names: Sequence[str]) -> tuple[StoredComparison, pl.DataFrame]:
    """Return what is known of the models in the file at PATH, and their answers; with those of the
    largest class if NAMES have it.
    """
    stored, items = stored_comparison(path), pl.read_parquet(path)
    return with_largest_class(stored, items) if LARGEST in names else (stored, items)


def chosen_models(path: Path, stored: StoredComparison, names: Sequence[str]) -> list[ModelColumns]:
    """Return the models called NAMES, in their order, of what is STORED in the file at PATH."""
    known = {model.name: model for model in stored.models}
    if lacking := [name for name in names if name not in known]:
        raise SystemExit(f"{path}: no model {lacking[0]!r}; it has {', '.join(known)}")
    return [known[name] for name in names]


def with_largest_class(
    stored: StoredComparison, items: pl.DataFrame
) -> tuple[StoredComparison, pl.DataFrame]:
    """Return STORED answers to ITEMS with a model more, which answers every item of a dataset with
    its most frequent gold label.
    """
    members, answers = {}, [items]
    for task, own in stored.members.items():
        first, known = next(iter(own.items()))
        members[task] = {**own, LARGEST: StoredMember(outcomes=known.outcomes, scores=())}
        gold = items.filter(task=task, member=first)
        largest = gold.group_by("name").agg(predicted=pl.col("gold").mode().sort().first())
        rule = (
            gold.drop("predicted")
            .join(largest, on="name", maintain_order="left")
            .with_columns(member=pl.lit(LARGEST))
        )
        answers.append(rule.select(items.columns))
    models = (*stored.models, ModelColumns(name=LARGEST, members=(LARGEST,), is_published=True))
    return replace(stored, models=models, members=members), pl.concat(answers)


def compared_again(
    path: Path, names: Sequence[str] = (), rows: ShownRows = ALL_ROWS
) -> TaskComparison:
    """Return the comparison of the models called NAMES (none: all) on ROWS of the file at PATH by
    the procedure of today.
    """
    stored, items = stored_answers(path, names)
    columns = chosen_models(path, stored, names or [model.name for model in stored.models])
    members = member_columns(columns)
    found = evidence_again(stored, items, members, rows)
    slices = compare_evidence(found, columns)
    others = tuple(f"{model.name}: " for model in stored.models if model not in columns)
    left_out = tuple(
        f"{state.name} "
        for state in stored.states
        if rows.datasets and state.name not in rows.datasets
    )
    said = [note for note in stored.notes if not note.startswith(others + left_out)]
    names_of_tables = {item.name for item in fields(TaskComparison)}
    parts = {
        item.name: getattr(stored, item.name)
        for item in fields(StoredComparison)
        if item.name in names_of_tables
    }
    parts |= {"models": tuple(columns), "notes": tuple(said), "slicing": Slicing(by=rows.by)}
    marks = {column.name: stored.marks for column in columns}  # a file has them together
    return TaskComparison(**parts, model_marks=marks, slices=slices)


def evidence_again(
    stored: StoredComparison,
    items: pl.DataFrame,
    members: Sequence[str],
    rows: ShownRows = ALL_ROWS,
) -> list[Evidence]:
    """Return the evidence of the answers of MEMBERS to ITEMS of a file, those of some ROWS."""
    found = []
    for task, own in stored.members.items():
        answers = {
            name: answers_of(task, name, one, items, rows.datasets)
            for name, one in own.items()
            if name in members
        }
        outcomes = item_outcomes(
            SelectedTask(task=task, names=rows.datasets or stored.tasks[task]), answers, members
        )
        if outcomes is not None:
            found += outcome_evidence(
                with_near(outcomes, stored.near.get(task, {})),
                members,
                None if rows.by == DATASET else [*cut_by(outcomes, items, rows.by)],
            )
        if rows.by == DATASET:
            found += figure_evidence(task, answers, members)
    return [one for one in found if rows.measure in {"", one.metric}]


def cut_by(outcomes: Outcomes, items: pl.DataFrame, by: str) -> Iterator[ItemSlice]:
    """Yield the slices of OUTCOMES BY a property, whose values are a column of the ITEMS of the
    file.
    """
    if (column := f"{OF_ITEM}{by}") not in items.columns:
        known = (
            ", ".join(
                name.removeprefix(OF_ITEM) for name in items.columns if name.startswith(OF_ITEM)
            )
            or "none"
        )
        raise SystemExit(f"the file has no property {by!r} of its items; it has {known}")
    blocks = blocks_of(outcomes)
    values = (
        items.select("task", "name", "item", column)
        .unique(["task", "name", "item"])
        .join(blocks, on=["task", "name"])
    )
    of_rows = outcomes.rows.select("block", "item").join(
        values, on=["block", "item"], how="left", maintain_order="left"
    )
    yield from cut_by_values(outcomes, property_named(by), of_rows[column])


def answers_of(
    task: str, member: str, stored: StoredMember, items: pl.DataFrame, datasets: Sequence[str] = ()
) -> TaskResult:
    """Return what a member answered to a task, or to DATASETS of it."""
    outcomes = []
    for name, one in stored.outcomes.items():
        if datasets and name not in datasets:
            continue
        own = items.filter(**dict(zip(WHOSE, (task, member, name), strict=True))).drop(WHOSE)
        texts = [key for key in TEXT_IDS if key in own.columns and not own[key].null_count()]
        gold, predicted = (
            class_indices(own[key].to_list(), one.classes)
            if one.classes
            else own[key].cast(pl.Float64)
            for key in ("gold", PREDICTED)
        )
        ids = own.select(texts).to_numpy() if texts else None
        frame = items_frame(own["item"], gold, predicted, text_ids=ids)
        measures = one.measures or find_task(task).measures(name)
        own_facts = vars(one) | {"measures": measures, "base_task": task}
        outcomes.append(StoredOutcomes(**own_facts, task=task, model=member, items=frame))
    figures = evaluation_without_scores(task, member, "", EncoderFacts())
    return TaskResult(outcomes=tuple(outcomes), evaluation=replace(figures, scores=stored.scores))


def shown(
    path: Path,
    models: Sequence[str] = (),
    rows: ShownRows = ALL_ROWS,
    *,
    is_signed: bool,
    has_all_notes: bool,
) -> str:
    """Return the table of MODELS (none: all) and ROWS of the file at PATH in Markdown."""
    from embedlab.reports.scores import comparison_table

    return replace(
        comparison_table(compared_again(path, models, rows)),
        is_signed=is_signed,
        has_all_notes=has_all_notes,
    ).to_markdown()


def refreshed(page: str, folder: Path) -> str:
    """Return a PAGE whose files are relative to FOLDER with each of its tables made again."""
    return table_pages.refreshed(page, "answers", folder, parser_of_tables(), shown_as)


def shown_as(arguments: argparse.Namespace) -> str:
    """Return the table that the ARGUMENTS of `show` describe, in Markdown."""
    rows = ShownRows(by=arguments.by, datasets=tuple(arguments.dataset), measure=arguments.measure)
    return shown(
        arguments.file,
        arguments.models,
        rows,
        is_signed=arguments.signature,
        has_all_notes=arguments.notes,
    )


def parser_of_tables() -> argparse.ArgumentParser:
    """Return the parser of what describes one table."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("file", type=Path)
    parser.add_argument("models", nargs="*")
    parser.add_argument("--by", default=DATASET, help="a property that the file has of its items")
    parser.add_argument(
        "--dataset", action="append", default=[], help="one of the datasets; can be repeated"
    )
    parser.add_argument("--measure", default="", help="one of the measures")
    parser.add_argument("--signature", action="store_true")
    parser.add_argument("--notes", action="store_true")
    return parser


def main() -> None:
    """Store, show or refresh."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    storing = commands.add_parser("store")
    storing.add_argument("file", type=Path)
    storing.add_argument("models", nargs="+")
    storing.add_argument(
        "--task",
        action="append",
        required=True,
        help="a task, or TASK:DATASET for one of its datasets",
    )
    storing.add_argument("--data", type=Path, required=True)
    storing.add_argument("--runs", type=Path)
    storing.add_argument(
        "--by",
        action="append",
        default=[],
        help="a property that tables are cut by; can be repeated",
    )
    adding = commands.add_parser("add")
    adding.add_argument("file", type=Path)
    adding.add_argument("others", type=Path, nargs="+")
    commands.add_parser("show", parents=[parser_of_tables()])
    refreshing = commands.add_parser("refresh")
    refreshing.add_argument("pages", type=Path, nargs="+")
    arguments = parser.parse_args()
    match arguments.command:
        case "show":
            print(shown_as(arguments), end="")
        case "refresh":
            for page in arguments.pages:
                page.write_text(refreshed(page.read_text("utf-8"), page.parent), "utf-8")
        case "add":
            add(arguments.file, arguments.others)
        case "store":
            runs = {"runs": arguments.runs} if arguments.runs else {}
            settings = load_settings(
                {"data": arguments.data, "allow_partial": True, "threads": 1, **runs}
            )[0]
            chosen = [text.partition(":") for text in arguments.task]
            named = {
                task: tuple(name for other, _, name in chosen if other == task and name)
                for task, _, _ in chosen
            }
            tasks = [SelectedTask(task=task, names=names) for task, names in named.items()]
            store(arguments.file, take_aliases(arguments.models), tasks, settings, arguments.by)


if __name__ == "__main__":
    main()
