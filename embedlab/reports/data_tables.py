"""The table of the known datasets."""

from collections.abc import Sequence

import polars as pl

from embedlab.data.dataset import ListedSplit
from embedlab.reports.notes import generated_note, with_marks
from embedlab.reports.tables import ABSENT, Table, TableCell, columns_of

_COLUMNS = [
    *columns_of(("dataset", "split"), roles={"dataset": "key"}),
    *columns_of(["expected"], align="right"),
    *columns_of(("from", "kind", "summary"), roles={"kind": "minor", "summary": "text"}),
]


def datasets_table(splits: Sequence[ListedSplit], *, is_generated: bool, has_folder: bool) -> Table:
    """Return one row a dataset, a line a split in it, for people, and one row a split for
    machines.
    """
    by_dataset: dict[str, list[ListedSplit]] = {}
    for split in splits:
        by_dataset.setdefault(split.dataset, []).append(split)
    marks = ["generated"] if is_generated else []
    notes = [
        "expected: rows of the published corpus; `embedlab data check` counts those that are found",
        *generated_note(marks),
    ]
    notes += (
        []
        if has_folder
        else [
            "no data folder is set: --data DIR or EMBEDLAB_DATA; --data starter is inside embedlab"
        ]
    )
    return Table(
        title=with_marks("Datasets", marks),
        columns=_COLUMNS,
        rows=[_row(name, splits) for name, splits in by_dataset.items()],
        frame=_frame(splits),
        notes=notes,
    )


def _row(name: str, splits: Sequence[ListedSplit]) -> dict[str, TableCell]:
    lines = {
        "split": [split.split for split in splits],
        "expected": [ABSENT if split.expected is None else str(split.expected) for split in splits],
        "from": [split.origin for split in splits],
    }
    shared = {"dataset": name, "kind": splits[0].kind, "summary": splits[0].summary}
    texts = shared | {key: "\n".join(line) for key, line in lines.items()}
    return {key: TableCell(value=text, text=text) for key, text in texts.items()}


def _frame(splits: Sequence[ListedSplit]) -> pl.DataFrame:
    rows = [
        {
            "dataset": split.dataset,
            "split": split.split,
            "kind": split.kind,
            "expected": split.expected,
            "from": split.origin,
            "summary": split.summary,
        }
        for split in splits
    ]
    return pl.DataFrame(rows, infer_schema_length=None)
