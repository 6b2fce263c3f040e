"""`embedlab data`: see, check, compare and fetch corpora."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

from embedlab.commands.command import command
from embedlab.commands.options import Flag
from embedlab.commands.terminal import Terminal
from embedlab.core.errors import EmbedlabError, MissingError, UsageError
from embedlab.core.nearest import unknown_name_error
from embedlab.core.paths import TINY_FOLDER, typed_path
from embedlab.core.printable import count_text
from embedlab.core.session import Session
from embedlab.core.settings import Settings
from embedlab.reports.report import Report
from embedlab.reports.tables import ABSENT, Column, Table, TableCell, attributes, columns_of

if TYPE_CHECKING:
    import polars as pl

    from embedlab.analysis.own_audit import AuditFinding
    from embedlab.data.dataset import Dataset, DatasetState, ListedSplit, Part
    from embedlab.data.source import Source
    from embedlab.tasks.task import GoldItems


_SENTENCES = ("sentence", "sentence1", "sentence2")


WAYS_OUT = {
    "unusable": "unusable: correct or remove damaged files; `embedlab data get DATASET --data DIR` "
    "gets missing ones, with a network",
    "truncated": "truncated: get the whole corpus, or --allow-partial, which marks every number made "
    "from it",
}


@dataclass(frozen=True, kw_only=True)
class DatasetsOptions:
    """Datasets, or all of them."""

    names: Annotated[
        Sequence[str],
        Flag(
            is_argument=True,
            metavar="[DATASET]...",
            help="All of them without a name.",
            completes="datasets",
        ),
    ] = ()


@dataclass(frozen=True, kw_only=True)
class ItemsOptions:
    """Datasets of classified items."""

    names: Annotated[
        Sequence[str],
        Flag(
            metavar="DATASET...",
            help="Datasets of transfer, probing, glue or multitask.",
            completes="datasets",
        ),
    ]


@dataclass(frozen=True, kw_only=True)
class ListedOptions(DatasetsOptions):
    """What is listed of datasets."""

    items: Annotated[
        bool,
        Flag(
            help="List the items of these datasets of transfer, probing, glue or multitask, with "
            "the numbers that a file of predictions (items:FILE) uses.",
        ),
    ] = False
    selections: Annotated[
        bool,
        Flag(
            help="List the selections that `embedlab pairs --name` stored, for @NAME in a filter.",
        ),
    ] = False
    remove: Annotated[
        Sequence[str],
        Flag(
            metavar="NAME",
            help="Remove the selection of this name; again for more.",
        ),
    ] = ()


@dataclass(frozen=True, kw_only=True)
class OverlapsOptions:
    """A training set, and the evaluation sets that may share text with it."""

    training: Annotated[
        str, Flag(metavar="TRAINING", help="A dataset, or dataset:split.", completes="datasets")
    ]
    evaluations: Annotated[
        Sequence[str],
        Flag(metavar="EVALUATION...", help="Datasets, or dataset:split.", completes="datasets"),
    ]


@command("data output", also=("list",))
def ls(options: ListedOptions, session: Session) -> Report:
    """List all known datasets, or the named ones, and where each split would come from; nothing is
    read.

    Examples:
        $ embedlab data ls --data DIR
        $ embedlab data ls --json
        $ embedlab data ls 'hub:OWNER/NAME?split=test'
        $ embedlab data ls trec --items --data DIR --format csv > trec.csv
        $ embedlab data ls --selections --remove negated

    """
    import polars as pl

    from embedlab.reports.notes import generated_note, with_marks

    settings = session.settings
    if options.selections or options.remove:
        return _selections(options)
    if options.items:
        if not options.names:
            raise UsageError(
                "--items needs a dataset", hint="embedlab data ls trec --items --data DIR"
            )
        return items(ItemsOptions(names=options.names), session)
    splits = [*map(vars, list_splits(options.names, settings))]
    frame = pl.DataFrame(splits, infer_schema_length=None).rename({"origin": "from"})
    expected = pl.col("expected").cast(pl.String).fill_null(ABSENT)
    datasets = frame.group_by("dataset", maintain_order=True).agg(
        pl.col("split", "from").str.join("\n"),
        expected.str.join("\n"),
        pl.col("kind", "summary").first(),
    )
    rows = [
        {key: TableCell(text, text) for key, text in row.items()} for row in datasets.to_dicts()
    ]
    columns = columns_of(
        "dataset [key]", "split", "expected >", "from", "kind [minor]", "summary [text]"
    )
    marks = ["generated"] * (settings.data == TINY_FOLDER)
    notes = [
        "expected: rows of the published corpus; `embedlab data check` counts those that are found",
        *generated_note(marks),
    ]
    if settings.data is None:
        notes.append(
            "no data folder is set: --data DIR or EMBEDLAB_DATA; --data starter is inside embedlab"
        )
    return Report.of(Table(with_marks("Datasets", marks), columns, rows, notes, frame))


@command("data output")
def check(options: DatasetsOptions, session: Session) -> Report:
    """Read datasets, your own files and folders or hub:OWNER/NAME, and compare datasets with the
    published corpora.

    Your own rows are audited, also split against split: duplicates, near duplicates, contradictory
    gold, scores out of scale, labels and ids that only one side has, and text of the test in train.

    Without a name it checks all datasets in the data folder. "whole" means the published counts and
    the published content; "counts right" means the published counts, and a file with another hash
    or without a recorded one. The exit code is 3 if a dataset is missing, truncated or damaged.

    Examples:
        $ embedlab data check --data DIR
        $ embedlab data check snli sts12 --allow-partial --json
        $ embedlab data check ./my-folder

    """
    from embedlab.data.file_name import is_hub_name

    splits = list(_splits_to_check(options.names, session.settings))
    if not splits:
        folder = session.settings.data
        raise MissingError(
            "no data folder is set, and no dataset is named"
            if folder is None
            else f"no known corpus in {str(folder)!r}",
            hint="give the folder of the corpora with --data DIR, or name a dataset; --data starter "
            "is inside embedlab",
        )
    checked: list[CheckedSplit] = []
    with session.progress("checking") as progress:
        for index, (name, split, definition, source) in enumerate(splits, start=1):
            is_own_file = definition is None and not is_hub_name(name)
            checked += (
                _own_rows(name, source)
                if is_own_file
                else [_check_split(name, split, definition, source)]
            )
            progress(index, len(splits))
    columns = columns_of(
        *("dataset [key]", "split [key]", "rows", "expected", "state", "skipped [text]"),
        "note [text]",
    )
    is_whole = not any(row["state"] in _UNUSABLE for row in checked)
    published = {definition.name for _, _, definition, _ in splits if definition is not None}
    states = {row["state"] for row in checked if row["dataset"] in published}
    notes = [way for state, way in WAYS_OUT.items() if state in states]
    table = Table("Datasets checked", columns, checked, notes)
    return Report.of(table, is_whole=is_whole)


@command("data output")
def overlaps(options: OverlapsOptions, session: Session) -> Report:
    """Count the sentences and pairs that evaluation sets share with a training set, ignoring case
    and punctuation.

    Examples:
        $ embedlab data overlaps snli sts12 --data DIR
        $ embedlab data overlaps sts-benchmark:train sts12 sts13 sts14 --json

    """
    from embedlab.data.overlaps import find_overlaps
    from embedlab.data.published import canonical_name
    from embedlab.data.source import Source

    source = Source.from_settings(session.settings)
    data_parts = [
        _open(source, name, "train" if number == 0 else None)
        for number, name in enumerate(map(canonical_name, [options.training, *options.evaluations]))
    ]
    columns = columns_of(
        "training",
        "evaluation",
        "sentences",
        "shared_sentences = shared sentences",
        "pairs",
        "shared_pairs = shared pairs",
    )
    frame = find_overlaps(data_parts[:1], data_parts[1:])
    return _report("Overlaps", columns, frame, [data_part.state for data_part in data_parts])


def _report(
    title: str, columns: Sequence[Column], frame: pl.DataFrame, states: Sequence[DatasetState]
) -> Report:
    """The report of a FRAME of data in STATES, whose marks and remarks it has."""
    from embedlab.data.marks import data_marks
    from embedlab.reports.notes import generated_note, partial_notes, with_marks

    marks = data_marks(states)
    notes = [*generated_note(marks), *partial_notes(states)]
    table = Table(with_marks(title, marks), columns, frame.to_dicts(), notes)
    return Report.of(table, frame=frame)


@command("data output")
def get(options: DatasetsOptions, session: Terminal) -> None:
    """Download corpora from the hub into the data folder; existing ones stay.

    Examples:
        $ embedlab data get snli sts-benchmark --data DIR
        $ embedlab data get multinli --data corpora

    """
    from embedlab.data.manifest import get_dataset, is_fetchable
    from embedlab.data.published import canonical_names
    from embedlab.data.source import all_datasets, dataset, is_starter

    folder = session.settings.data
    if folder is None or is_starter(folder):
        message = (
            "no data folder is set" if folder is None else "nothing is fetched into the starter set"
        )
        raise UsageError(message, hint="name the folder for the corpora: --data DIR")
    written: list[str] = []
    for definition in (
        [dataset(name) for name in canonical_names(options.names)]
        if options.names
        else [
            dataset_definition
            for dataset_definition in all_datasets().values()
            if is_fetchable(dataset_definition)
        ]
    ):
        session.note(f"getting {definition.name}")
        for path in get_dataset(definition, folder, offline=session.settings.offline):
            written.append(str(path))
            if session.settings.format != "json":
                session.write(str(path))
    session.done(f"{count_text(len(written), 'files')} written", folder=str(folder), files=written)


def items(options: ItemsOptions, session: Session) -> Report:
    """The scored items of datasets, by the numbers with which a file of predictions names them; the
    frame has a row an item.
    """
    import polars as pl

    from embedlab.data.source import Source
    from embedlab.tasks.task import all_tasks

    source = Source.from_settings(session.settings)
    tasks = {name: task for task in all_tasks() for name in task.item_datasets}
    for name in options.names:
        if name not in tasks:
            raise unknown_name_error("dataset of classified items", name, list(tasks))
    gold = [
        gold_items
        for name in dict.fromkeys(options.names)
        for gold_items in tasks[name].items(source, [name])
    ]
    frame = pl.concat(map(_frame, gold), how="diagonal")
    columns = [
        Column(key, key, "sentence" if key.startswith("sentence") else None)
        for key in frame.columns
    ]
    return _report("Items", columns, frame, [gold_items.part.state for gold_items in gold])


def _frame(gold: GoldItems) -> pl.DataFrame:
    import polars as pl

    count, frame = len(gold.labels), gold.part.frame
    columns = {
        "dataset": [gold.name] * count,
        "item": range(count),
        "split": [gold.part.state.split] * count,
        "label": gold.labels,
    }
    texts = {name: frame[name] for name in _SENTENCES if name in frame.columns}
    return pl.DataFrame({**columns, **texts})


def _selections(options: ListedOptions) -> Report:
    from embedlab.analysis.named_selections import named_selections, store_selection

    for name in options.remove:
        if name not in named_selections():
            listing = "`embedlab data ls --selections` lists all"
            raise unknown_name_error("selection", name, named_selections(), listing=listing)
        store_selection(name, "")
    rows = [
        {"name": f"@{name}", "expression": expression}
        for name, expression in named_selections().items()
    ]
    return Report.of(Table("Named selections", columns_of("name [key]", "expression"), rows))


CheckedSplit = dict[str, Any]
"""What a split, or a user's own file, holds: its dataset, split, rows, expected rows, state, what
was skipped and a note.

