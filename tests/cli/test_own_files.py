"""One's own data in one line: files as people have them, trained on and evaluated as they
are.
"""

from __future__ import annotations

import shutil
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from embedlab.tasks.retrieval import METRICS as SEARCH

if TYPE_CHECKING:
    from tests.cli.conftest import Embedlab

SUBJECTS = ("man", "dog", "girl", "cat", "boy", "woman", "child", "teacher")
DOES = {
    **{"runs": "is running", "sleeps": "is sleeping", "eats a cake": "is eating"},
    **{"sings": "sings a song", "walks home": "goes home", "reads": "has a book"},
}
FIRST = [f"the {who} {what}" for who in SUBJECTS for what in DOES]
SECOND = [f"a {who} {what}" for who in SUBJECTS for what in DOES.values()]
PARTS = [round((number * 7 % 48) / 47, 2) for number in range(48)]
LABELS = [("entailment", "neutral", "contradiction")[number % 3] for number in range(48)]


FILES: dict[str, dict[str, list[Any]]] = {
    "stars.tsv": {
        "id": [*range(48)],
        "text_a": FIRST,
        "text_b": SECOND,
        "rating": [1 + round(4 * part) for part in PARTS],
    },
    "words.csv": {"premise": FIRST, "hypothesis": SECOND, "label": LABELS},
    "triplets.csv": {
        "anchor": FIRST,
        "positive": SECOND,
        "negative": [f"no {text}" for text in FIRST],
    },
    "other.jsonl": {"left": FIRST, "right": SECOND, "similarity": [100 * part for part in PARTS]},
    "pairs.parquet": {"query": FIRST, "passage": SECOND},
    "excel.csv": {
        "Text 1": FIRST,
        "Text 2": SECOND,
        "Score": [str(part).replace(".", ",") for part in PARTS],
    },
    "faq.csv": {"question": FIRST, "answer": SECOND},
    "sentences.csv": {"sentence": FIRST},
}


def write(name: str) -> None:
    """Write a file as its program does; Excel's has semicolons where numbers have commas."""
    frame, ending = pl.DataFrame(FILES[name]), Path(name).suffix
    separator = ";" if name == "excel.csv" else "\t" if ending == ".tsv" else ","
    if ending == ".parquet":
        frame.write_parquet(name)
    elif ending == ".jsonl":
        frame.write_ndjson(name)
    else:
        frame.write_csv(name, separator=separator, include_bom=name == "excel.csv")


RECIPES = {
    "words.csv": "labelled as entailment",
    "pairs.parquet": "the anchor of your own pairs",
    "triplets.csv": "the anchor of your own triplets",
}
SCALES = {"stars.tsv": 5.0, "other.jsonl": 100.0, "excel.csv": 1.0}


@pytest.mark.parametrize("name", [*FILES][:6])
def test_a_file_is_trained_on_and_evaluated_without_an_option(
    name: str, embedlab: Embedlab, tiny_encoder: Path
) -> None:
    write(name)
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
    is_ranked = name in {"pairs.parquet", "triplets.csv"}
    assert metrics == ({*SEARCH} if is_ranked else {"spearman"})
    assert {row["items"] for row in evaluated.rows if row["setting"] in {"", "all"}} == {48}


def test_the_recipe_of_the_run_trains_the_same_by_itself(
    embedlab: Embedlab, tiny_encoder: Path
) -> None:
    write("faq.csv")
    assert embedlab("train", "faq.csv", "--encoder", str(tiny_encoder)).code == 0
    Path("elsewhere").mkdir()
    shutil.copy("runs/faq/seed-1/recipe.toml", "elsewhere/again.toml")
    assert embedlab("train", "elsewhere/again.toml").code == 0
    weights = "seed-1/model/model.safetensors"
    again = Path("runs/again", weights).read_bytes()
    assert Path("runs/faq", weights).read_bytes() == again


def test_sentences_are_trained_on_and_give_nothing_to_evaluate(
    embedlab: Embedlab, tiny_encoder: Path
) -> None:
    Path("lines.txt").write_text("\n".join(FIRST) + "\n")
    trained = embedlab("train", "lines.txt", "--encoder", str(tiny_encoder))
    assert trained.code == 0, trained.err
    assert "no dev score: single sentences have none" in trained.err
    write("sentences.csv")
    refused = embedlab("evaluate", "lines", "sentences.csv")
    assert "sentences.csv holds sentences, not scored pairs" in refused.err
