"""Objects of the program and rows in memory are models and tasks of a call from Python."""

import gc
import re
import weakref
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pandas as pd
import polars as pl
import pytest
from datasets import Dataset

import embedlab
from embedlab.core.errors import (
    EmbedlabError,
    Hint,
    MissingError,
    NamedOption,
    RecipeValue,
    UsageError,
    with_hint,
)
from embedlab.encoders.kinds.live import session_folder
from embedlab.models.aliases import aliases

PAIRS = [
    (f"{'abc'[n % 3] * (n + 1)} is here", f"{'abcd'[n % 4] * (n + 2)} was there", n % 6)
    for n in range(80)
]
FRAME = pl.DataFrame(PAIRS, schema=["sentence1", "sentence2", "score"], orient="row")


def letters(texts: list[str]) -> np.ndarray:
    return np.array([[text.count(letter) for letter in "abcd"] for text in texts], np.float32)


class Lengths:
    def encode(self, texts: list[str]) -> list[list[float]]:
        return [[len(text), text.count(" ") + 1.0] for text in texts]


class Searching(Lengths):
    """In vectors of their own the n-th query is the n-th document."""

    def encode_query(self, texts: list[str]) -> np.ndarray:
        return np.eye(50)[[int(text.split()[-1]) for text in texts]]

    encode_document = encode_query


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EMBEDLAB_CACHE", str(tmp_path / "cache"))


def test_search_reads_queries_and_documents_as_the_object_has_them(tmp_path: Path) -> None:
    lines = [f"question {n},answer {n}" for n in range(50)]
    (tmp_path / "faq.csv").write_text("\n".join(["anchor,positive", *lines]))
    found = embedlab.compare({"mine": Searching(), "plain": Lengths()}, tasks=["faq.csv"]).frame
    values = found.filter(metric="ndcg@10").select("model", "score").rows()
    assert values == [("live:mine", 100), ("live:plain", pytest.approx(0, abs=5))]


def test_a_function_scores_as_its_vectors_do(tmp_path: Path) -> None:
    report = embedlab.compare({"mine": letters, "lengths": Lengths()}, tasks=PAIRS)
    files = embedlab.compare("dice", tasks=FRAME)  # the same rows, as a data frame
    assert set(report.frame["model"]) == {"live:mine", "live:lengths"}
    assert set(report.frame["slice"]) == set(files.frame["slice"])
    left, right = (letters([pair[side] for pair in PAIRS]) for side in (0, 1))
    cosines = (left * right).sum(1) / np.linalg.norm(left, axis=1) / np.linalg.norm(right, axis=1)
    scored = embedlab.score_pairs(letters, [pair[0] for pair in PAIRS], [pair[1] for pair in PAIRS])
    np.testing.assert_allclose(scored, cosines, atol=1e-6)
    single = embedlab.evaluate(letters, tasks=PAIRS)
    assert any("kept for this call alone" in note for note in single.notes)
    assert len(list((tmp_path / "cache").glob("models/*/evaluations"))) == 1  # of dice alone


def test_an_object_that_changed_is_computed_again() -> None:
    model = Lengths()
    before = embedlab.evaluate(model, tasks=PAIRS).frame
    model.encode = letters  # type: ignore[method-assign]
    after = embedlab.evaluate(model, tasks=PAIRS).frame
    assert after.equals(embedlab.evaluate({"Lengths": letters}, tasks=PAIRS).frame)
    assert not after.equals(before)


def test_an_object_is_let_go_with_its_last_call_and_its_name_stays_taken() -> None:
    class Own(Lengths):
        pass

    model = Own()
    kept = [
        embedlab.compare([model, "dice"], tasks=PAIRS),
        embedlab.score("a", "b", models=model),
    ]
    alive = weakref.ref(model)
    loaded = embedlab.load(model)
    del model
    assert loaded.encode(["a b"]).tolist() == [[3.0, 2.0]]
    del loaded
    gc.collect()
    assert alive() is None
    assert not (session_folder() / "results").exists()
    assert kept[0].frame["model"].to_list() == ["live:Own", "dice"]
    assert embedlab.evaluate(Own(), tasks=PAIRS).frame["model"][0] == "live:Own-2"


def test_rows_have_one_name_of_their_content_everywhere() -> None:
    evaluated = embedlab.evaluate({"mine": letters}, tasks=PAIRS)
    compared = embedlab.compare({"mine": letters, "over": "dice"}, tasks=PAIRS)
    (name,) = {*evaluated.frame["slice"], *compared.frame["slice"]}
    assert re.fullmatch("rows-[0-9a-f]{6}", name)
    assert name in compared.table()
    assert "live:" not in compared.table().partition("\n!")[0]
    assert not any(".parquet" in text for text in (compared.table("json"), *compared.notes))
    assert "over" in compared.frame["model"].to_list()
    assert "over" not in aliases()  # names of a dict last for the call
    with pytest.raises(UsageError, match="no model named 'over'"):
        embedlab.load("over")


