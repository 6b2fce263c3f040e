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
    from tests.cli.conftest import Embedlab

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
