"""Tables of models compared on classified items, from their stored answers, without the models.

    python benchmarks/stored_answers.py store results/scores/NAME.parquet MODEL… --task glue --data DIR --runs DIR
    python benchmarks/stored_answers.py show results/scores/NAME.parquet [MODEL…] [--signature]
    python benchmarks/stored_answers.py refresh results/PAGE.md…

MODEL may be NAME=MODEL. `store` writes every member's (seed's) answer to each item with the label, hashes of the item's sentences, no
text; and, as metadata, what titles and notes of tables say. Models are compared with the first. `show` prints what
`embedlab compare MODEL… --suite TASK` prints. `refresh` writes each table of a page again that is between these two lines; tables of
similarities of pairs are those of stored_tables.py:

    <!-- answers scores/NAME.parquet [MODEL…] [--notes] [--signature] -->
    <!-- end of answers -->
"""

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path

import polars as pl
import table_pages
from pydantic import TypeAdapter
from stored_runs import UNTRAINED, StoredTraining, stored_training

from embedlab.analysis.evidence import Evidence, member_columns
from embedlab.analysis.scores import ModelColumns
from embedlab.core.settings import Settings, load_settings
from embedlab.data.dataset import DatasetState
from embedlab.data.shared_text import Overlap
from embedlab.encoders.stored_scores import ScorePlace
from embedlab.evaluation.answers import MemberOutcomes
from embedlab.evaluation.frames import item_evidence
from embedlab.evaluation.outcomes import member_outcomes
from embedlab.evaluation.selection import SelectedTask
from embedlab.evaluation.task_comparison import Slicing, TaskComparison
from embedlab.models.catalog import ModelSpec
from embedlab.runs.evaluations import Evaluation, StoredScore
from embedlab.runs.outcomes import ITEM_COLUMNS, TEXT_COLUMNS, StoredOutcomes
from embedlab.runs.parts import StoredPart
from embedlab.workflows.options.models import with_aliases

FACTS = "embedlab-answers"  # the parquet metadata key
WHOSE = ("task", "member", "name")  # of the items: columns next to those of outcomes


@dataclass(frozen=True, kw_only=True)
class KnownOutcomes:
    """A member's answers to a dataset, without its items."""

    dataset: str
    split: str
    fingerprint: str
    classes: tuple[str, ...]
    data: tuple[StoredPart, ...]
    marks: tuple[str, ...]


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
    members: Mapping[str, Mapping[str, StoredMember]]  # by task, then by member


