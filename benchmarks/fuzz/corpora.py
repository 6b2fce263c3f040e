"""Damaged corpora: every file of every layout that is there, mutated and read as `evaluate`,
`train` and `data check` read it.

    python benchmarks/fuzz/corpora.py --data DIR [--cases 4500] [--seed 21] [--write]

The first lines of each real file are mutated; a case is one file of one split, opened with partial
data allowed. What is accepted must have the columns of its kind.
"""

import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import polars as pl
from campaign import Case, arguments, generator, report, timed
from damage import MUTATIONS

from embedlab.data.dataset import COLUMNS, Dataset, FileLayout
from embedlab.data.probing import suite, suite_names
from embedlab.data.source import Source, all_datasets

LINES = 40  # of each file


def targets(folder: Path) -> Iterator[tuple[Dataset, str, FileLayout]]:
    """Every split in every layout whose files are in FOLDER."""
    own = [one for name in suite_names(folder)[1:] for one in suite(name, folder)]
    for dataset in (*all_datasets().values(), *own):
        for name, split in dataset.splits.items():
            for layout in split.layouts:
                if all((folder / file).is_file() for file in layout.files):
                    yield dataset, name, layout


def beginning(path: Path, split: str) -> bytes:
    """The first lines of a file, those of a probing file that belong to the SPLIT."""
    lines = path.read_bytes().splitlines(keepends=True)
    tag = {"train": b"tr\t", "dev": b"va\t", "test": b"te\t"}.get(split, b"")
    own = (
        [line for line in lines if line.startswith(tag)]
        if path.parent.name.startswith("probing")
        else lines
    )
    return b"".join(own[:LINES])


def case(
    number: int, seed: int, target: tuple[Dataset, str, FileLayout], folder: Path, place: Path
) -> Case:
    """One mutation of one file of a split."""
    rng = generator(seed, number)
    dataset, split, layout = target
    mutation = rng.choice(list(MUTATIONS))
    damaged = rng.choice(layout.files)

    def read() -> None:
        for file in layout.files:
            content = beginning(folder / file, split)
            (place / file).parent.mkdir(parents=True, exist_ok=True)
            (place / file).write_bytes(
                MUTATIONS[mutation](content, rng) if file == damaged else content
            )
        only = replace(
            dataset, splits={split: replace(dataset.splits[split], layouts=(layout,), hub=None)}
        )
        check(
            dataset,
            Source(folder=place, offline=True, allow_partial=True).open_split(only, split).frame,
        )

    return Case(target=dataset.kind, mutation=mutation, run=read)


def check(dataset: Dataset, frame: pl.DataFrame) -> None:
    """Refuse rows that a reader should not have given."""
    wanted = COLUMNS[dataset.kind]
    assert dict(frame.schema) == dict(wanted), frame.schema
    assert not frame.select(pl.exclude("source", "label")).null_count().sum_horizontal().sum(), (
        "nulls"
    )
    texts = pl.col([name for name, dtype in wanted.items() if dtype == pl.String])
    assert not frame.select(
        pl.any_horizontal(texts.str.contains("\0", literal=True)).any()
    ).item(), "a NUL"


def main() -> int:
    """Run the campaign."""
    options = arguments(__doc__ or "", 4_500)
    found = list(targets(options.data))
    with tempfile.TemporaryDirectory() as scratch:
        cases = [
            case(
                number,
                options.seed,
                found[number % len(found)],
                options.data,
                Path(scratch) / str(number % len(found)),
            )
            for number in range(options.cases)
        ]
        outcomes, seconds = timed(cases, limit_s=options.limit_s)
    notes = [
        f"{len(found)} splits in their layouts; the first {LINES} lines of each file; seed "
        f"{options.seed}"
    ]
    return report(
        "corpora", "Damaged corpora", outcomes, seconds=seconds, notes=notes, write=options.write
    )


if __name__ == "__main__":
    sys.exit(main())
