"""The table of the known datasets."""

from collections.abc import Sequence

import polars as pl

from embedlab.data.dataset import ListedSplit
from embedlab.reports.notes import generated_note, with_marks
from embedlab.reports.tables import ABSENT, Table, TableCell, columns_of

_COLUMNS = columns_of(
    "dataset [key]", "split", "expected >", "from", "kind [minor]", "summary [text]"
)


def datasets_table(splits: Sequence[ListedSplit], *, is_generated: bool, has_folder: bool) -> Table:
    """Return one row a dataset, a line a split in it, for people, and one row a split for
    machines.
    """
    frame = pl.DataFrame([*map(vars, splits)], infer_schema_length=None).rename({"origin": "from"})
    expected = pl.col("expected").cast(pl.String).fill_null(ABSENT)
    datasets = frame.group_by("dataset", maintain_order=True).agg(
        pl.col("split", "from").str.join("\n"),
        expected.str.join("\n"),
        pl.col("kind", "summary").first(),
    )
    rows = [
        {key: TableCell(text, text) for key, text in row.items()} for row in datasets.to_dicts()
    ]
    marks = ["generated"] * is_generated
    notes = [
        "expected: rows of the published corpus; `embedlab data check` counts those that are found",
        *generated_note(marks),
    ]
    if not has_folder:
        notes.append(
            "no data folder is set: --data DIR or EMBEDLAB_DATA; --data starter is inside embedlab"
        )
    return Table(with_marks("Datasets", marks), _COLUMNS, rows, notes, frame)
