"""A table as LaTeX, for a paper that loads booktabs."""

import re

from embedlab.reports.tables import Table

_SMALL = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau upsilon phi chi psi omega"
_CAPITAL = "Gamma Delta Theta Lambda Xi Pi Sigma Phi Psi Omega"  # LaTeX has no command for those that look like Latin letters
_GREEK = zip("αβγδεζηθικλμνξπρστυφχψωΓΔΘΛΞΠΣΦΨΩ", f"{_SMALL} {_CAPITAL}".split(), strict=True)
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
        **{letter: rf"$\{name}$" for letter, name in _GREEK},
        "≤": r"$\leq$",
        "≥": r"$\geq$",
        "−": r"$-$",
        "†": r"$\dagger$",
        "‡": r"$\ddagger$",
        "°": r"$^\circ$",
        "§": r"\S{}",
    }
)
_MINUS = re.compile(r"(?<![\w.-])-(?=[\d.])")  # of a number: "-0.5", "[-1.2, -0.3]", not that of "sts12-16"


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
    escaped = _MINUS.sub("−", " ".join(text.split())).translate(_SPECIAL)
    return f"{{}}{escaped}" if escaped.startswith(("[", "*")) else escaped
