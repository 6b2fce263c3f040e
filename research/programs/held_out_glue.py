"""A folder of GLUE tasks whose validation split is a part of their train split, for choices that
must not see the real one.

    python research/programs/held_out_glue.py FOLDER CoLA MRPC RTE SST-2 --data DIR [--seed 0]

In FOLDER/GLUE/TASK, `dev.tsv` has a fifth of the rows of the real `train.tsv` but at most 1,000,
drawn by the seed, and `train.tsv` the others, both in their order and to the byte. A run that was
trained with `--data FOLDER` is scored on the drawn rows by `embedlab evaluate RUN --task glue
--data FOLDER`, and on the real validation split by the same with `--data DIR`.
"""

import argparse
import io
from collections.abc import Sequence
from pathlib import Path

import numpy as np

SHARE, LIMIT = 5, 1000  # one row of so many, and at most that many
WITHOUT_HEADER = ("CoLA",)


def split_rows(lines: Sequence[bytes], seed: int) -> tuple[list[bytes], list[bytes]]:
    """Return the LINES that are left, and those that are drawn by SEED, both in their order."""
    drawn = set(
        np.random.default_rng(seed)
        .choice(len(lines), min(len(lines) // SHARE, LIMIT), replace=False)
        .tolist()
    )
    return [line for number, line in enumerate(lines) if number not in drawn], [
        lines[number] for number in sorted(drawn)
    ]


def hold_out(data: Path, folder: Path, task: str, seed: int) -> tuple[int, int]:
    """Write the two files of TASK into FOLDER; return how many rows each has."""
    with io.BytesIO((data / "GLUE" / task / "train.tsv").read_bytes()) as file:
        lines = file.readlines()  # at \n alone: a text may have a \r or another end of line inside
    header = [] if task in WITHOUT_HEADER else lines[:1]
    parts = split_rows(lines[len(header) :], seed)
    place = folder / "GLUE" / task
    place.mkdir(parents=True, exist_ok=True)
    for name, rows in zip(("train.tsv", "dev.tsv"), parts, strict=True):
        (place / name).write_bytes(b"".join([*header, *rows]))
    return len(parts[0]), len(parts[1])


def main() -> None:
    """Hold out rows of the tasks that the command names."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("tasks", nargs="+", help="folders of GLUE")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    for task in arguments.tasks:
        left, drawn = hold_out(arguments.data, arguments.folder, task, arguments.seed)
        print(f"{task}: {left} rows to train on, {drawn} held out")


if __name__ == "__main__":
    main()