def test_rows_of_every_library_are_the_same_rows_and_nan_is_missing() -> None:
    rows = [*FRAME.iter_rows(named=True)]
    of_libraries = (pd.DataFrame(rows), Dataset.from_list(rows), FRAME.lazy(), FRAME.to_arrow())
    generated = (iter(PAIRS), (row for row in rows), zip(*FRAME, strict=True), [FRAME.lazy()])
    every_kind = (PAIRS, FRAME, rows, *of_libraries, *generated)
    names = {embedlab.evaluate("dice", tasks=given).frame["slice"][0] for given in every_kind}
    assert len(names) == 1
    for given in (PAIRS, PAIRS[::-1]):
        first = embedlab.pairs("dice", tasks=given, limit=1).frame.row(0, named=True)
        assert given[first["pair"]][:2] == (first["sentence1"], first["sentence2"])
    lacking = [(float("nan"), "was there", 1.0), *PAIRS]
    for given in (lacking, pd.DataFrame(lacking, columns=FRAME.columns)):
        assert embedlab.pairs("dice", tasks=given).frame.height == len(PAIRS)
    with pytest.raises(UsageError, match="tasks is empty"):
        embedlab.evaluate("dice", tasks=[])


def test_a_filter_names_an_object_as_tables_do() -> None:
    def counting(texts: list[str]) -> np.ndarray:
        return letters(texts)

    frame = embedlab.pairs([counting], tasks=PAIRS, where="counting>0.99").frame
    assert 0 < frame.height < len(PAIRS)
    assert (frame["similarity"] > 0.99).all()
    assert frame.equals(embedlab.pairs([counting], tasks=PAIRS, where="live:counting>0.99").frame)


def test_sentences_are_scored_and_searched_without_a_file() -> None:
    scored = embedlab.score("a cat", "a cab", models={"overlap": "dice", "counts": letters})
    assert scored.frame["model"].to_list() == ["overlap", "live:counts"]
    found = embedlab.nearest("a cat", "dice", file=["no dog", "the cat", "a cat sat"], top=1)
    assert found.frame["sentence"].to_list() == ["a cat sat"]
    with pytest.raises(UsageError, match=r"file\[0\] is 1"):
        embedlab.nearest("a cat", "dice", file=[1, 2])


def test_an_object_stands_for_the_row_of_a_paper() -> None:
    rows = {"SBERT": letters, "DefSent": "dice"}
    asked = {"from_": "scores", "data": "tiny", "row": rows}
    frame = embedlab.reproduce("tsukagoshi", "figure3_dice", **asked).frame
    assert set(frame["model"]) == {*rows}
    assert set(frame["table"]) == {"figure3_dice"}


def test_a_traceback_ends_with_the_hint_and_its_keywords() -> None:
    with pytest.raises(UsageError) as error:
        embedlab.compare(["dice"], task="starter")
    assert error.value.__notes__ == ["hint: did you mean 'tasks'?"]
    with pytest.raises(UsageError) as of_report:
        embedlab.compare("dice", tasks=PAIRS).table("text")
    assert of_report.value.__notes__ == ["hint: one of table, markdown, latex, csv, json"]
    hint = Hint("give ", NamedOption("--data", "starter"), " or ", RecipeValue("optim.lr", "1e-5"))
    failing = with_hint(Mock(side_effect=MissingError("no data", hint=hint)))
    with pytest.raises(MissingError) as missing:
        failing()
    assert missing.value.__notes__ == ["hint: give data='starter' or set={'optim.lr': 1e-5}"]


def test_an_object_that_fails_is_named() -> None:
    def broken(texts: list[str]) -> float:
        return 1 / 0

    with pytest.raises(MissingError, match="the object cannot compute 'live:broken'"):
        embedlab.evaluate(broken, tasks=PAIRS)
    with pytest.raises(EmbedlabError, match="gives vectors of complex numbers"):
        embedlab.evaluate(lambda texts: letters(texts) * 1j, tasks=PAIRS)


def test_a_text_whose_vector_is_not_finite_is_named_and_left_out() -> None:
    def odd(texts: list[str]) -> np.ndarray:
        return np.where([[text == PAIRS[7][0]] for text in texts], np.nan, letters(texts))

    report = embedlab.evaluate({"odd": odd}, tasks=PAIRS)
    other_pairs = [*PAIRS[:7], *PAIRS[8:]]
    expected = embedlab.evaluate({"plain": letters}, tasks=other_pairs).frame["score"]
    assert report.frame["score"].to_list() == expected.to_list()
    assert any(repr(PAIRS[7][0]) in note for note in report.notes)


def test_what_is_neither_a_model_nor_rows_is_refused() -> None:
    with pytest.raises(UsageError, match="int is not a model"):
        embedlab.compare([3, "dice"], tasks=PAIRS)
    with pytest.raises(UsageError, match="data is a data frame"):
        embedlab.evaluate("dice", data=pl.DataFrame({"sentence1": ["a"]}))
    for given in ([object()], {"mine": PAIRS}):
        with pytest.raises(UsageError, match="neither names nor rows"):
            embedlab.compare("dice", tasks=given)
    half = "a \ud83d"
    for call in (
        lambda: embedlab.evaluate("dice", tasks=[(half, "b", 1.0)]),
        lambda: embedlab.load("dice").score(["a"], [half]),
        lambda: embedlab.score(half, "b", models=["dice"]),
        lambda: embedlab.nearest(half, models=["dice"], file=["x y"]),
        lambda: embedlab.explain(half, "b", models=["dice"]),
    ):
        with pytest.raises(UsageError, match=r"has half of a character \('\\ud83d'\)"):
            call()
