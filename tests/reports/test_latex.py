"""Tables as LaTeX: what LaTeX would print is what the table says."""

import shutil
import subprocess
from pathlib import Path

import pytest

from embedlab.reports.latex import to_latex
from embedlab.reports.tables import Table, TableCell, columns_of

SPECIAL = r"a_b & 100% $5 #1 {x} ~/home ^2 \n λ=0.5 τ 78.4† ± 0.3‡ −1.0 – <a> | [+1.0, +2.0]*"
PRINTED = (
    r"a\_b \& 100\% \$5 \#1 \{x\} \textasciitilde{}/home \textasciicircum{}2 \textbackslash{}n "
    r"$\lambda$=0.5 $\tau$ 78.4$\dagger$ $\pm$ 0.3$\ddagger$ $-$1.0 -- $<$a$>$ \textbar{} "
    r"[+1.0, +2.0]*"
)


def table(*texts: str) -> Table:
    columns = columns_of("model", "score = 50% & more")
    rows = [
        {"model": text, "score": TableCell(value=78.4, text="78.40 ± 0.31 a")} for text in texts
    ]
    return Table(title="A & B", columns=columns, rows=rows, notes=["two\nlines"])


@pytest.mark.parametrize(
    ("text", "latex"),
    [
        (SPECIAL, PRINTED),
        ("-6.63 [-12.54, -0.71]", "$-$6.63 [$-$12.54, $-$0.71]"),
        ("42.12‡ ± 0.66 c", r"42.12$\ddagger$ $\pm$ 0.66 c"),
        ("sts12-16", "sts12-16"),
        ("snli-ce-4000@1", "snli-ce-4000@1"),
        ("1e-05", "1e-05"),
        ("2024-06-01", "2024-06-01"),
        ("average?layer=-2", "average?layer=$-$2"),
        ("σ ≤ -.5", r"$\sigma$ $\leq$ $-$.5"),
    ],
)
def test_characters_are_printed_as_they_are_and_a_minus_is_no_hyphen(text: str, latex: str) -> None:
    assert to_latex(table(text)).splitlines()[-3] == rf"{latex} & 78.40 $\pm$ 0.31 a \\"


def test_a_row_that_begins_with_a_bracket_or_star_is_not_an_option_of_the_rule_above() -> None:
    latex = to_latex(table("[0.1, 0.5]", "*best"))
    assert "\\midrule\n{}[0.1" in latex
    assert "\\\\\n{}*best" in latex


def test_numbers_are_aligned_to_the_right_and_what_is_said_is_a_comment() -> None:
    latex = to_latex(table("x"))
    assert latex.startswith(
        "% A & B\n% two lines\n\\begin{tabular}{lr}\n\\toprule\nmodel & 50\\% \\& more"
    )
    assert latex.endswith("\\bottomrule\n\\end{tabular}\n")


def scores(models: int, datasets: int) -> Table:
    """A comparison with a row a dataset; the first of the MODELS is the best."""
    best = TableCell(value=91.25, text="91.25‡ ± 0.12 ab", raised="ab", is_best=True)
    other = TableCell(value=78.4, text="78.40 c", raised="c")
    names = [f"model_{number}" for number in range(models)]
    columns = columns_of("d = dataset [key]", *(f"{name} [score] <" for name in names))
    cells = dict.fromkeys(names, other) | {"model_0": best}
    return Table(
        title="Scores",
        columns=columns,
        rows=[{"d": f"sts{12 + number}", **cells} for number in range(datasets)],
        caption=lambda: "n = 5 & more: 95% of #1_a, ± 0.3†.",
    )


def test_a_table_with_a_caption_is_a_float_whose_best_is_bold_and_whose_letters_are_raised() -> (
    None
):
    latex = to_latex(scores(2, 1))
    assert r"\caption{n = 5 \& more: 95\% of \#1\_a, $\pm$ 0.3$\dagger$.}" in latex
    assert (
        r"sts12 & \textbf{91.25$\ddagger$ $\pm$ 0.12}\textsuperscript{ab} & "
        r"78.40\textsuperscript{c} \\" in latex
    )
    assert (
        latex.index(r"\begin{table}[t]")
        < latex.index(r"\footnotesize")
        < latex.index(r"\begin{tabular}{lll}")
    )
    assert latex.endswith("\\end{table}\n")


def wrapping() -> Table:
    columns = columns_of("g = group [group]", "t = text [text]", "n")
    rows = [
        {"g": group, "t": "some/long_name and words " * 9, "n": 1}
        for group in ("one", "one", "two")
    ]
    return Table(title="t", columns=columns, rows=rows, caption=lambda: "c")


def test_texts_share_the_width_and_no_rows_are_comments_alone() -> None:
    columns = columns_of("a [text]", "b [text]", "c [text]")
    row = dict.fromkeys("abc", "x")
    assert r"{p{0.25\linewidth}p{0.25\linewidth}p{0.25\linewidth}}" in to_latex(
        Table(title="t", columns=columns, rows=[row])
    )
    assert to_latex(Table(title="t", columns=columns, rows=[], notes=("none",))) == "% t\n% none\n"


def test_groups_are_named_once() -> None:
    body = to_latex(wrapping()).partition(r"\midrule")[2].splitlines()
    assert [line.split(" & ")[0] for line in body[1:5]] == ["one", "", r"\addlinespace", "two"]


@pytest.mark.slow
def test_latex_compiles_the_tables(tmp_path: Path) -> None:
    if shutil.which("pdflatex") is None:
        pytest.skip("pdflatex is not installed: texlive-latex-recommended has it")
    tables = [scores(9, 2), wrapping(), table(SPECIAL, "plain")]
    document = [
        r"\documentclass[10pt]{article}",
        r"\usepackage{booktabs}",
        r"\begin{document}",
        *map(to_latex, tables),
        r"\end{document}",
    ]
    (tmp_path / "t.tex").write_text("\n".join(document))
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "t.tex"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-2000:]
