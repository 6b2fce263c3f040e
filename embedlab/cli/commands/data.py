"""`embedlab data`: which corpora are known, whether they are here and whole, and what they share."""

from collections.abc import Iterator
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from embedlab.cli import completion
from embedlab.cli.options import common, examples
from embedlab.cli.terminal import Terminal
from embedlab.core.errors import EmbedlabError, ExitCode, MissingError, UsageError
from embedlab.reports.notes import partial_notes, sample_note, with_marks

if TYPE_CHECKING:
    from embedlab.core.settings import Settings
    from embedlab.data.dataset import Dataset, DatasetState, Part
    from embedlab.data.source import Source

app = typer.Typer(name="data", help="See, check, compare and fetch corpora.", no_args_is_help=True)

DatasetNames = Annotated[
    list[str] | None, typer.Argument(metavar="[DATASET]...", help="All when absent.", autocompletion=completion.datasets)
]


@app.command(epilog=examples("embedlab data ls --data DIR", "embedlab data ls --json"))
@common("data", "output")
def ls(*, terminal: Terminal) -> None:
    """List the known datasets and where each split would come from; nothing is read."""
    from embedlab.data.source import datasets
    from embedlab.reports.tables import Column, Table

    rows = [
        {
            "dataset": found.name,
            "split": name,
            "kind": found.kind,
            "expected": split.expected.rows if split.expected else None,
            "from": _origin(found, name, terminal.settings),
            "summary": found.summary,
        }
        for found in datasets().values()
        for name, split in found.splits.items()
    ]
    titles = ("dataset", "split", "kind", "expected", "from", "summary")
    marks = ["sample"] if terminal.settings.sample else []
    notes = ["expected: rows of the published corpus; `embedlab data check` counts those that are here", *sample_note(marks)]
    notes += [] if terminal.settings.data or marks else ["no data folder is set: --data DIR or EMBEDLAB_DATA"]
    terminal.show(
        Table(title=with_marks("Datasets", marks), columns=tuple(Column(key=key, title=key) for key in titles), rows=rows, notes=notes)
    )


def _origin(dataset: "Dataset", split: str, settings: "Settings") -> str:
    if settings.sample:
        return "sample"
    from embedlab.data.get import is_in_folder

    found = dataset.splits[split]
    folder = dataset.folder or settings.data
    if folder is not None and is_in_folder(found, folder):
        return "folder"
    return "hub" if found.hub is not None and not settings.offline else "missing"


@app.command(epilog=examples("embedlab data check --data DIR", "embedlab data check snli sts12 --allow-partial --json"))
@common("data", "output")
def check(names: DatasetNames = None, *, terminal: Terminal) -> None:
    """Read datasets, or your own files of pairs, and compare datasets with the published corpora.

    All in the data folder when none is named. "whole" has the published counts and the published content; "counts right" has the
    counts, but a file with another hash, or one of which no hash is recorded. Ends with 3 when one is missing, truncated or damaged.
    """
    from embedlab.data.source import Source, datasets
    from embedlab.reports.tables import Column, Table

    wanted = {"folder", "sample"} | ({"hub", "missing"} if names else set())
    parts: list[tuple[str, str, Dataset | None, Source]] = []
    for name in names or [*datasets(), *_own_suites(terminal.settings)]:
        known = _known(name, Source.from_settings(terminal.settings))
        parts += [
            (found.name, split, found, source)
            for found, source in known
            for split in found.splits
            if _origin(found, split, replace(terminal.settings, data=source.folder)) in wanted
        ]
        parts += [] if known else [(name, "all", None, Source.from_settings(terminal.settings))]
    if not parts:
        raise MissingError("there is no dataset to check", hint="give the folder of the corpora with --data DIR, or name a dataset")
    rows = []
    with terminal.progress("checking") as tick:
        for done, part in enumerate(parts, start=1):
            rows.append(_checked(*part))
            tick(done, len(parts))
    titles = ("dataset", "split", "rows", "expected", "state", "skipped", "note")
    terminal.show(Table(title="Datasets checked", columns=tuple(Column(key=key, title=key) for key in titles), rows=rows))
    if any(row["state"] in {"unusable", "truncated", "odd"} for row in rows):
        raise typer.Exit(ExitCode.MISSING)


def _own_suites(settings: "Settings") -> list[str]:
    """The sets of probing files in the data folder: they have no place among the datasets."""
    from embedlab.data.probing import SENTEVAL, suite_names

    is_folder = settings.data is not None and settings.data.is_dir() and not settings.sample
    return [name for name in suite_names(settings.data if is_folder else None) if name != SENTEVAL]


def _known(name: str, source: "Source") -> "list[tuple[Dataset, Source]]":
    """The datasets that NAME stands for, each with the source it is opened in; none for a user's own file of pairs."""
    from embedlab.data.pair_file import is_pair_file
    from embedlab.data.probing import set_of, suite, suite_folder
    from embedlab.data.source import dataset

    if (own := set_of(name)) is not None:
        place = replace(source, folder=suite_folder(own, source.folder), sample=False)
        found = [one for one in suite(own, source.folder) if name in {own, one.name}]
        return [(one, place) for one in found] or [(dataset(name), source)]
    return [] if is_pair_file(name) else [(dataset(name), source)]


