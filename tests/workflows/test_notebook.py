"""`import embedlab`: what the commands print, as frozen results, and nothing heavy before it is used."""

import json
import runpy
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import embedlab
from embedlab.cli.app import main
from embedlab.core.errors import UsageError
from embedlab.reports.frames import COMPARED, EVALUATED

PAIRS = "sentence1\tsentence2\tscore\n" + "".join(
    f"the {first} sleeps\tthe {second} {verb}\t{gold}\n"
    for gold, (first, second, verb) in enumerate(
        [(a, b, verb) for a in ("dog", "cat", "boy") for b in ("dog", "man") for verb in ("sleeps", "runs")]
    )
)


@pytest.fixture
def embedlab_command(capsys: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    """What a command prints as JSON."""

    def run(*words: str) -> Any:
        capsys.readouterr()
        assert main(words) == 0
        return json.loads(capsys.readouterr().out)

    return run


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Twelve pairs, and a working folder without settings."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EMBEDLAB_CACHE", str(tmp_path / "cache"))
    (tmp_path / "mine.tsv").write_text(PAIRS)
    return "mine.tsv"


def test_importing_it_loads_neither_torch_nor_polars() -> None:
    code = "import embedlab, sys; assert not {'torch', 'polars', 'numpy'} & set(sys.modules); print(embedlab.__version__)"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == embedlab.__version__


def test_every_name_resolves_and_others_are_no_attributes() -> None:
    assert all(callable(getattr(embedlab, name)) for name in embedlab.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        embedlab.nothing  # noqa: B018


def test_a_model_encodes_and_scores(tiny_encoder: Path, own: str) -> None:
    model = embedlab.load(str(tiny_encoder))
    vectors = model.encode(["the dog sleeps", "the cat runs"])
    assert vectors.dtype == np.float32
    assert np.array_equal(vectors, embedlab.encode(str(tiny_encoder), ["the dog sleeps", "the cat runs"]))
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    similarity = model.score(["the dog sleeps"], ["the cat runs"])
    assert similarity == pytest.approx([unit[0] @ unit[1]], abs=1e-5)
    assert embedlab.score_pairs("dice", ["a b"], ["b c"]) == pytest.approx([0.5])


def test_word_overlap_has_no_vectors(own: str) -> None:
    with pytest.raises(UsageError, match="'dice' has no vectors"):
        embedlab.load("dice").encode(["a dog"])


def test_a_comparison_has_the_numbers_of_the_command(embedlab_command: Callable[..., Any], tiny_encoder: Path, own: str) -> None:
    name = str(tiny_encoder)
    found = embedlab.compare(["dice", name], tasks=[own], equivalent=5)
    (row,) = embedlab_command("compare", "dice", name, "--task", own, "--equivalent", "5", "--json")["rows"]
    assert found.frame.schema == dict(COMPARED)
    first, second = found.frame.to_dicts()
    assert (first["model"], second["model"], first["difference"]) == ("dice", name, None)
    assert [first["score"], second["score"]] == pytest.approx([row["dice"], row[name]])
    assert second["difference"] == pytest.approx(row[f"{name} − dice"] if f"{name} − dice" in row else row[name] - row["dice"])
    assert second["low"] < second["score"] < second["high"]
    assert second["items"] == 12
    assert json.loads(found.table("json"))["rows"] == [row]
    assert "<table" in found._repr_html_()


def test_several_tasks_are_compared_in_one_frame(tiny_encoder: Path, own: str) -> None:
    found = embedlab.compare([f"{tiny_encoder}?pooling=cls", f"{tiny_encoder}?pooling=mean"], suite="geometry", sample=True)
    assert set(found.frame["task"]) == {"geometry"}
    assert found.frame["p"].null_count() == found.frame.height  # aggregates alone


def test_an_evaluation_is_a_tidy_frame_of_every_number(tiny_encoder: Path, own: str) -> None:
    found = embedlab.evaluate([str(tiny_encoder), "dice"], tasks=[own])
    assert found.frame.schema == dict(EVALUATED)
    chosen = found.frame.filter(by="dataset", metric="spearman", setting="all")
    assert chosen["model"].to_list() == [str(tiny_encoder), "dice"]
    assert chosen["items"].to_list() == [12, 12]
    assert found.table("markdown").count("\n") > 3


def test_pairs_are_filtered_as_the_command_filters(own: str) -> None:
    found = embedlab.pairs("dice", where="gold>6 dice>0.5", datasets=[own])
    assert isinstance(found, pl.DataFrame)
    assert 0 < found.height < 12
    assert found["gold"].min() > 6  # type: ignore[operator]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"models": []}, "no model is named"),
        ({"models": ["dice", "dice"]}, "'dice' is named twice"),
        ({"models": ["dice"], "suite": "stss"}, "no task named 'stss'"),
        ({"models": ["dice"], "nonsense": 1}, "unknown key 'nonsense'"),
    ],
)
def test_a_wrong_argument_is_one_error_with_a_hint(wrong: dict[str, object], message: str, own: str) -> None:
    with pytest.raises(UsageError, match=message) as found:
        embedlab.compare(**wrong)  # type: ignore[arg-type]
    assert found.value.hint


def test_the_script_of_the_documentation_runs(tiny_encoder: Path, own: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["notebook.py", str(tiny_encoder)])
    monkeypatch.setenv("MPLBACKEND", "Agg")
    runpy.run_path(str(Path(__file__).parents[2] / "docs" / "notebook.py"))
    assert Path("gap.png").stat().st_size > 5_000
