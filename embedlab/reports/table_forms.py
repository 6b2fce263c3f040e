"""A table of models with rows and columns in each other's place."""

from dataclasses import replace

from embedlab.reports.tables import Column, Table, TableCell, Value


def with_model_rows(table: Table) -> Table:
    """Return a table of scores with a row a model: without the differences, which would be as many
    columns again, and the numbers of items; a table without scores or names stays as it is.
    """
    kept: dict[str, list[Column]] = {"score": [], "group": [], "key": []}
    for column in table.columns:
        is_derived = column.key.rpartition(".")[2] in {"delta", "p"}
        role = "score" if column.role == "difference" else column.role
        if role in kept and not is_derived:
            kept[role].append(column)
    models, groups, names = kept.values()
    if not (table.rows and models and names):
        return table
    texts = dict(
        zip(
            (column.key for column in table.columns),
            zip(*table.texts()[1:], strict=True),
            strict=True,
        )
    )
    labels = [
        " ".join(texts[column.key][index] for column in names) for index in range(len(table.rows))
    ]
    rows: dict[tuple[str, ...], dict[str, Value | TableCell]] = {}
    for index, (label, row) in enumerate(zip(labels, table.rows, strict=True)):
        group = tuple(texts[column.key][index] for column in groups)
        for column in models:
            cells = rows.setdefault((column.key, *group), {"": column.title})
            cells |= {column.key: row.get(column.key) for column in groups}
            cells[f"={label}"] = row.get(column.key)
    titles = [column.title for column in names if column.title]
    is_named = len(titles) > 1 or (titles and table.score_columns != "model")
    title = f"{table.title}; a column for each {' and '.join(titles)}"
    return replace(
        table,
        title=title if is_named else table.title,  # datasets need no name
        columns=[
            Column(key="", title=table.score_columns, role="key"),
            *groups,
            *(
                Column(key=f"={label}", title=label, align="right", role="score")
                for label in dict.fromkeys(labels)
            ),
        ],
        rows=list(rows.values()),
    )
