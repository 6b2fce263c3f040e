"""A table as LaTeX, for a paper that loads booktabs: with a caption it is a float that fits one of
two columns.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import takewhile

from embedlab.reports.latex_widths import (
    COLUMN_PT,
    POINTS_PER_INCH,
    SEPARATION_PT,
    broken_title,
    text_pt,
)
from embedlab.reports.tables import Column, Table, TableCell, Value

_SMALL = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma "
    "tau upsilon phi chi psi omega"
)
# LaTeX has no command for those that look like Latin letters
_CAPITAL = "Gamma Delta Theta Lambda Xi Pi Sigma Phi Psi Omega"
_GREEK = zip("αβγδεζηθικλμνξπρστυφχψωΓΔΘΛΞΠΣΦΨΩ", f"{_SMALL} {_CAPITAL}".split(), strict=True)
_SPECIAL = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        **{character: f"\\{character}" for character in "&%$#_{}"},
        # the old font encoding, LaTeX's default, has other characters at these code points
        "<": "$<$",
        ">": "$>$",
        "|": r"\textbar{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "±": r"$\pm$",
        "×": r"$\times$",
        "–": "--",
        **{letter: rf"$\{name}$" for letter, name in _GREEK},
        "≤": r"$\leq$",
        "≥": r"$\geq$",
        "−": r"$-$",
        "†": r"$\dagger$",
        "‡": r"$\ddagger$",
        "°": r"$^{\circ}$",
        "§": r"\S{}",
    }
)
_LEAST_TEXT_PT = 45.0  # of a column whose texts wrap
_MINUS = re.compile(
    r"(?<![\w.-])-(?=[\d.])"
)  # of a number: "-0.5", "[-1.2, -0.3]", not that of "sts12-16"


def to_latex(table: Table) -> str:
    """Return the table as people read it: title and notes as comments, numbers aligned right."""
    lines = [
        f"% {' '.join(text.split())}"
        for text in (
            table.shown_title,
            *table.shown_notes,
            *(table.signature_lines if table.is_signed else []),
        )
        if text
    ]
    lines += (
        _float(table)
        if table.caption and table.rows
        else _tabular(table, table.columns, is_narrow=False)
    )
    return "\n".join(lines) + "\n"


def _float(table: Table) -> Iterator[str]:
    """Yield the table with its caption; what does not fit next to the first columns follows below,
    with the names of the rows.
    """
    panels = list(_panels(table))
    widest = max(_width_pt(table, columns) for columns in panels)
    yield from (
        r"\begin{table}[t]",
        r"\centering",
        r"\footnotesize",
        rf"\setlength{{\tabcolsep}}{{{SEPARATION_PT:g}pt}}",
    )
    if widest > COLUMN_PT:
        yield (
            f"% about {widest / POINTS_PER_INCH:z.1f} in wide, more than a column: name "
            f"models NAME=MODEL, or make it a table*"
        )
    for index, columns in enumerate(panels):
        if index:
            yield r"\par\smallskip"
        yield from _tabular(table, columns, is_narrow=True)
    yield from (rf"\caption{{{_escaped(table.caption)}}}", r"\end{table}")


def _panels(table: Table) -> Iterator[Sequence[Column]]:
    """Yield the columns in parts that each fit in a column of the page; scores and differences are
    not mixed in a part of several.
    """
    names = [column for column in table.columns if column.is_name]
    rest = [column for column in table.columns if not column.is_name]
    if _width_pt(table, table.columns) <= COLUMN_PT:
        yield table.columns
        return
    for wants_difference in (False, True):
        columns = [column for column in rest if (column.role == "difference") == wants_difference]
        panel: list[Column] = []
        for column in columns:
            if panel and _width_pt(table, [*names, *panel, column]) > COLUMN_PT:
                yield [*names, *panel]
                panel = []
            panel.append(column)
        if panel:
            yield [*names, *panel]


def _tabular(table: Table, columns: Sequence[Column], *, is_narrow: bool) -> Iterator[str]:
    """Yield the rows of some columns between rules; titles that are wider than their columns are
    broken where IS_NARROW.
    """
    wraps = {
        column.key: width
        for column in columns
        if is_narrow and (width := _wrapped_pt(table, column)) is not None
    }
    sides = "".join(
        f"p{{{wraps[column.key]:z.0f}pt}}" if column.key in wraps else _side(table, column)
        for column in columns
    )
    yield from (rf"\begin{{tabular}}{{{sides}}}", r"\toprule")
    yield (
        " & ".join(
            _title(table, column) if is_narrow else _escaped(column.title) for column in columns
        )
        + r" \\"
    )
    yield r"\midrule"
    shown = replace(table, columns=columns).texts()[1:]
    for index, (row, texts) in enumerate(zip(table.rows, shown, strict=True)):
        cells = [
            _cell(row.get(column.key), text) for column, text in zip(columns, texts, strict=True)
        ]
        if is_narrow and columns[0].role == "group" and index:
            repeated = _repeated_groups(columns, texts, shown[index - 1])
            cells[:repeated] = [""] * repeated
            if not repeated:
                yield r"\addlinespace"
        cells = [
            _breakable(cell) if column.key in wraps else cell
            for column, cell in zip(columns, cells, strict=True)
        ]
        yield " & ".join(cells) + (r" \tabularnewline" if wraps else r" \\")
    yield from (r"\bottomrule", r"\end{tabular}")


def _repeated_groups(columns: Sequence[Column], texts: Sequence[str], above: Sequence[str]) -> int:
    """Return how many of the first cells of a row name a group and are the same as those ABOVE."""
    pairs = zip(columns, texts, above, strict=True)
    return sum(
        1 for _ in takewhile(lambda pair: pair[0].role == "group" and pair[1] == pair[2], pairs)
    )


def _cell(value: Value | TableCell, text: str) -> str:
    """Return a cell: the best of its row bold, letters raised."""
    raised = value.raised if isinstance(value, TableCell) else ""
    shown = _escaped(text.removesuffix(raised).rstrip() if raised else text)
    if isinstance(value, TableCell) and value.is_best:
        shown = rf"\textbf{{{shown}}}"
    return rf"{shown}\textsuperscript{{{_escaped(raised)}}}" if raised else shown


def _title(table: Table, column: Column) -> str:
    """Return a column's title, broken where it is wider than what is below it."""
    lines = [_escaped(line) for line in broken_title(column.title, _cells_pt(table, column))]
    stacked = r" \\ ".join(lines)
    return lines[0] if len(lines) == 1 else rf"\shortstack[{_side(table, column)}]{{{stacked}}}"