def store(path: Path, names: Sequence[str], tasks: Sequence[SelectedTask], settings: Settings) -> None:
    """Write the answers of the models called NAMES into PATH; what is not evaluated yet is evaluated first."""
    from embedlab.workflows.compare_tasks import gather
    from embedlab.workflows.models import resolve_model
    from embedlab.workflows.notebook_session import NotebookSession

    session = NotebookSession(settings=settings)
    compared = gather(names, tasks, session, slicing=Slicing(), setting="literature").compared(Slicing())
    specs = [spec for name in names for spec in resolve_model(name, session).members]
    answers = {
        one.task: {spec.name: member_outcomes(one, spec, settings, None, lambda _: lambda *_: None, "literature") for spec in specs}
        for one in tasks
    }
    own = {item.name: getattr(compared, item.name) for item in fields(StoredComparison) if hasattr(compared, item.name)}
    facts = StoredComparison(
        **{**own, "models": tuple(compared.models), "notes": tuple(map(str, compared.notes)), "states": tuple(compared.states)},
        tasks={one.task: one.names for one in tasks},
        members={
            one.task: {spec.name: stored_member(one, spec, answers[one.task][spec.name], settings) for spec in specs} for one in tasks
        },
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(asdict(facts), default=sorted)
    pl.concat(items_of(answers), how="diagonal").write_parquet(path, compression="zstd", compression_level=19, metadata={FACTS: text})


def stored_member(task: SelectedTask, spec: ModelSpec, found: MemberOutcomes, settings: Settings) -> StoredMember:
    """Return what is stored of a member besides the items."""
    place = ScorePlace.of(spec, settings)
    path = place.evaluations / f"{task.stored_name()}.json"
    evaluation = Evaluation.load(path) if path.is_file() else None
    names = [item.name for item in fields(KnownOutcomes)]
    outcomes = {name: KnownOutcomes(**{key: getattr(own, key) for key in names}) for name, own in found.outcomes.items()}
    return StoredMember(
        outcomes=outcomes,
        scores=found.scores,
        evaluation=evaluation if evaluation is not None and evaluation.fingerprint == place.fingerprint else None,
        training=stored_training(spec),
    )


def items_of(answers: Mapping[str, Mapping[str, MemberOutcomes]]) -> Iterator[pl.DataFrame]:
    """Yield the items of each member and dataset, with the columns WHOSE; an empty frame first, for tasks without items."""
    yield pl.DataFrame(schema={**dict.fromkeys(WHOSE, pl.String), **ITEM_COLUMNS})
    for task, members in answers.items():
        for member, found in members.items():
            for name, own in found.outcomes.items():
                whose = dict(zip(WHOSE, (task, member, name), strict=True))
                yield own.items.select(*(pl.lit(value).alias(key) for key, value in whose.items()), pl.all())


def stored_comparison(path: Path) -> StoredComparison:
    """Return what is known of the models in the file at PATH."""
    return TypeAdapter(StoredComparison).validate_json(pl.read_parquet_metadata(path)[FACTS])


def compared_again(path: Path, names: Sequence[str] = ()) -> TaskComparison:
    """Return the comparison of the models called NAMES (none: all) in the file at PATH by the procedure of today."""
    from embedlab.analysis.comparison import compare_evidence

    stored = stored_comparison(path)
    known = {model.name: model for model in stored.models}
    if lacking := [name for name in names if name not in known]:
        raise SystemExit(f"{path}: no model {lacking[0]!r}; it has {', '.join(known)}")
    items, columns = pl.read_parquet(path), [known[name] for name in names or known]
    members = member_columns(columns)
    found = evidence_again(stored, items, members)
    slices = compare_evidence(found, columns, columns[0].name)
    others = tuple(f"{name}: " for name in known if name not in {model.name for model in columns})
    parts = {item.name: getattr(stored, item.name) for item in fields(StoredComparison) if item.name not in {"tasks", "members"}}
    parts |= {"models": tuple(columns), "notes": tuple(note for note in stored.notes if not note.startswith(others))}
    return TaskComparison(**parts, slices=slices)


def evidence_again(stored: StoredComparison, items: pl.DataFrame, members: Sequence[str]) -> list[Evidence]:
    """Return the evidence of the answers of MEMBERS to all ITEMS of a file."""
    found = []
    for task, own in stored.members.items():
        answers = {name: answers_of(task, name, one, items) for name, one in own.items() if name in members}
        found += item_evidence(SelectedTask(task=task, names=stored.tasks[task]), answers, members)
    return found


def answers_of(task: str, member: str, stored: StoredMember, items: pl.DataFrame) -> MemberOutcomes:
    """Return what a member answered to a task."""
    outcomes = {}
    for name, one in stored.outcomes.items():
        own = items.filter(**dict(zip(WHOSE, (task, member, name), strict=True))).drop(WHOSE)
        texts = [key for key in TEXT_COLUMNS if key in own.columns and not own[key].null_count()]
        outcomes[name] = StoredOutcomes(**vars(one), task=task, model=member, items=own.select(*ITEM_COLUMNS, *texts))
    return MemberOutcomes(outcomes=outcomes, scores=stored.scores, overlaps={}, marks=(), notes=())


def shown(path: Path, models: Sequence[str] = (), *, is_signed: bool, has_all_notes: bool) -> str:
    """Return the table of MODELS (none: all) of the file at PATH in Markdown."""
    from embedlab.reports.comparison_table import comparison_table

    return replace(comparison_table(compared_again(path, models)), is_signed=is_signed, has_all_notes=has_all_notes).to_markdown()


def refreshed(page: str, folder: Path) -> str:
    """Return a PAGE whose files are relative to FOLDER with each of its tables made again."""
    return table_pages.refreshed(page, "answers", folder, parser_of_tables(), shown_as)


def shown_as(arguments: argparse.Namespace) -> str:
    """Return the table that the ARGUMENTS of `show` describe, in Markdown."""
    return shown(arguments.file, arguments.models, is_signed=arguments.signature, has_all_notes=arguments.notes)


def parser_of_tables() -> argparse.ArgumentParser:
    """Return the parser of what describes one table."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("file", type=Path)
    parser.add_argument("models", nargs="*")
    parser.add_argument("--signature", action="store_true")
    parser.add_argument("--notes", action="store_true")
    return parser


def main() -> None:
    """Store, show or refresh."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    storing = commands.add_parser("store")
    storing.add_argument("file", type=Path)
    storing.add_argument("models", nargs="+")
    storing.add_argument("--task", action="append", required=True, help="a task, or TASK:DATASET for one of its datasets")
    storing.add_argument("--data", type=Path, required=True)
    storing.add_argument("--runs", type=Path)
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
        case "store":
            runs = {"runs": arguments.runs} if arguments.runs else {}
            settings = load_settings({"data": arguments.data, "allow_partial": True, "threads": 1, **runs})[0]
            chosen = [text.partition(":") for text in arguments.task]
            tasks = [SelectedTask(task=task, names=(name,) if name else ()) for task, _, name in chosen]
            store(arguments.file, with_aliases(arguments.models), tasks, settings)


if __name__ == "__main__":
    main()