def _checked(name: str, split: str, found: "Dataset | None", source: "Source") -> dict[str, Any]:
    """What a split, or a user's own file where FOUND is None, holds; of a split, compared with the published corpus."""
    from embedlab.data.manifest import corpus_differences

    row: dict[str, Any] = {"dataset": name, "split": split}
    opener = replace(source, allow_partial=True)
    try:
        part = opener.open(name, split) if found is None else opener.open_split(found, split)
    except EmbedlabError as error:
        return row | {"state": "unusable", "note": error.message}
    state = part.state
    row |= {"rows": state.rows, "expected": state.expected_rows}
    expected = found.splits[split].expected if found is not None else None
    if state.partial and not source.allow_partial and found is not None and expected is not None:
        odd = "truncated" if state.rows < expected.rows else "odd"
        return row | {"state": odd, "note": f"{odd}: {', '.join(corpus_differences(found.kind, part.frame, expected))}"}
    skipped = ", ".join(f"{count} {reason}" for reason, count in state.skipped.items())
    return row | {"state": _state_name(state), "skipped": skipped, "note": "; ".join(_notes(state))}


def _state_name(state: "DatasetState") -> str:
    """What is known of a split in a word or two; "whole" is what has the published counts and content."""
    from embedlab.data.published import content_of

    if state.sample or state.partial:
        return "sample" if state.sample else "partial"
    if state.expected_rows is None:
        return "not counted"
    return "whole" if state.revision or content_of(state.sha256) == "published" else "counts right"


def _notes(state: "DatasetState") -> Iterator[str]:
    """What is to be known of a split: its revision, what differs from the published files, and its empty sentences."""
    from embedlab.data.published import content_of, remarks

    if state.revision:
        yield state.revision
    yield from (remark.removeprefix(f"{state.name} {state.split}: ") for remark in remarks(asdict(state)))
    if state.origin == "folder" and state.expected_rows is not None and not state.revision and content_of(state.sha256) == "unrecorded":
        yield "content unknown: no hash of the published file is recorded"


@app.command(
    epilog=examples("embedlab data overlaps snli sts12 --data DIR", "embedlab data overlaps sts-benchmark:train sts12 sts13 sts14 --json")
)
@common("data", "output")
def overlaps(
    training: Annotated[str, typer.Argument(metavar="TRAINING", help="A dataset, or dataset:split.", autocompletion=completion.datasets)],
    evaluations: Annotated[
        list[str], typer.Argument(metavar="EVALUATION...", help="Datasets, or dataset:split.", autocompletion=completion.datasets)
    ],
    *,
    terminal: Terminal,
) -> None:
    """Count the sentences and pairs of evaluation sets that a training set holds too, whatever their case and punctuation."""
    from embedlab.data.marks import data_marks
    from embedlab.data.overlaps import find_overlaps as count
    from embedlab.data.source import Source
    from embedlab.reports.tables import Column, Table

    source = Source.from_settings(terminal.settings)
    parts = [_open(source, name, "train" if number == 0 else None) for number, name in enumerate([training, *evaluations])]
    titles = ("training", "evaluation", "sentences", "shared_sentences", "pairs", "shared_pairs")
    columns = tuple(Column(key=key, title=key.replace("_", " ")) for key in titles)
    states = [part.state for part in parts]
    marks = data_marks(states)
    notes = [*sample_note(marks), *partial_notes(states)]
    terminal.show(Table(title=with_marks("Overlaps", marks), columns=columns, rows=count(parts[:1], parts[1:]).to_dicts(), notes=notes))


def _open(source: "Source", name: str, split: str | None) -> "Part":
    """The part that NAME or NAME:SPLIT stands for; SPLIT where the dataset has it and none is typed."""
    from embedlab.data.pair_file import is_pair_file
    from embedlab.data.source import dataset

    if is_pair_file(name):
        return source.open(name)
    base, _, typed = name.partition(":")
    return source.open(base, typed or (split if split in dataset(base).splits else None))


@app.command(epilog=examples("embedlab data get snli sts-benchmark --data DIR", "embedlab data get multinli --data corpora"))
@common("data", "output")
def get(names: DatasetNames = None, *, terminal: Terminal) -> None:
    """Fill the data folder from the hub, on a machine that has a network; what is there already stays."""
    from embedlab.data.get import get_dataset, is_fetchable
    from embedlab.data.source import dataset, datasets

    folder = terminal.settings.data
    if folder is None:
        raise UsageError("no data folder is set", hint="name the folder to fill: --data DIR")
    written: list[str] = []
    for found in [dataset(name) for name in names] if names else [known for known in datasets().values() if is_fetchable(known)]:
        terminal.note(f"getting {found.name}")
        for path in get_dataset(found, folder, offline=terminal.settings.offline):
            written.append(str(path))
            if terminal.settings.format != "json":
                terminal.write(str(path))
    terminal.done(f"{len(written)} files written", folder=str(folder), files=written)
