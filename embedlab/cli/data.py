"""`embedlab data`: which corpora are known, whether they are here and whole, and what they share."""

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from embedlab.cli import completion
from embedlab.cli.notes import marked, partial_notes, sample_note
from embedlab.cli.options import common, examples
from embedlab.cli.output import Terminal
from embedlab.errors import EmbedlabError, ExitCode, MissingError, UsageError

if TYPE_CHECKING:
    from embedlab.data.dataset import Dataset, Part
    from embedlab.data.source import Source
    from embedlab.settings import Settings

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
        Table(title=marked("Datasets", marks), columns=tuple(Column(key=key, title=key) for key in titles), rows=rows, notes=notes)
    )


def _origin(dataset: "Dataset", split: str, settings: "Settings") -> str:
    if settings.sample:
        return "sample"
    from embedlab.data.get import is_here

    found = dataset.splits[split]
    if settings.data is not None and is_here(found, settings.data):
        return "folder"
    return "hub" if found.hub is not None and not settings.offline else "missing"


@app.command(epilog=examples("embedlab data check --data DIR", "embedlab data check snli sts12 --allow-partial --json"))
@common("data", "output")
def check(names: DatasetNames = None, *, terminal: Terminal) -> None:
    """Read datasets, or your own files of pairs, and compare datasets with the published corpora.

    All that lie in the data folder when none is named. Ends with 3 when one is missing, truncated or damaged.
    """
    from embedlab.data.pair_file import is_pair_file
    from embedlab.data.source import Source, dataset, datasets
    from embedlab.reports.tables import Column, Table

    source = Source.from_settings(terminal.settings)
    wanted = {"folder", "sample"} | ({"hub", "missing"} if names else set())
    parts: list[tuple[str, str]] = []
    for name in names or datasets():
        splits = () if is_pair_file(name) else dataset(name).splits
        there = [split for split in splits if _origin(dataset(name), split, terminal.settings) in wanted]
        parts += [(name, split) for split in (there if splits else ["all"])]
    if not parts:
        raise MissingError("there is no dataset to check", hint="give the folder of the corpora with --data DIR, or name a dataset")
    rows = []
    with terminal.progress("checking") as tick:
        for done, part in enumerate(parts, start=1):
            rows.append(_checked(source, *part))
            tick(done, len(parts))
    titles = ("dataset", "split", "rows", "expected", "state", "skipped", "note")
    terminal.show(Table(title="Datasets checked", columns=tuple(Column(key=key, title=key) for key in titles), rows=rows))
    if any(row["state"] in {"unusable", "truncated", "odd"} for row in rows):
        raise typer.Exit(ExitCode.MISSING)


def _checked(source: "Source", name: str, split: str) -> dict[str, Any]:
    """What a split, or a user's own file, holds; of a split, compared with the published corpus."""
    from embedlab.data.manifest import differences
    from embedlab.data.source import dataset

    row: dict[str, Any] = {"dataset": name, "split": split}
    try:
        part = replace(source, allow_partial=True).open(name, split)
    except EmbedlabError as error:
        return row | {"state": "unusable", "note": error.message}
    state = part.state
    row |= {"rows": state.rows, "expected": state.expected_rows}
    if state.partial and not source.allow_partial and (expected := dataset(name).splits[split].expected) is not None:
        odd = "truncated" if state.rows < expected.rows else "odd"
        return row | {"state": odd, "note": f"{odd}: {', '.join(differences(dataset(name).kind, part.frame, expected))}"}
    kind = "sample" if state.sample else "partial" if state.partial else "whole" if state.expected_rows is not None else "not counted"
    skipped = ", ".join(f"{count} {reason}" for reason, count in state.skipped.items())
    return row | {"state": kind, "skipped": skipped, "note": state.revision or ""}


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
    from embedlab.data.overlaps import overlaps as count
    from embedlab.data.source import Source
    from embedlab.reports.tables import Column, Table
    from embedlab.tasks.marks import evaluation_marks

    source = Source.from_settings(terminal.settings)
    parts = [_open(source, name, "train" if number == 0 else None) for number, name in enumerate([training, *evaluations])]
    titles = ("training", "evaluation", "sentences", "shared_sentences", "pairs", "shared_pairs")
    columns = tuple(Column(key=key, title=key.replace("_", " ")) for key in titles)
    states = [part.state for part in parts]
    marks = evaluation_marks(states)
    notes = [*sample_note(marks), *partial_notes(states)]
    terminal.show(Table(title=marked("Overlaps", marks), columns=columns, rows=count(parts[:1], parts[1:]).to_dicts(), notes=notes))


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
