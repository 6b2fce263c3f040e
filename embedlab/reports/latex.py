"""A table as LaTeX, for a paper that loads booktabs: one tabular; with a caption it is a float."""

import re
from collections.abc import Iterator
from itertools import takewhile

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
# of a number: "-0.5", "[-1.2, -0.3]", not that of "sts12-16"
_MINUS = re.compile(r"(?<![\w.-])-(?=[\d.])")


def to_latex(table: Table) -> str:
    """Return the table as people read it: title and notes as comments, numbers aligned right."""
    signatures = table.signature_lines if table.is_signed else []
    comments = [*table.answer, table.shown_title, *table.shown_notes, *signatures]
    lines = [f"% {' '.join(text.split())}" for text in comments if text]
    tabular = list(_tabular(table)) if table.rows else []
    caption = table.caption()
    if caption and table.rows:
        lines += [r"\begin{table}[t]", r"\centering", r"\footnotesize"]
        lines += [r"\setlength{\tabcolsep}{3pt}", *tabular]
        lines += [rf"\caption{{{_escape(caption)}}}", r"\end{table}"]
    else:
        lines += tabular
    return "\n".join(lines) + "\n"


def _tabular(table: Table) -> Iterator[str]:
    """Yield the rows between rules; a group is named in its first row."""
    columns = table.columns
    alignments = "".join(_side(table, column) for column in columns)
    header, *body = table.texts()
    yield from (rf"\begin{{tabular}}{{{alignments}}}", r"\toprule")
    yield f"{' & '.join(map(_escape, header))} \\\\"
    yield r"\midrule"
    previous_texts: list[str] = []
    for row, texts in zip(table.rows, body, strict=True):
        row_cells = [
            _cell(row.get(column.key), text) for column, text in zip(columns, texts, strict=True)
        ]
        if columns[0].role == "group" and previous_texts:
            repeats = takewhile(
                lambda column_texts: (
                    column_texts[0].role == "group" and column_texts[1] == column_texts[2]
                ),
                zip(columns, texts, previous_texts, strict=True),
            )
            repeated = sum(1 for _ in repeats)
            row_cells[:repeated] = [""] * repeated
            if not repeated:
                yield r"\addlinespace"
        previous_texts = texts
        yield f"{' & '.join(row_cells)} \\\\"
    yield from (r"\bottomrule", r"\end{tabular}")


def _cell(value: Value | TableCell, text: str) -> str:
    """Return a cell: the best of its row bold, letters raised."""
    if not isinstance(value, TableCell):
        return _escape(text)
    escaped = _escape(text.removesuffix(value.raised))
    if value.is_best:
        escaped = rf"\textbf{{{escaped}}}"
    return rf"{escaped}\textsuperscript{{{_escape(value.raised)}}}" if value.raised else escaped


def _side(table: Table, column: Column) -> str:
    """Return the side on which a column is aligned; numbers with raised letters on the left, so
    that letters do not move the digits. Texts wrap.
    """
    if column.is_text:
        texts = sum(other.is_text for other in table.columns)
        return rf"p{{{min(0.4, 0.75 / texts):.2g}\linewidth}}"
    cells = [row.get(column.key) for row in table.rows]
    is_raised = any(isinstance(cell, TableCell) and cell.raised for cell in cells)
    return "r" if table.align(column) == "right" and not is_raised else "l"


def _escape(text: str) -> str:
    """Return the text as LaTeX; a leading bracket or star is protected, because LaTeX reads it as
    an option of the line before.
    """
    escaped = _MINUS.sub("−", " ".join(text.split())).translate(_SPECIAL)
    return f"{{}}{escaped}" if escaped.startswith(("[", "*")) else escaped
