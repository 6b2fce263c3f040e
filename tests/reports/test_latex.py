"""Tables as LaTeX: what LaTeX would print is what the table says."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from embedlab.reports.latex import to_latex
from embedlab.reports.latex_widths import COLUMN_PT, broken_title, text_pt
from embedlab.reports.tables import Column, Table, TableCell

SPECIAL = r"a_b & 100% $5 #1 {x} ~/home ^2 \n λ=0.5 τ 78.4† ± 0.3‡ −1.0 – <a> | [+1.0, +2.0]*"
PRINTED = {
    "textbackslash": "\\",
    "textasciitilde": "~",
    "textasciicircum": "^",
    "textbar": "|",
    r"$\pm$": "±",
    r"$\lambda$": "λ",
    r"$\tau$": "τ",
    "$-$": "−",
    r"$\dagger$": "†",
    r"$\ddagger$": "‡",
    "$<$": "<",
    "$>$": ">",
    r"$\sigma$": "σ",
    r"$\leq$": "≤",
    "--": "–",
    "{}": "",
}


def printed(text: str) -> str:
    """What LaTeX prints of a cell, read by a grammar of its own: commands, mathematics, escaped
    signs, dashes.
    """
    grammar = r"\\(?P<command>[a-z]+)\{\}|(?P<math>\$[^$]*\$)|\\(?P<sign>[^a-z])|(?P<dash>--)|(?P<empty>\{\})|(?P<plain>[^\\${}&%#_^~<>|])"
    said, place = "", 0
    while place < len(text):
        found = re.compile(grammar).match(text, place)
        assert found is not None, f"LaTeX would not print {text[place:]!r}"
        kind = found.lastgroup
        assert kind is not None
        said += found[kind] if kind in {"sign", "plain"} else PRINTED[found[kind]]
        place = found.end()
    return said


def cells(latex: str) -> list[list[str]]:
    """The cells of each row, as LaTeX would print them."""
    rows = [line.removesuffix(r" \\") for line in latex.splitlines() if line.endswith(r"\\")]
    return [[printed(cell) for cell in re.split(r"(?<!\\) & ", row)] for row in rows]


def table(*texts: str) -> Table:
    columns = [Column(key="model", title="model"), Column(key="score", title="50% & more")]
    rows = [
        {"model": text, "score": TableCell(value=78.4, text="78.40 ± 0.31 a")} for text in texts
    ]
    return Table(title="A & B", columns=columns, rows=rows, notes=["two\nlines"])


def test_special_characters_are_printed_as_they_are() -> None:
    assert cells(to_latex(table(SPECIAL, "plain"))) == [
        ["model", "50% & more"],
        [SPECIAL, "78.40 ± 0.31 a"],
        ["plain", "78.40 ± 0.31 a"],
    ]


@pytest.mark.parametrize(
    ("text", "latex"),
    [
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
def test_a_minus_is_not_printed_as_a_hyphen(text: str, latex: str) -> None:
    assert to_latex(table(text)).splitlines()[-3] == rf"{latex} & 78.40 $\pm$ 0.31 a \\"
    assert cells(to_latex(table(text)))[1][0].replace("−", "-") == text


def test_a_row_that_begins_with_a_bracket_or_star_is_not_an_option_of_the_rule_above() -> None:
    latex = to_latex(table("[0.1, 0.5]", "*best"))
    assert "\\midrule\n{}[0.1" in latex
    assert "\\\\\n{}*best" in latex
    assert [row[0] for row in cells(latex)] == ["model", "[0.1, 0.5]", "*best"]


def test_numbers_are_aligned_to_the_right_and_what_is_said_is_a_comment() -> None:
    latex = to_latex(table("x"))
    assert latex.startswith("% A & B\n% two lines\n\\begin{tabular}{lr}\n\\toprule\n")
    assert latex.endswith("\\bottomrule\n\\end{tabular}\n")


def scores(models: int, datasets: int, difference: bool = False) -> Table:
    """A comparison with a row a dataset."""
    best = TableCell(value=91.25, text="91.25‡ ± 0.12 ab", raised="ab", is_best=True)
    other = TableCell(value=78.4, text="78.40 c", raised="c")
    names = [f"model_{number}" for number in range(models)]
    columns = [
        Column(key="d", title="dataset", role="key"),
        *(Column(key=name, title=name, align="left", role="score") for name in names),
    ]
    columns += (
        [Column(key="x", title="model_1 − model_0", align="left", role="difference")]
        if difference
        else []
    )
    cells = {name: other if number else best for number, name in enumerate(names)}
    cells["x"] = TableCell(value=-12.85, text="-12.85 [-14.00, -11.70]*")
    rows = [{"d": f"sts{12 + number}", **cells} for number in range(datasets)]
    return Table(
        title="Scores", columns=columns, rows=rows, caption="n = 5 & more: 95% of #1_a, ± 0.3†."
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


@pytest.mark.parametrize("models", [2, 4, 9, 30])
def test_columns_that_do_not_fit_follow_below_with_the_names_of_the_rows(models: int) -> None:
    latex = to_latex(scores(models, 2, difference=True))
    panels = latex.split(r"\begin{tabular}")[1:]
    headers = [panel.splitlines()[2].removesuffix(r" \\").split(" & ") for panel in panels]
    assert all(header[0] == "dataset" for header in headers)
    shown = [title.replace("\\", "") for header in headers for title in header[1:]]
    assert shown[:-1] == [f"model_{number}" for number in range(models)]
    assert headers[-1][1:] == [r"model\_1 $-$ model\_0"]  # differences are not mixed with scores
    assert "more than a column" not in latex


def test_a_table_that_cannot_fit_says_what_to_do() -> None:
    wide = Table(
        title="t", columns=[Column(key="a", title="a")], rows=[{"a": "x" * 80}], caption="c"
    )
    assert "% about 5.1 in wide, more than a column: name models NAME=MODEL" in to_latex(wide)


def wrapping() -> Table:
    columns = [
        Column(key="g", title="group", role="group"),
        Column(key="t", title="text", role="text"),
        Column(key="n", title="n"),
    ]
    rows = [
        {"g": group, "t": "some/long_name and words " * 9, "n": 1}
        for group in ("one", "one", "two")
    ]
    return Table(title="t", columns=columns, rows=rows, caption="c")


def test_texts_wrap_in_what_the_other_columns_leave_and_groups_are_named_once() -> None:
    latex = to_latex(wrapping())
    (width,) = re.findall(r"\\begin\{tabular\}\{lp\{(\d+)pt\}r\}", latex)
    assert 100 < int(width) < COLUMN_PT
    body = latex.partition(r"\midrule")[2].splitlines()
    assert [line.split(" & ")[0] for line in body[1:5]] == ["one", "", r"\addlinespace", "two"]
    assert r"some/\allowbreak{}long\_\allowbreak{}name" in latex


def test_a_long_title_is_broken_at_its_words_only() -> None:
    assert broken_title("average of seven", 0) == ["average", "of", "seven"]
    assert broken_title("average of seven", text_pt("of seven")) == ["average", "of seven"]
    assert broken_title("average of seven", 1000) == ["average of seven"]
    assert broken_title("sts-benchmark", 1) == ["sts-benchmark"]


def test_widths_are_those_of_the_font(font_widths: dict[str, float]) -> None:
    text = "Hamburgefonstiv 0123456789 sts-benchmark [12.34, 56.78]*"
    at_ten = sum(font_widths[character] for character in text)
    assert text_pt(text) == pytest.approx(at_ten / 1000 * 8 * 1.0625, rel=0.005)


@pytest.fixture
def font_widths() -> dict[str, float]:
    """The widths of Computer Modern, as Matplotlib ships them, in thousandths of its size."""
    import matplotlib as mpl

    lines = (Path(mpl.get_data_path()) / "fonts" / "afm" / "cmr10.afm").read_text().splitlines()
    found = [re.match(r"C (\d+) ; WX ([\d.]+) ;", line) for line in lines]
    return {chr(int(one[1])): float(one[2]) for one in found if one is not None} | {" ": 333.0}


@pytest.mark.slow
def test_latex_compiles_the_tables_within_a_column(tmp_path: Path) -> None:
    if shutil.which("pdflatex") is None:
        pytest.skip("pdflatex is not installed: texlive-latex-recommended has it")
    tables = [scores(2, 3, difference=True), scores(9, 2), wrapping(), table(SPECIAL, "plain")]
    document = [r"\documentclass[10pt,twocolumn]{article}", r"\usepackage{booktabs}"]
    document += [rf"\usepackage[textwidth={2 * COLUMN_PT + 10}pt,columnsep=10pt]{{geometry}}"]
    document += [
        r"\begin{document}",
        *map(to_latex, tables[:3]),
        r"\clearpage\onecolumn\footnotesize",
        to_latex(tables[3]),
    ]
    measured = ["sts-benchmark", "-12.85 [-14.00, -11.70]*", "91.25"]
    for text in measured:
        shown = text.replace("-1", "$-$1")
        document += [rf"\setbox0=\hbox{{{shown}}}\typeout{{WIDTH \the\wd0}}"]
    (tmp_path / "t.tex").write_text("\n".join([*document, r"\end{document}"]))
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "t.tex"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-2000:]
    assert "Overfull" not in done.stdout
    widths = [float(found) for found in re.findall(r"WIDTH ([\d.]+)pt", done.stdout)]
    assert widths == pytest.approx(
        [text_pt(text.replace("-1", "−1")) for text in measured], rel=0.02
    )
    assert (tmp_path / "t.pdf").stat().st_size > 10_000