The state is "whole", "counts right", "not counted", "partial" or "generated", or one of _UNUSABLE;
of a user's own rows also what is wrong with some of them.
"""

_UNUSABLE = {"unusable", "truncated", "odd"}


def list_splits(names: Sequence[str], settings: Settings) -> list[ListedSplit]:
    """Return every split of the datasets called NAMES, all known ones where none is named; nothing
    is read.
    """
    from embedlab.data.dataset import ListedSplit
    from embedlab.data.file_name import is_pair_file
    from embedlab.data.published import canonical_names
    from embedlab.data.source import all_datasets, dataset

    listed_splits = []
    for name in canonical_names(names) or all_datasets():
        if is_pair_file(name):
            listed_splits.append(_own_pairs(name))
            continue
        definition = dataset(name)
        for split, dataset_split in definition.splits.items():
            listed_splits.append(
                ListedSplit(
                    dataset=definition.name,
                    split=split,
                    kind=definition.kind,
                    expected=dataset_split.expected.rows if dataset_split.expected else None,
                    origin=_origin(definition, split, settings),
                    summary=definition.summary,
                )
            )
    return listed_splits


def _own_pairs(name: str) -> ListedSplit:
    """Return the row of a user's own file of pairs, or of pairs on the hub, whose name is
    checked.
    """
    from embedlab.data.dataset import ListedSplit
    from embedlab.data.file_name import file_path, is_hub_name
    from embedlab.data.hub_pairs import parse_hub_name
    from embedlab.data.own_columns import PAIRS, TRIPLETS, own_data

    kind, origin, summary = "sts", "file", "scored pairs of your own"
    if is_hub_name(name):
        hub, _ = parse_hub_name(name)
        hub_place = f"{hub.repository}, {hub.split}{f' of {hub.config}' if hub.config else ''}"
        origin, summary = "hub", f"scored pairs of {hub_place}"
    elif not file_path(name).is_file():
        origin, summary = "missing", "pairs of your own"
    else:
        with suppress(EmbedlabError, OSError):  # `data check` says why it cannot be read
            data = own_data(name)
            kind = {PAIRS.title: "pairs", TRIPLETS.title: "triplets"}.get(data.kind.title, "sts")
            summary = f"{data.kind.title} of your own"
    return ListedSplit(
        dataset=name, split="all", kind=kind, expected=None, origin=origin, summary=summary
    )


def _splits_to_check(
    names: Sequence[str], settings: Settings
) -> Iterator[tuple[str, str, Dataset | None, Source]]:
    """What is to be checked: each split with its dataset and its source, a user's own file without
    a dataset.
    """
    from embedlab.data.published import canonical_names
    from embedlab.data.source import Source, all_datasets, is_starter

    origins = {"folder", "tiny"} | (
        {"starter", "hub", "missing"}
        if names
        else {"starter"}
        if is_starter(settings.data)
        else set()
    )
    source = Source.from_settings(settings)
    for name in canonical_names(names) or [*all_datasets(), *_own_suites(settings)]:
        datasets = _named_datasets(name, source)
        for definition, data_source in datasets:
            source_settings = replace(settings, data=data_source.folder)
            yield from (
                (definition.name, split, definition, data_source)
                for split in definition.splits
                if _origin(definition, split, source_settings) in origins
            )
        if not datasets:
            yield name, "all", None, source


def _origin(dataset: Dataset, split: str, settings: Settings) -> str:
    """Where a split would come from."""
    from embedlab.data.manifest import is_in_folder
    from embedlab.data.source import is_starter

    if settings.data == TINY_FOLDER:
        return "tiny"
    definition = dataset.splits[split]
    folder = dataset.folder or settings.data
    if folder is not None and is_in_folder(definition, folder):
        return "starter" if is_starter(folder) else "folder"
    return "hub" if definition.hub is not None and not settings.offline else "missing"


def _own_suites(settings: Settings) -> list[str]:
    """The sets of probing files in the data folder: they have no place among the datasets."""
    from embedlab.data.probing import SENTEVAL, suite_names

    is_folder = settings.data is not None and settings.data.is_dir()
    return [name for name in suite_names(settings.data if is_folder else None) if name != SENTEVAL]


def _named_datasets(name: str, source: Source) -> list[tuple[Dataset, Source]]:
    """The datasets that NAME names, each with the source it is opened in; none for a user's own
    file of pairs.
    """
    from embedlab.core import plugins
    from embedlab.data.file_name import is_pair_file, is_query_folder, is_row_file
    from embedlab.data.probing import set_of, suite, suite_folder
    from embedlab.data.published import canonical_name
    from embedlab.data.source import dataset

    if (suite_name := set_of(name)) is not None:
        suite_source = replace(source, folder=suite_folder(suite_name, source.folder))
        datasets = [
            definition
            for definition in suite(suite_name, source.folder)
            if name in {suite_name, definition.name}
        ]
        return [(definition, suite_source) for definition in datasets] or [(dataset(name), source)]
    is_own_file = is_pair_file(name) or is_row_file(name)
    if not is_own_file and plugins.find("datasets", canonical_name(name)) is None:
        is_own_file = is_query_folder(name) or typed_path(name).exists()
    return [] if is_own_file else [(dataset(name), source)]


def _check_split(name: str, split: str, definition: Dataset | None, source: Source) -> CheckedSplit:
    """What a split, or a user's own file where DEFINITION is None, holds; of a split, compared with
    the published corpus.
    """
    from embedlab.data.manifest import corpus_differences

    opener = replace(source, allow_partial=True)
    row: CheckedSplit = {"dataset": name, "split": split}
    try:
        data_part = (
            _open(opener, name, split)
            if definition is None
            else opener.open_split(definition, split)
        )
    except EmbedlabError as error:
        advice = f"; {error.hint}" * (definition is None and bool(error.hint))
        return row | {"state": "unusable", "note": f"{error.message}{advice}"}
    state, frame = data_part.state, data_part.frame
    row |= {"state": _state_name(state), "rows": state.rows, "expected": state.expected_rows}
    expected = definition.splits[split].expected if definition is not None else None
    is_refused = state.partial and not (state.origin == "starter" or source.allow_partial)
    if is_refused and definition is not None and expected is not None:
        state_name = "truncated" if state.rows < expected.rows else "odd"
        differences = ", ".join(corpus_differences(definition.kind, frame, expected))
        return row | {"state": state_name, "note": f"{state_name}: {differences}"}
    skipped = ", ".join(f"{count} {reason}" for reason, count in state.skipped.items())
    return row | {"skipped": skipped, "note": "; ".join([*_notes(state), *_sources(frame)])}


def _own_rows(name: str, source: Source) -> Iterator[CheckedSplit]:
    """Yield what each split of a user's own file or folder holds, then what is wrong in them."""
    from embedlab.analysis.own_audit import findings_of, own_splits, query_findings
    from embedlab.data.file_name import PREFIX, file_part, is_query_folder
    from embedlab.data.own_columns import SENTENCES, own_data
    from embedlab.data.queries import QRELS, open_query_folder

    try:
        if is_query_folder(name):
            folder = file_part(name)
            files = typed_path(folder.removeprefix(PREFIX)).glob(f"{QRELS}/*")
            names = {file.stem: f"{folder}?split={file.stem}" for file in files}
            yield from (_check_split(names[split], split, None, source) for split in sorted(names))
            texts = {split: open_query_folder(names[split]).texts for split in sorted(names)}
            findings: list[AuditFinding] = [*query_findings(texts)]
        else:
            splits = own_splits(name)
            for split in splits:
                row = _check_split(split.name, split.split, None, source)
                data = own_data(split.name)
                if data.kind == SENTENCES and row["state"] in _UNUSABLE:
                    note = "; ".join(["sentences", *data.doubts])
                    row |= {"state": "not counted", "rows": split.rows.height, "note": note}
                yield row | ({} if len(splits) > 1 else {"split": "all"})
            findings = [*findings_of(splits)]
    except EmbedlabError as error:
        note = f"{error.message}; {error.hint}"
        yield {"dataset": name, "split": "all", "state": "unusable", "note": note}
        return
    for finding in findings:
        yield {"dataset": name, "state": finding.check, **attributes(finding, "split rows note")}


