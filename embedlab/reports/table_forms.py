"""The forms that a table may take where there are few cells, from the one that is read best."""

from collections.abc import Iterator
from dataclasses import replace

from embedlab.reports.tables import ABSENT, Column, Table, TableCell, Value


def forms(table: Table) -> Iterator[Table]:
    """Yield the table itself, without columns of texts where there are none, then forms of it that
    need fewer cells.
    """
    smaller = _without_empty(table)
    yield smaller
    for form in (without_minor, without_constants):
        if (changed := form(smaller)) is not smaller:
            smaller = changed
            yield smaller
    if (
        len(smaller.columns) > 2
        and (
            text := next(
                (column for column in reversed(smaller.columns) if column.role == "text"), None
            )
        )
        is not None
    ):
        yield replace(
            smaller,
            columns=[
                *(column for column in smaller.columns if column is not text),
                replace(text, role="below"),
            ],
        )
    if any(column.role == "group" for column in smaller.columns):
        columns = [
            replace(column, role="heading") if column.role == "group" else column
            for column in smaller.columns
        ]
        yield replace(smaller, columns=columns)
    if (crossed := transposed(smaller)) is not None:
        yield crossed


def _without_empty(table: Table) -> Table:
    _, *body = table.texts()
    empty = [
        column
        for index, column in enumerate(table.columns)
        if column.is_text and all(row[index] in {"", ABSENT} for row in body)
    ]
    return (
        replace(table, columns=[column for column in table.columns if column not in empty])
        if body and empty
        else table
    )


def without_minor(table: Table) -> Table:
    """Return the table without its minor columns, which the notes name."""
    gone = [column.title for column in table.columns if column.role == "minor"]
    if not gone:
        return table
    columns = [column for column in table.columns if column.role != "minor"]
    return replace(
        table,
        columns=columns,
        notes=[*table.notes, f"a wider terminal and --json also show: {', '.join(gone)}"],
    )


def without_constants(table: Table) -> Table:
    """Return the table with the values in its title that all rows share, instead of columns of
    them; the first column stays.
    """
    columns = {column.key: column for column in table.columns}
    texts = (
        dict(zip(columns, zip(*table.texts()[1:], strict=True), strict=True))
        if len(table.rows) > 1
        else {}
    )
    constant = [
        key
        for key, text in texts.items()
        if columns[key].role == "key" and len(set(text)) == 1 and key != table.columns[0].key
    ]
    if not constant:
        return table
    shared = ", ".join(f"{columns[key].title} {texts[key][0]}" for key in constant)
    left = [column for column in table.columns if column.key not in constant]
    return replace(table, title=f"{table.title}; {shared}", columns=left)


def with_model_rows(table: Table) -> Table:
    """Return a comparison with a row a model: without the differences, which would be as many
    columns again, and the numbers of items.
    """
    columns = [
        column for column in table.columns if column.key.rpartition(".")[2] not in {"delta", "p"}
    ]
    scores = replace(
        table,
        columns=[
            replace(column, role="score") if column.role == "difference" else column
            for column in columns
        ],
    )
    return transposed(scores) or table


def transposed(table: Table) -> Table | None:
    """Return the table with a row for each model and a column for each row; None where it does not
    hold scores of models alone.
    """
    models = [column for column in table.columns if column.role == "score"]
    groups = [column for column in table.columns if column.role == "group"]
    names = [column for column in table.columns if column.role == "key"]
    if (
        not table.rows
        or not models
        or not names
        or any(column.role == "difference" for column in table.columns)
    ):
        return None
    texts = {
        column.key: cells
        for column, cells in zip(table.columns, zip(*table.texts()[1:], strict=True), strict=True)
    }
    labels = [
        " ".join(texts[column.key][index] for column in names) for index in range(len(table.rows))
    ]
    rows: dict[tuple[str, ...], dict[str, Value | TableCell]] = {}
    for index, label in enumerate(labels):
        group = tuple(texts[column.key][index] for column in groups)
        for column in models:
            first: dict[str, Value | TableCell] = {
                "": column.title,
                **{group.key: table.rows[index].get(group.key) for group in groups},
            }
            rows.setdefault((column.key, *group), first)[f"={label}"] = table.rows[index].get(
                column.key
            )
    columns = [Column(key="", title=table.score_columns, role="key"), *groups]
    columns += [
        Column(key=f"={label}", title=label, align="right", role="score")
        for label in dict.fromkeys(labels)
    ]
    titles = [column.title for column in names if column.title]
    is_named = len(titles) > 1 or (
        titles and table.score_columns != "model"
    )  # datasets need no name
    return replace(
        table,
        title=f"{table.title}; a column for each {' and '.join(titles)}"
        if is_named
        else table.title,
        columns=columns,
        rows=list(rows.values()),
    )
