"""Training on a user's own files: every shipped recipe for them, resumed to the bit, and refused
when a file has changed.
"""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from embedlab.core.errors import MissingError, UsageError
from embedlab.core.recipe import Recipe, load_recipe
from embedlab.runs import events
from embedlab.runs.status import run_status
from embedlab.training.blocks import open_stages
from embedlab.training.stage_data import check_own_rows
from tests.refusal import refused
from tests.training.small_runs import SAMPLE, Train, events_of, interrupted, length_of_a_vector

TEXTS = [
    f"a {colour} {animal} sleeps"
    for colour in ("red", "small", "young", "quiet")
    for animal in ("man", "dog", "girl", "cat")
]
BACK = TEXTS[::-1]
NUMBERS = range(16)
KINDS: dict[str, tuple[str, dict[str, Any], list[str]]] = {  # recipe → file, rows, settings
    "own-labelled-pairs": (
        "rows.jsonl",
        {"premise": TEXTS, "hypothesis": BACK, "label": [number % 3 for number in NUMBERS]},
        ["data.labels={0 = 'entailment', 1 = 'neutral', 2 = 'contradiction'}"],
    ),
    "own-scored-pairs": (
        "rows.tsv",
        {"sentence1": TEXTS, "sentence2": BACK, "score": [number / 16 for number in NUMBERS]},
        ["objective.highest=1"],
    ),
    "own-triplets": (
        "rows.csv",
        {"first": TEXTS, "second": BACK, "third": [*TEXTS[8:], *TEXTS[:8]]},
        ["data.columns={anchor = 'first', positive = 'second', negative = 'third'}"],
    ),
    "own-pairs": (
        "rows.parquet",
        {"first": TEXTS, "second": BACK},
        ["data.columns.anchor=first", "data.columns.positive=second"],
    ),
    "own-sentences": ("rows.txt", {"sentence": TEXTS}, []),
}


def write(path: Path, columns: dict[str, Any]) -> Path:
    frame = pl.DataFrame(columns)
    match path.suffix:
        case ".jsonl":
            frame.write_ndjson(path)
        case ".parquet":
            frame.write_parquet(path)
        case ".txt":
            path.write_text("\n".join(frame["sentence"]) + "\n")
        case suffix:
            frame.write_csv(path, separator="\t" if suffix == ".tsv" else ",")
    return path


def own_recipe(name: str, encoder: Path, folder: Path, *changes: str) -> Recipe:
    file, columns, settings = KINDS[name]
    path = folder / file
    if not path.exists():
        write(path, columns)
    size = ["optim.batch_size=8", "optim.epochs=1", "encoder.max_tokens=16", "evaluate.every=0.5"]
    return load_recipe(
        name, [f'data.files=["{path}"]', *settings, *size, *changes], encoder=str(encoder)
    )


@pytest.mark.parametrize("name", KINDS)
def test_every_recipe_for_own_rows_trains_on_them_with_a_dev_score(
    name: str, train: Train, tiny_encoder: Path, tmp_path: Path
) -> None:
    run = train(own_recipe(name, tiny_encoder, tmp_path), dev_score=length_of_a_vector)
    assert run_status(run).state == "finished"
    assert [event.step for event in events_of(run, events.Dev)] == [1, 2]
    (part,) = run.environment().data
    assert (part["name"], part["rows"], part["origin"]) == (KINDS[name][0], 16, "file")
    card = (run.model / "README.md").read_text()
    assert f"* {KINDS[name][0]}, all: 16 rows" in card
    assert str(tmp_path) not in card.partition("Recipe:")[2].replace(str(tiny_encoder), "")


def test_a_file_that_has_changed_is_not_trained_on_further(
    train: Train, tiny_encoder: Path, tmp_path: Path
) -> None:
    recipe = own_recipe("own-sentences", tiny_encoder, tmp_path)
    interrupted(train, recipe, 1)
    path = tmp_path / "rows.txt"
    path.write_text(path.read_text().replace("red", "blue"))
    changed = "the data of run 'small@1' has changed since it was begun"
    with refused(changed, "it was begun by `"):
        train(recipe, resume=True)


