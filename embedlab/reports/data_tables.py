"""The table of the known datasets."""

from collections.abc import Sequence

import polars as pl

from embedlab.data.dataset import ListedSplit
from embedlab.reports.notes import sample_note, with_marks
from embedlab.reports.tables import ABSENT, Column, Table, TableCell

_COLUMNS = (
    Column(key="dataset", title="dataset", role="key"),
    Column(key="split", title="split"),
    Column(key="expected", title="expected", align="right"),
    Column(key="from", title="from"),
    Column(key="kind", title="kind", role="minor"),
    Column(key="summary", title="summary", role="text"),
)


def datasets_table(splits: Sequence[ListedSplit], *, is_sample: bool, has_folder: bool) -> Table:
    """Return one row a dataset, a line a split in it, for people, and one row a split for machines."""
    by_dataset: dict[str, list[ListedSplit]] = {}
    for one in splits:
        by_dataset.setdefault(one.dataset, []).append(one)
    marks = ["sample"] if is_sample else []
    notes = ["expected: rows of the published corpus; `embedlab data check` counts those that are found", *sample_note(marks)]
    notes += [] if has_folder or is_sample else ["no data folder is set: --data DIR or EMBEDLAB_DATA; --data starter is inside embedlab"]
    return Table(
        title=with_marks("Datasets", marks),
        columns=_COLUMNS,
        rows=[_row(name, own) for name, own in by_dataset.items()],
        frame=_frame(splits),
        notes=notes,
    )


def _row(name: str, splits: Sequence[ListedSplit]) -> dict[str, TableCell]:
    lines = {
        "split": [one.split for one in splits],
        "expected": [ABSENT if one.expected is None else str(one.expected) for one in splits],
        "from": [one.origin for one in splits],
    }
    shared = {"dataset": name, "kind": splits[0].kind, "summary": splits[0].summary}
    texts = shared | {key: "\n".join(own) for key, own in lines.items()}
    return {key: TableCell(value=text, text=text) for key, text in texts.items()}


def _frame(splits: Sequence[ListedSplit]) -> pl.DataFrame:
    rows = [
        {
            "dataset": one.dataset,
            "split": one.split,
            "kind": one.kind,
            "expected": one.expected,
            "from": one.origin,
            "summary": one.summary,
        }
        for one in splits
    ]
    return pl.DataFrame(rows, infer_schema_length=None)
