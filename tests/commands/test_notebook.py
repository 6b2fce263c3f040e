"""`import embedlab`: what the commands print, as frozen results, and nothing heavy before it is
used.
"""

import json
import runpy
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import embedlab
from embedlab.core.errors import UsageError
from embedlab.reports.frames import COMPARED
from tests.cli import conftest

embedlab_command = conftest.embedlab  # a fixture
PAIRS = "sentence1\tsentence2\tscore\n" + "".join(
    f"the {noun} sleeps\tthe {'dog' if gold % 2 else noun} runs {gold}\t{gold}\n"
    for gold, noun in enumerate(("dog", "cat", "boy") * 4)
)


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Twelve pairs, and a working folder without settings."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EMBEDLAB_CACHE", str(tmp_path / "cache"))
    (tmp_path / "mine.tsv").write_text(PAIRS)
    return "mine.tsv"


def test_importing_it_loads_neither_torch_nor_polars() -> None:
    code = (
        "import embedlab, sys; assert not {'torch', 'polars', 'numpy'} & set(sys.modules); "
        "print(embedlab.__version__)"
    )
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert answer.stdout.strip() == embedlab.__version__


def test_every_name_resolves_and_others_are_not_attributes() -> None:
    assert all(callable(getattr(embedlab, name)) for name in embedlab.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        embedlab.nothing  # noqa: B018


def test_a_model_encodes_and_scores(tiny_encoder: Path, own: str) -> None:
    model = embedlab.load(str(tiny_encoder))
    vectors = model.encode(["the dog sleeps", "the cat runs"])
    assert vectors.dtype == np.float32
    assert np.array_equal(
        vectors, embedlab.encode(str(tiny_encoder), ["the dog sleeps", "the cat runs"])
    )
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    folder = embedlab.export(str(tiny_encoder), "exported")
    assert np.allclose(embedlab.encode(str(folder), ["the cat runs"]), vectors[1:], atol=1e-5)
    similarity = model.score(["the dog sleeps"], ["the cat runs"])
    assert similarity == pytest.approx([unit[0] @ unit[1]], abs=1e-5)
    assert embedlab.score_pairs("dice", ["a b"], ["b c"]) == pytest.approx([0.5])


def test_a_comparison_has_the_numbers_of_the_command(
    embedlab_command: conftest.Embedlab, tiny_encoder: Path, own: str
) -> None:
    name = str(tiny_encoder)
    found = embedlab.compare(["dice", name], tasks=["sts12"], equivalent=5, data="tiny")
    words = ("compare", "dice", name, "--task", "sts12", "--equivalent", "5", "--data", "tiny")
    printed = embedlab_command(*words, "--json").json
    assert found.frame.schema == dict(COMPARED)
    first, second = found.frame.to_dicts()
    assert printed["rows"] == [first, second]
    assert second["difference"] == pytest.approx(second["score"] - first["score"])
    assert second["low"] < second["score"] < second["high"]
    assert second["items"] == 500
    assert json.loads(found.table("json")) == printed
    assert found._repr_html_().count("<tr>") == 3  # a row a model below the titles
    assert repr(found) == found.table()


@pytest.mark.parametrize(
    ("call", "message", "hint"),
    [
        (
            lambda: embedlab.score_pairs("dice", "a b", "a c"),
            "first is one text: 'a b'",
            "give a list",
        ),
        (
            lambda: embedlab.score_pairs("dice", ["a"], ["b", "c"]),
            "first has 1 text, second 2",
            "two texts",
        ),
        (
            lambda: embedlab.score_pairs("dice", ["a"], [None]),
            r"second\[0\] is None: not a text",
            "texts alone",
        ),  # type: ignore[list-item]
        (
            lambda: embedlab.compare(["dice"], bye="source"),
            "no keyword named 'bye'",
            "did you mean 'by'",
        ),
        (
            lambda: embedlab.evaluate("dice", dtaa=True),
            "no keyword named 'dtaa'",
            "did you mean 'data'",
        ),
        (
            lambda: embedlab.pairs("dice", limit=-3, data="tiny"),
            "option limit is -3",
            "1 or more",
        ),
        (
            lambda: embedlab.train("snli-ce", set=["a=1"], data="tiny"),
            "not a dictionary",
            "for example",
        ),  # type: ignore[arg-type]
        (
            lambda: embedlab.train("snli-ce", seeds=["x"], data="tiny"),
            "seeds is 'x'",
            "must be an integer",
        ),  # type: ignore[list-item]
        (lambda: embedlab.train("snli-ce", seeds=1.5), "seeds is 1.5", "must be an integer"),
        (
            lambda: embedlab.train("snli-ce", set={"optim.lr": None}, data="tiny"),
            "'optim.lr' is None: not a value that a recipe can hold",
            "give text",
        ),
        (
            lambda: embedlab.train("snli-ce", seeds=[1, 1], data="tiny"),
            "seed 1 is given twice",
            "each seed once",
        ),
        (lambda: embedlab.train("snli-ce", seeds=[-1], data="tiny"), "seed -1", ""),
        (lambda: embedlab.compare(["dice"], where=3), "where is 3", "must be a text"),
        (lambda: embedlab.grid_table("g", where={"optim.lr": 1}), "where is {'o", "must be a text"),
        (
            lambda: embedlab.compare(["dice"], letters="yes"),
            "letters is 'yes'",
            "must be true or false",
        ),
        (lambda: embedlab.nearest("a", ["dice"], top=1.5), "top is 1.5", "must be an integer"),
    ],
)
def test_what_only_a_call_can_get_wrong_is_refused_with_the_way_out(
    call: Callable[[], object], message: str, hint: str, own: str
) -> None:
    with pytest.raises(UsageError, match=message) as found:
        call()
    assert found.value.hint
    assert hint in str(found.value.hint)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: embedlab.compare(["dice"], [("a", "b", 1.0)]), "too many positional arguments"),
        (lambda: embedlab.compare(["dice"], models=["dice"]), "multiple values for .*'models'"),
        (lambda: embedlab.power("dice"), "missing a required argument: 'second'"),
    ],
)
def test_a_call_with_other_arguments_than_its_own_is_refused_as_python_does(
    call: Callable[[], object], message: str
) -> None:
    with pytest.raises(TypeError, match=rf"\(\): {message}; help\(embedlab\."):
        call()


