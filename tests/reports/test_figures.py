"""Figures for papers: each kind of plot is drawn one column wide, with its fonts and its caption in
the file.
"""

import re
import struct
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy.stats import binned_statistic

from embedlab.core.errors import UsageError
from embedlab.reports.figures import (
    FigureFile,
    difference_plots,
    draw_figure,
    figure_kind,
    score_plots,
)
from embedlab.reports.plots import band_means, draw_paper
from embedlab.reports.scores import comparison_table
from embedlab.reports.series import BANDS, FEWEST, Plot, Point, Series
from tests.analysis.made import scored, single
from tests.stored_scores import compared_items

ONE = Series.of("one", [("a $b$", (50.0, 49.0, 51.0)), ("c", (60.0, 58.0, 63.0))])
TWO = Series.of("two", [("a $b$", (55.0,)), ("c", (70.0,))])
CURVE = Series("one", [Point(1, 3.0), Point(2, 2.0), Point(3, 1.0)])
X = np.linspace(0, 5, 200).tolist()
PLOTS = {
    plot.title: plot
    for plot in (
        Plot(kind="dots", title="dots", series=[ONE, TWO], axis="points"),
        Plot(kind="lines", title="lines", series=[ONE, TWO], axis="points"),
        Plot(kind="lines", title="curves", series=[CURVE], axis="loss", along="step"),
        Plot(
            kind="scatter",
            title="scatter",
            series=[Series("m", [Point(x, x) for x in X])],
            axis="similarity",
            along="gold",
            has_means=True,
        ),
    )
}


@pytest.mark.parametrize("name", PLOTS)
def test_a_pdf_is_one_column_wide_with_truetype_fonts_and_its_caption(name: str) -> None:
    pdf, again = (
        draw_paper([PLOTS[name]], name=name, caption="n = 5 (items)").content("pdf")
        for _ in range(2)
    )
    found = re.search(rb"/MediaBox \[ ?0 0 ([\d.]+) [\d.]+ ?\]", pdf)
    assert float(found[1]) == pytest.approx(3.3 * 72, abs=0.1)
    assert b"/Type3" not in pdf
    assert b"/CIDFontType2" in pdf or b"/TrueType" in pdf
    assert rb"/Subject (n = 5 \(items\))" in pdf
    assert b"/CreationDate" not in pdf
    assert pdf == again


def test_an_svg_and_a_png_hold_a_caption_of_any_characters_too() -> None:
    figure = draw_paper([PLOTS["dots"]], name="λ", caption="λ ≤ 5 < 6 \x00\ud800 文", width_in=2.0)
    assert figure.caption == "λ ≤ 5 < 6 \\u0000\\ud800 文"
    titled = draw_paper([PLOTS["dots"]], is_titled=True)
    assert (figure.get_suptitle(), titled.get_suptitle()) == ("", "dots")
    svg = figure.content("svg").decode()
    assert "λ ≤ 5 &lt; 6 \\u0000" in svg
    assert 'width="144pt"' in svg
    assert "<text" not in svg  # drawn as outlines: the same without the font
    png = figure.content("png")
    assert struct.unpack(">I", png[16:20])[0] == 600
    assert "λ ≤ 5 < 6 \\u0000".encode() in png
    assert len(figure.content("pdf")) > 5_000


def test_band_means_are_those_of_scipy_where_a_band_holds_enough_points() -> None:
    rng = np.random.default_rng(3)
    x = np.concatenate([rng.uniform(0, 5, 120), [9.0, 9.1]])
    y = x + rng.normal(size=len(x))
    counts, edges = np.histogram(x, BANDS)
    is_kept = counts >= FEWEST
    means, deviations = (
        binned_statistic(x, y, name, BANDS)[0][is_kept] for name in ("mean", "std")
    )
    deviations *= np.sqrt(counts[is_kept] / (counts[is_kept] - 1))
    expected = [(edges[:-1] + edges[1:])[is_kept] / 2, means, deviations]
    points = [*map(Point, x, y), Point(np.nan, 1.0)]
    found = band_means(Series("m", points))
    assert len(found) < BANDS  # the last bands hold too few points
    np.testing.assert_allclose(np.transpose(found), expected)