def _sources(frame: pl.DataFrame) -> Iterator[str]:
    """What the sources of pairs are, where there are several, and how many pairs each has."""
    if "source" in frame.columns:
        counts = frame.drop_nulls("source").group_by("source", maintain_order=True).len()
        if counts.height > 1:
            yield f"sources: {', '.join(f'{name} {pairs}' for name, pairs in counts.rows())}"


def _state_name(state: DatasetState) -> str:
    """What is known of a split in a word or two; "whole" is what has the published counts and
    content.
    """
    from embedlab.data.published import content_of

    if state.origin == "tiny" or state.partial:
        return "partial" if state.partial else "generated"
    if state.expected_rows is None:
        return "not counted"
    return "whole" if state.revision or content_of(state.sha256) == "published" else "counts right"


def _notes(state: DatasetState) -> Iterator[str]:
    """What is to be known of a split: its revision, what differs from the published files, and its
    empty sentences.
    """
    from embedlab.data.published import content_of, state_remarks

    if state.revision:
        yield state.revision
    yield from state_remarks(asdict(state), is_named=False)
    if (
        state.origin == "folder"
        and state.expected_rows is not None
        and not state.revision
        and content_of(state.sha256) == "unrecorded"
    ):
        yield "content unknown: no hash of the published file is recorded"


def _open(source: Source, name: str, split: str | None) -> Part:
    """The part that NAME or NAME:SPLIT names; SPLIT where the dataset has it and none is typed."""
    from embedlab.data.file_name import is_hub_name, is_pair_file, is_query_folder
    from embedlab.data.own_files import open_evaluated_file
    from embedlab.data.source import dataset

    if is_pair_file(name) or is_query_folder(name):
        return source.open(name) if is_hub_name(name) else open_evaluated_file(name)
    base, _, typed_split = name.partition(":")
    return source.open(base, typed_split or (split if split in dataset(base).splits else None))