def _side(table: Table, column: Column) -> str:
    """Return the side on which a column is aligned; numbers with raised letters on the left, so
    that letters do not move the digits.
    """
    cells = [row.get(column.key) for row in table.rows]
    is_raised = any(isinstance(cell, TableCell) and cell.raised for cell in cells)
    return "r" if table.align(column) == "right" and not is_raised else "l"


def _width_pt(table: Table, columns: Sequence[Column]) -> float:
    return sum(_column_pt(table, column) for column in columns) + 2 * SEPARATION_PT * len(columns)


def _column_pt(table: Table, column: Column) -> float:
    """Return the width of a column with its title."""
    cells = _cells_pt(table, column)
    return max(cells, *map(text_pt, broken_title(column.title, cells)))


def _breakable(cell: str) -> str:
    """Return a cell of a column that wraps, with even spaces and long names that may be divided."""
    return r"\raggedright " + cell.replace(r"\_", r"\_\allowbreak{}").replace(
        "/", r"/\allowbreak{}"
    )


def _wrapped_pt(table: Table, column: Column) -> float | None:
    """Return the width that a column of texts has where they do not fit in one line each: its share
    of what the others leave.
    """
    if not column.is_text:
        return None
    left = (
        COLUMN_PT
        - 2 * SEPARATION_PT * len(table.columns)
        - sum(_column_pt(table, column) for column in table.columns if not column.is_text)
    )
    texts = sorted(_natural_pt(table, column) for column in table.columns if column.is_text)
    for index, width in enumerate(
        texts
    ):  # what is narrower than its share leaves the rest to the others
        share = max((left - sum(texts[:index])) / (len(texts) - index), _LEAST_TEXT_PT)
        if width > share:
            return share if _natural_pt(table, column) > share else None
    return None


def _cells_pt(table: Table, column: Column) -> float:
    """Return the width that the cells of a column take."""
    wrapped = _wrapped_pt(table, column)
    return _natural_pt(table, column) if wrapped is None else wrapped


def _natural_pt(table: Table, column: Column) -> float:
    """Return the width of the widest cell of a column in one line."""
    texts = [texts[0] for texts in replace(table, columns=[column]).texts()[1:]]
    cells = [row.get(column.key) for row in table.rows]
    return max((_cell_pt(cell, text) for cell, text in zip(cells, texts, strict=True)), default=0.0)


def _cell_pt(value: Value | TableCell, text: str) -> float:
    if not isinstance(value, TableCell):
        return text_pt(text)
    shown = text.removesuffix(value.raised).rstrip() if value.raised else text
    return text_pt(shown, is_bold=value.is_best) + text_pt(value.raised, is_raised=True)


def _escaped(text: str) -> str:
    """Return the text as LaTeX; a leading bracket or star is protected, because LaTeX reads it as
    an option of the line before.
    """
    escaped = _MINUS.sub("−", " ".join(text.split())).translate(_SPECIAL)
    return f"{{}}{escaped}" if escaped.startswith(("[", "*")) else escaped