def test_files_of_a_recipe_file_are_relative_to_it_and_typed_ones_to_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shipped = (Path(__file__).parents[2] / "recipes" / "own-pairs.toml").read_text()
    mine = shipped.replace("files = []", 'files = ["../rows/a.csv", "/data/b.csv"]')
    for folder in ("recipes", "elsewhere"):
        (tmp_path / folder).mkdir()
    (tmp_path / "recipes" / "mine.toml").write_text(mine)
    monkeypatch.chdir(tmp_path / "elsewhere")
    read = load_recipe("../recipes/mine.toml").stages[0].data
    assert read.files == (str(tmp_path / "rows" / "a.csv"), "/data/b.csv")
    typed = load_recipe("../recipes/mine.toml", ["data.files=c.csv"]).stages[0].data
    assert typed.files == (str(tmp_path / "elsewhere" / "c.csv"),)


def write_scores(folder: Path, factor: float, name: str = "rows.tsv") -> Path:
    """A file of scored pairs, 0 to 15 times FACTOR."""
    scores = {"score": [factor * number for number in NUMBERS]}
    return write(folder / name, KINDS["own-scored-pairs"][1] | scores)


def scale_of(highest: float, encoder: Path, folder: Path, *changes: str) -> str:
    """The scale of own scored pairs that a training states, where it is stated to be HIGHEST."""
    highest_score = f"objective.highest={highest}"
    recipe = own_recipe("own-scored-pairs", encoder, folder, highest_score, *changes)
    return open_stages(recipe, SAMPLE, 1)[0].scale


@pytest.mark.parametrize("factor", [1, 100])
def test_scores_of_another_scale_than_the_stated_one_are_refused_with_the_right_one(
    tiny_encoder: Path, tmp_path: Path, factor: int
) -> None:
    write_scores(tmp_path, factor / 16)
    stated = 2 * 15 / 16 * factor
    fault = rf"'rows.tsv': the scores are from 0 to [\d.]+, but objective.highest is {stated:g}"
    with pytest.raises(UsageError, match=fault) as error:
        scale_of(stated, tiny_encoder, tmp_path)
    low = "where all of them are low on this scale: --set data.low_scores=true"
    assert error.value.hint == f"state their scale: --set objective.highest={factor}; {low}"
    highest = stated - 0.01  # a score in the upper half of the scale
    said = f"own scores are from 0 to {0.9375 * factor:.4g}, objective.highest is {highest:g}"
    assert scale_of(highest, tiny_encoder, tmp_path) == said


def test_scores_that_are_low_on_any_usual_scale_are_refused_with_one_that_is_read(
    tiny_encoder: Path, tmp_path: Path
) -> None:
    write_scores(tmp_path, 1 / 1600)
    with pytest.raises(UsageError) as error:
        scale_of(1, tiny_encoder, tmp_path)
    assert str(error.value.hint).startswith("state their scale: --set objective.highest=0.009375;")
    assert scale_of(0.009375, tiny_encoder, tmp_path)


def test_the_scale_of_several_files_is_that_of_all_of_them(
    tiny_encoder: Path, tmp_path: Path
) -> None:
    low = write_scores(tmp_path, 1 / 16, "low.tsv")
    high = write_scores(tmp_path, 1 / 3, "high.tsv")
    said = scale_of(5, tiny_encoder, tmp_path, f'data.files=["{low}", "{high}"]')
    assert said == "own scores are from 0 to 5, objective.highest is 5"
    assert open_stages(own_recipe("own-pairs", tiny_encoder, tmp_path), SAMPLE, 1)[0].scale == ""


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        (["data.held_out=0.1"], "cannot hold out 10% of its 16 rows"),
        (
            ["data.held_out=0.1", 'data.files=["rows.parquet", "more.parquet"]'],
            "data.held_out is of one file",
        ),
        (["data.low_scores=true"], "data.low_scores has no effect: no scores of your own are read"),
    ],
)
def test_a_part_that_cannot_be_held_out_is_refused(
    changes: list[str],
    fault: str,
    tiny_encoder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match=fault):
        open_stages(own_recipe("own-pairs", tiny_encoder, tmp_path, *changes), SAMPLE, 1)


def test_a_stage_of_own_rows_behind_one_of_datasets_is_checked_alone(tmp_path: Path) -> None:
    rows = write(tmp_path / "rows.parquet", {"anchor": TEXTS, "positive": BACK})
    recipe = load_recipe("sbert+own-pairs", [f"stage.1.data.files={rows}"], encoder="x")
    check_own_rows(recipe, SAMPLE, 1)
    write(rows, {"anchor": TEXTS, "other": BACK})
    with pytest.raises(MissingError, match="has no column 'positive'"):
        check_own_rows(recipe, SAMPLE, 1)
