"""A table as LaTeX, for a paper that loads booktabs."""

from embedlab.reports.tables import Table

_SPECIAL = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        **{character: f"\\{character}" for character in "&%$#_{}"},
        "<": "$<$",  # the old font encoding, LaTeX's default, has other characters at these code points
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
    """Return the table as people read it: title and notes as comments, numbers aligned right."""
    lines = [
        f"% {' '.join(text.split())}"
        for text in (table.shown_title, *table.shown_notes, *(table.signature_lines if table.is_signed else []))
        if text
    ]
    header, *body = ([_escaped(text) for text in row] for row in table.texts())
    sides = "".join("r" if table.align(column) == "right" else "l" for column in table.columns)
    lines += [rf"\begin{{tabular}}{{{sides}}}", r"\toprule"]
    lines += [" & ".join(header) + r" \\", r"\midrule", *(" & ".join(row) + r" \\" for row in body)]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"]) + "\n"


def _escaped(text: str) -> str:
    """Return the text as LaTeX; a leading bracket or star is protected, because LaTeX reads it as an option of the line before."""
    escaped = " ".join(text.split()).translate(_SPECIAL)
    return f"{{}}{escaped}" if escaped.startswith(("[", "*")) else escaped
