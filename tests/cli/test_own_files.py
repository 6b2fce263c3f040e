"""One's own data in one line: ten files as people have them, trained on and evaluated as they
are.
"""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest

from embedlab.tasks.retrieval import METRICS as SEARCH

if TYPE_CHECKING:
    from tests.cli.conftest import Answer, Embedlab

SUBJECTS = ("man", "dog", "girl", "cat", "boy", "woman", "child", "teacher")
FIRST = [
    f"the {who} {what}"
    for who in SUBJECTS
    for what in ("runs", "sleeps", "eats a cake", "sings", "walks home", "reads")
]
SECOND = [
    f"a {who} {what}"
    for who in SUBJECTS
    for what in (
        "is running",
        "is sleeping",
        "is eating",
        "sings a song",
        "goes home",
        "has a book",
    )
]
THIRD = SECOND[7:] + SECOND[:7]
PARTS = [round((number * 7 % 48) / 47, 2) for number in range(48)]
LABELS = [("entailment", "neutral", "contradiction")[number % 3] for number in range(48)]


def table(columns: dict[str, list[object]], separator: str = ",", end: str = "\n") -> bytes:
    rows = [list(columns), *zip(*columns.values(), strict=True)]
    return "".join(separator.join(map(str, row)) + end for row in rows).encode()


def jsonl(columns: dict[str, list[object]]) -> bytes:
    return "".join(
        json.dumps(dict(zip(columns, row, strict=True))) + "\n"
        for row in zip(*columns.values(), strict=True)
    ).encode()


def parquet(columns: dict[str, list[object]]) -> bytes:
    from io import BytesIO

    content = BytesIO()
    pl.DataFrame(columns).write_parquet(content)
    return content.getvalue()


