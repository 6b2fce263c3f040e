"""A table as LaTeX, to be pasted into a paper that loads booktabs."""

from embedlab.reports.tables import Table

_SPECIAL = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        **{character: f"\\{character}" for character in "&%$#_{}"},
        "<": "$<$",  # the old font encoding, LaTeX's default, has other signs in these places
        ">": "$>$",
        "|": r"\textbar{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "±": r"$\pm$",
        "–": "--",
        "λ": r"$\lambda$",
        "τ": r"$\tau$",
        "−": r"$-$",
        "†": r"$\dagger$",
        "‡": r"$\ddagger$",
    }
)


def to_latex(table: Table) -> str:
    """The table as people read it: title and notes as comments, numbers to the right."""
    lines = [f"% {' '.join(text.split())}" for text in (table.title, *table.notes) if text]
    header, *body = ([_escaped(text) for text in row] for row in table.texts())
    sides = "".join("r" if table.align(column) == "right" else "l" for column in table.columns)
    lines += [rf"\begin{{tabular}}{{{sides}}}", r"\toprule"]
    lines += [" & ".join(header) + r" \\", r"\midrule", *(" & ".join(row) + r" \\" for row in body)]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"]) + "\n"


def _escaped(text: str) -> str:
    """The text as LaTeX prints it; a row that begins with a bracket or a star would be read as an option of the line before."""
    escaped = " ".join(text.split()).translate(_SPECIAL)
    return f"{{}}{escaped}" if escaped.startswith(("[", "*")) else escaped