def evaluated(*rows: tuple[str, str, float, int], **facts: str | None) -> pl.DataFrame:
    """The score of a model on a slice, with the shared sentences, in each of ROWS."""
    usual: dict[str, object] = {"task": "sts", "by": "dataset", "metric": "spearman"}
    usual |= {"setting": "all", "marks": "generated", "items": 20, "shared_pairs": 0}
    score, known = pl.col("score"), {name: pl.lit(it) for name, it in (usual | facts).items()}
    frame = pl.DataFrame(rows, ["slice", "model", "score", "shared_sentences"], orient="row")
    frame = frame.with_columns(low=score - 2, high=score + 1, **known)
    return frame.cast({"setting": pl.String, "marks": pl.String})


def test_evaluated_scores_are_drawn_with_what_is_known_of_each() -> None:
    frame = evaluated(("a", "one", 50.0, 3), ("b", "one", 60.0, 0), ("a", "two", 40.0, 0))
    (plot,), caption = figure_kind("evaluate", None).draw(frame=frame)
    assert list(plot.labels) == ["a", "b"]
    one, two = (series.points for series in plot.series)
    assert (one[0].value, one[0].low, two[0].value, two[0].low) == (50.0, 48.0, 40.0, 38.0)
    assert np.isnan(two[1].value)
    assert "n = 20 items in each of 2" in caption
    assert "Generated data" in caption
    assert "Test sentences are in the training data of one." in caption


def test_models_whose_folders_have_one_name_are_drawn_under_their_whole_names() -> None:
    names = ("/first/model", "/second/model")
    frame = comparison_table(compared_items([scored(60, (1.0, 1.0))], single(names))).frame
    (scores,), (differences,) = score_plots(frame, "dataset"), difference_plots(frame, "dataset")
    assert [series.name for series in scores.series] == [*names]
    assert [series.name for series in differences.series] == [names[1]]
    assert differences.title.startswith("/second/model minus /first/model")


def test_detectable_differences_are_drawn_next_to_the_observed_ones() -> None:
    frame = pl.DataFrame(
        {
            "task": ["sts"],
            "metric": ["spearman"],
            "dataset": ["a"],
            "difference": [-3.0],
            "smallest": [2.0],
            "planned": [None],
        }
    )
    (plot,), _ = figure_kind("power", None).draw(frame=frame)
    values = {series.name: series.points[0].value for series in plot.series}
    assert values == {"observed difference": 3.0, "detectable": 2.0}


def test_where_there_is_nothing_to_draw_that_is_an_error() -> None:
    with pytest.raises(UsageError, match="nothing to draw as 'curves'"):
        draw_figure({"runs": []}, figure_kind("runs", None))


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("figure.jpg", "neither .pdf, .svg nor .png"),
        ("no/folder/f.pdf", "no folder 'no/folder'"),
        ("mine.pdf", "not a figure of embedlab"),
        ("f.pdf?kind=none", "no figure named 'none'"),
        ("f.pdf?width=0", "the width is '0'"),
        ("f.pdf?width=wide", "the width is 'wide'"),
        ("f.pdf?wide", "no option 'wide'"),
    ],
)
def test_a_figure_that_cannot_be_written_is_refused(
    typed: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.pdf").write_bytes(b"%PDF-1.4 of someone else")
    with pytest.raises(UsageError, match=re.escape(message)) as found:
        FigureFile.parse(typed, "compare")
    assert found.value.hint


def test_what_is_typed_behind_a_file_decides_the_figure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    found = FigureFile.parse("f.PDF?kind=differences&width=6.9&title", "compare")
    assert (found.kind.name, found.width_in, found.is_titled, found.path) == (
        "differences",
        6.9,
        True,
        Path("f.PDF"),
    )


def test_scores_without_a_setting_are_drawn() -> None:
    # as of the items of a task that has one way alone
    frame = evaluated(("snli", "m", 50.0, 0), setting=None, marks=None)
    (plot,) = figure_kind("evaluate", "scores").draw(frame=frame)[0]
    assert plot.labels == ["snli"]