MARK = b"\xef\xbb\xbf"  # at the beginning of what Windows calls UTF-8
FILES: dict[str, bytes] = {
    "unit.csv": table({"sentence1": FIRST, "sentence2": SECOND, "score": PARTS}),
    "stars.tsv": table(
        {
            "id": [*range(48)],
            "text_a": FIRST,
            "text_b": SECOND,
            "rating": [1 + round(4 * part) for part in PARTS],
        },
        "\t",
    ),
    "words.csv": table({"premise": FIRST, "hypothesis": SECOND, "label": LABELS}),
    "faq.csv": table({"question": FIRST, "answer": SECOND}),
    "triplets.csv": table(
        {"anchor": FIRST, "positive": SECOND, "negative": [f"no {text}" for text in FIRST]}
    ),
    "other.jsonl": jsonl(
        {"left": FIRST, "right": SECOND, "similarity": [100 * part for part in PARTS]}
    ),
    "pairs.parquet": parquet({"query": FIRST, "passage": SECOND}),
    "excel.csv": table(
        {
            "Text 1": FIRST,
            "Text 2": SECOND,
            "Score": [str(part).replace(".", ",") for part in PARTS],
        },
        ";",
    ),
    "windows.csv": MARK
    + table({"sentence1": FIRST, "sentence2": SECOND, "gold": PARTS}, end="\r\n"),
}
NUMBERED = table(
    {"premise": FIRST, "hypothesis": SECOND, "label": [number % 3 for number in range(48)]}
)
RECIPES = {
    "words.csv": "labelled as entailment",
    "faq.csv": "the anchor of your own pairs",
    "pairs.parquet": "the anchor of your own pairs",
    "triplets.csv": "the anchor of your own triplets",
}
SCALES = {
    "unit.csv": 1.0,
    "stars.tsv": 5.0,
    "other.jsonl": 100.0,
    "excel.csv": 1.0,
    "windows.csv": 1.0,
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_is_trained_on_and_evaluated_without_an_option(
    name: str, embedlab: Embedlab, tiny_encoder: Path
) -> None:
    Path(name).write_bytes(FILES[name])
    trained = embedlab("train", name, "--encoder", str(tiny_encoder))
    assert trained.code == 0, trained.err
    run = Path(name).stem
    assert trained.err.startswith(f"{name}: 48 ")
    assert "dev: 10 of 48 rows that share no sentence with the rest (seed 1)" in trained.err
    assert f"{name}?held-out=0.1" in trained.out.replace("\n", "")
    recipe = tomllib.loads(Path(f"runs/{run}/seed-1/recipe.toml").read_text())
    assert recipe["summary"].find(RECIPES.get(name, "the cosine of your own pairs")) >= 0
    assert recipe["stage"][0]["objective"].get("highest") == SCALES.get(name)
    evaluated = embedlab("evaluate", run, name, "--json")
    assert evaluated.code == 0, evaluated.err
    metrics = {row["metric"] for row in evaluated.rows}
    is_ranked = name in {"faq.csv", "pairs.parquet", "triplets.csv"}
    assert metrics == ({*SEARCH} if is_ranked else {"spearman"})
    assert {row["items"] for row in evaluated.rows if row["setting"] in {"", "all"}} == {48}


def test_labels_as_numbers_are_refused_with_the_line_that_reads_them(
    embedlab: Embedlab, tiny_encoder: Path
) -> None:
    Path("numbers.csv").write_bytes(NUMBERED)
    for words in (
        ("train", "numbers.csv", "--encoder", str(tiny_encoder)),
        ("evaluate", "dice", "numbers.csv"),
    ):
        refused = embedlab(*words)
        assert (refused.code, refused.out) == (2, "")
        assert "numbers.csv: 'label' holds 0, 1, 2: scores, or numbers of labels" in refused.err
    typed = "numbers.csv?label=label&labels=0:entailment,1:neutral,2:contradiction"
    assert f"or '{typed}'" in refused.err
    trained = embedlab("train", typed, "--encoder", str(tiny_encoder))
    assert trained.code == 0, trained.err
    data = tomllib.loads(Path("runs/numbers/seed-1/recipe.toml").read_text())["stage"][0]["data"]
    assert data["labels"] == {"0": "entailment", "1": "neutral", "2": "contradiction"}
    assert embedlab("evaluate", "numbers", typed).code == 0


def test_the_recipe_of_the_run_trains_the_same_by_itself(
    embedlab: Embedlab, tiny_encoder: Path
) -> None:
    Path("faq.csv").write_bytes(FILES["faq.csv"])
    assert embedlab("train", "faq.csv", "--encoder", str(tiny_encoder)).code == 0
    Path("elsewhere").mkdir()
    Path("elsewhere/again.toml").write_bytes(Path("runs/faq/seed-1/recipe.toml").read_bytes())
    again = embedlab("train", "elsewhere/again.toml")
    assert again.code == 0, again.err
    first, second = (
        Path(f"runs/{name}/seed-1/model/model.safetensors").read_bytes()
        for name in ("faq", "again")
    )
    assert first == second


def test_a_dev_file_is_read_as_the_file_of_training(embedlab: Embedlab, tiny_encoder: Path) -> None:
    Path("pairs.csv").write_bytes(table({"a": FIRST, "b": SECOND, "points": PARTS}))
    Path("dev.csv").write_bytes(table({"a": THIRD, "b": FIRST, "points": PARTS}))
    refused = embedlab("train", "pairs.csv", "--encoder", str(tiny_encoder), "--dev", "dev.csv")
    assert (refused.code, refused.err.count("\n")) == (2, 2)
    assert "'pairs.csv?score=points' or 'pairs.csv?anchor=a&positive=b'" in refused.err
    words = (
        "train",
        "pairs.csv?score=points",
        "--encoder",
        str(tiny_encoder),
        "--dev",
        "dev.csv",
        "--name",
        "mine",
    )
    trained = embedlab(*words)
    assert trained.code == 0, trained.err
    assert "dev: dev.csv?s1=a&s2=b&score=points: 48 scored pairs" in trained.err
    recipe = tomllib.loads(Path("runs/mine/seed-1/recipe.toml").read_text())
    assert recipe["evaluate"]["dev"] == f"{Path('dev.csv').absolute()}?s1=a&s2=b&score=points"
    assert "held_out" not in recipe["stage"][0]["data"]
    by_set = embedlab(
        "train",
        "pairs.csv",
        "--set",
        "data.columns.gold=points",
        "--encoder",
        str(tiny_encoder),
        "--dry-run",
    )
    assert 'gold = "points"' in by_set.out, by_set.err


def test_low_scores_are_trained_on_where_that_is_said(
    embedlab: Embedlab, tiny_encoder: Path
) -> None:
    Path("low.csv").write_bytes(table({"sentence1": FIRST, "sentence2": SECOND, "score": PARTS}))
    words = ("--encoder", str(tiny_encoder), "--dry-run")
    assert "scores from 0 to 1 on a scale from 0 to 1" in embedlab("train", "low.csv", *words).out
    refused = embedlab("train", "low.csv?scale=0-5", *words)
    assert refused.code == 2
    assert "low.csv: the scores are from 0 to 1, but scale is 0-5" in refused.err
    assert "'low.csv?scale=0-5&low-scores'" in refused.err
    said = embedlab("train", "low.csv?scale=0-5&low-scores", *words)
    assert "highest = 5.0" in said.out, said.err
    by_recipe = ("train", "own-scored-pairs", "--set", "data.files=low.csv", *words)
    assert "--set data.low_scores=true" in embedlab(*by_recipe, "--set", "evaluate.dev=none").err
    assert (
        embedlab(*by_recipe, "--set", "evaluate.dev=none", "--set", "data.low_scores=true").code
        == 0
    )


def test_a_file_of_rows_and_a_file_of_scores_are_distinguished(embedlab: Embedlab) -> None:
    Path("faq.csv").write_bytes(FILES["faq.csv"])
    Path("unit.csv").write_bytes(FILES["unit.csv"])
    Path("mine.csv").write_bytes(
        table({"sentence1": FIRST, "sentence2": SECOND, "cosine": PARTS[::-1]})
    )
    compared = embedlab("compare", "dice", "scores:mine.csv", "unit.csv", "--json")
    assert compared.code == 0, compared.err
    assert [row["slice"] for row in compared.rows] == ["unit.csv"] * len(compared.rows)
    for words, fault in (
        (
            ("dice", "mine.csv", "--task", "unit.csv"),
            "'mine.csv' is a file of rows, and --task or --suite name others",
        ),
        (("mine.csv",), "'mine.csv' is a file of rows, and no model is named"),
        (("dice", "mine.csv"), "mine.csv: 'cosine' may be their score"),
        (("dice", "gone.csv"), "no file 'gone.csv'"),
    ):
        refused = embedlab("compare", *words)
        assert refused.code in {2, 3}
        assert fault in refused.err
    assert "scores:mine.csv" in embedlab("compare", "dice", "mine.csv", "--task", "unit.csv").err


def test_queries_are_compared_with_intervals_letters_and_properties(
    embedlab: Embedlab, tiny_encoder: Path
) -> None:
    Path("faq.csv").write_bytes(FILES["faq.csv"])
    answer = embedlab(
        "compare", "dice", f"{tiny_encoder}?pooling=mean", "faq.csv", "--by", "dice", "--json"
    )
    assert answer.code == 0, answer.err
    assert {row["metric"] for row in answer.rows} == {*SEARCH}
    whole = embedlab(
        "compare", "dice", f"{tiny_encoder}?pooling=mean", "faq.csv", "--letters", "--notes"
    )
    assert "faq.csv" in whole.out
    assert "[" in whole.out
    assert "same letter: not distinguished" in whole.out


def test_pairs_that_name_no_source_have_no_mean_over_sources(embedlab: Embedlab) -> None:
    columns = {"sentence1": FIRST, "sentence2": SECOND, "score": PARTS}
    Path("unit.csv").write_bytes(table(columns))
    assert {row["setting"] for row in embedlab("evaluate", "dice", "unit.csv", "--json").rows} == {
        "all"
    }
    assert "wmean" not in embedlab("evaluate", "dice", "unit.csv").out
    Path("sources.csv").write_bytes(table({**columns, "source": ["news", "forum"] * 24}))
    assert {
        row["setting"] for row in embedlab("evaluate", "dice", "sources.csv", "--json").rows
    } == {"all", "mean", "wmean"}


@pytest.mark.parametrize(
    ("words", "unknown"),
    [
        (("compare", "dice", "FILE", "--by", "{}"), "domain"),
        (("compare", "dice", "FILE", "--by", "negation,{}"), "domain"),
        (("compare", "dice", "FILE", "--where", "{}:2*"), "year"),
        (("evaluate", "dice", "FILE", "--by", "{}"), "domain"),
        (("evaluate", "dice", "FILE", "--where", "{}:news"), "domain"),
        (("pairs", "dice", "--dataset", "FILE", "--where", "{}:news"), "domain"),
    ],
)
def test_a_property_that_is_a_column_of_the_file_is_offered_as_its_source(
    words: tuple[str, ...], unknown: str, embedlab: Embedlab
) -> None:
    facts: dict[str, list[object]] = {
        "domain": ["news", "web"] * 24,
        "year": [2003, 2004, 2005, 1999] * 12,
    }
    Path("extra.csv").write_bytes(
        table({"sentence1": FIRST, "sentence2": SECOND, "points": PARTS, **facts})
    )

    def called(file: str, field: str) -> Answer:
        return embedlab(*(file if word == "FILE" else word.format(field) for word in words))

    answer = called("./extra.csv?score=points", unknown)
    assert answer.code == 2
    name = f"extra.csv?score=points&source={unknown}"
    assert answer.err.splitlines()[-1] == (
        f"hint: {unknown} is a column of extra.csv: name the file '{name}', which --by "
        f"source and --where source:VALUE read"
    )
    assert "known: " in called("./extra.csv?score=points", "age").err.splitlines()[-1]
    offered = called(name, "source")
    assert offered.code == 0, offered.err


def test_sentences_are_trained_on_and_give_nothing_to_evaluate(
    embedlab: Embedlab, tiny_encoder: Path
) -> None:
    Path("lines.txt").write_text("\n".join(FIRST) + "\n")
    trained = embedlab("train", "lines.txt", "--encoder", str(tiny_encoder))
    assert trained.code == 0, trained.err
    assert "no dev score: single sentences have none" in trained.err
    Path("sentences.csv").write_bytes(table({"sentence": FIRST}))
    refused = embedlab("evaluate", "lines", "sentences.csv")
    assert "sentences.csv holds sentences, not scored pairs" in refused.err


def test_pairs_that_are_there_more_than_once_are_counted_and_so_are_their_different_gold_scores(
    embedlab: Embedlab,
) -> None:
    again = [*range(48), *range(10), *range(3)]
    gold = [PARTS[row] for row in again[:58]] + [1 - PARTS[row] / 2 for row in range(3)]
    Path("twice.csv").write_bytes(
        table(
            {
                "sentence1": [FIRST[row] for row in again],
                "sentence2": [SECOND[row] for row in again],
                "score": gold,
            }
        )
    )
    note = (
        "twice.csv: 10 pairs are there more than once (23 rows), 3 of them with different "
        "gold scores"
    )
    for command in ("evaluate", "compare"):
        assert note in " ".join(embedlab(command, "dice", "twice.csv").out.split())
    Path("once.csv").write_bytes(table({"sentence1": FIRST, "sentence2": SECOND, "score": PARTS}))
    assert "more than once" not in embedlab("evaluate", "dice", "once.csv").out