def test_the_script_of_the_documentation_runs(
    tiny_encoder: Path, own: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["notebook.py", str(tiny_encoder)])
    monkeypatch.setenv("MPLBACKEND", "Agg")
    runpy.run_path(str(Path(__file__).parents[2] / "docs" / "notebook.py"))
    assert Path("gap.png").stat().st_size > 5_000


def test_results_are_plotted_with_what_they_show(tiny_encoder: Path, own: str) -> None:
    found = embedlab.compare(["dice", str(tiny_encoder)], tasks=[own])
    figure = found.plot("differences", width=4, title=True)
    assert (figure.get_figwidth(), figure.name) == (4, "differences")
    assert "n = 12 items of mine.tsv" in figure.caption
    picture, size = figure._repr_png_()
    assert picture.startswith(b"\x89PNG")
    assert size["width"] == 480
    assert embedlab.evaluate("dice", tasks=[own]).plot().name == "scores"
    with pytest.raises(UsageError, match="no figure is declared for this result"):
        embedlab.pairs("dice", tasks=[own]).plot()


def test_runs_have_curves_and_grids_scores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from embedlab.experiments.cells import prepare_grid
    from tests.experiments.conftest import plan_of
    from tests.experiments.test_pivot import value_of, write_results

    monkeypatch.chdir(tmp_path)
    plan = plan_of(tmp_path)
    cells = list(plan.cells)
    write_results(plan, cells)
    prepare_grid(plan)
    place = {"data": "tiny", "runs": tmp_path / "runs"}
    assert embedlab.list_runs(**place).frame.height == len(plan)
    cell = cells[0]
    curves = embedlab.run(cell.id, **place)
    assert curves.frame.rows() == [(cell.id, 1, "dev", pytest.approx(100 * value_of(cell)))]
    assert curves.plot().name == "curves"
    scores = embedlab.grid_table(
        "mine", rows="optim.lr", columns="encoder.pooling", score="sts12", **place
    )
    values = [
        100 * value_of(one)
        for one in cells
        if one.variant.labels == {"optim.lr": "1e-05", "encoder.pooling": "cls"}
    ]
    first = scores.frame.row(0, named=True)
    assert (first["optim.lr"], first["encoder.pooling"], first["seeds"]) == (1e-05, "cls", 2)
    assert first["mean"] == pytest.approx(np.mean(values))
    assert "2 seeds" in scores.plot().caption
