"""What the dashboard shows of stored outcomes."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import embedlab
from embedlab.core.paths import INSIDE
from embedlab.core.settings import Settings
from embedlab.data.overlaps import KnownText
from embedlab.encoders.encoder import sentence_keys
from embedlab.encoders.vector_cache import EmbeddingCache
from embedlab.models.catalog import ModelSpec
from embedlab.tui import workbench
from tests.tui.world import make_run, outcomes_of


def scored(name: str, task: str = "sts") -> SimpleNamespace:
    """The facts of a stored dataset that the dashboard reads."""
    is_own = name.endswith(("tsv", "csv")) or name.startswith("rows-")
    origin = "file" if is_own else name if name == "starter" else "folder"
    return SimpleNamespace(name=name, task=task, data=[{"origin": origin}])


@pytest.mark.parametrize(
    ("stored", "shown"),
    [
        (
            [
                "sts12",
                "starter",
                "mk.tsv",
                "/tmp/own.csv",
                "rows-1162f8",
                "hub:./copy?s1=a&s2=b",
                "sts-benchmark:dev",
                "sick-r",
                "sts13",
            ],
            ("sts12", "sts13", "sick-r"),
        ),
        (["mteb:STS13"], ("mteb:STS13",)),
        (["mk.tsv"], ("",)),
    ],
)
def test_rows_that_were_opened_once_are_not_among_the_datasets_of_a_task(
    stored: list[str], shown: tuple[str, ...]
) -> None:
    facts: Any = [*map(scored, stored), scored("mr", "transfer")]
    assert workbench._corpora({"dice": facts, "minilm": facts}, "sts") == shown


def test_items_of_another_data_folder_and_of_a_file_that_changed_are_not_shown(
    settings: Settings, tmp_path: Path
) -> None:
    file = tmp_path / "own.csv"
    rows = ["sentence1,sentence2,score", "a cat,a dog,1", "a cat,the cat,5", "a car,a cow,0"]
    file.write_text("\n".join(rows))
    on = {name: replace(settings, data=folder) for name, folder in INSIDE.items()}

    def datasets(task: str, data: str) -> tuple[str, ...]:
        return workbench.open_shown_items(["dice"], task, on[data]).datasets

    for task, data in (("sts-benchmark", "tiny"), (str(file), "tiny")):
        embedlab.evaluate("dice", tasks=[task], data=data, cache=settings.cache)
    assert datasets("sts", "tiny") == ("sts-benchmark",)
    assert datasets("sts", "starter") == datasets("sts-benchmark", "starter") == ()
    assert datasets(str(file), "starter") == (str(file),)
    file.write_text("\n".join([*rows[:3], "a car,a bus,3"]))
    assert datasets(str(file), "starter") == ()


def test_what_limits_the_numbers_is_said_once_and_of_whom() -> None:
    files = {
        "near": [("sts12", 3, ("text known",)), ("sick-r", 2, ("text known", "of both"))],
        "far": [("sts12", 0, ("of both",)), ("gone", 9, ("not shown",))],
    }

    data = [{"name": "sts12", "split": "all", "skipped": {"blank gold score": 2}, "empty": 1}]
    facts: Any = {
        member: [
            SimpleNamespace(
                name=name,
                data=data if name == "sts12" else (),
                marks=["generated"],
                notes=notes,
                overlap=SimpleNamespace(sentences=shared, pairs=0),
            )
            for name, shared, notes in stored
        ]
        for member, stored in files.items()
    }
    notes = workbench._notes(facts, outcomes_of(["near", "far"]))
    assert list(dict.fromkeys(notes)) == [
        "generated: no number is about real language",
        "sts12: 1 empty sentence",
        "sts12: 2 rows left out, blank gold score",
        "near was trained on text of sts12, sick-r",
        "near: text known",
        "of both",
    ]


def test_an_item_says_which_run_was_trained_on_it(settings: Settings) -> None:
    outcomes = outcomes_of(["mine"])
    run = make_run(settings, "mine", 1)
    KnownText.of([outcomes.sentences.head(1)]).write(run.training_text_file)
    spec = ModelSpec(name=run.id, kind="run", location=str(run.model), seed=1)
    column = workbench._trained_models(outcomes, {"mine": spec}, settings)
    assert column[:2].to_list() == ["†mine", None]
    assert column.null_count() == 119


def test_what_is_shown_first_can_be_chosen_before_anything_was_scored(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workbench, "find_spec", lambda name: name)
    names = workbench.selectable_models(settings)
    assert {"wordllama", "dice"} <= set(names)


def test_vectors_are_those_of_the_first_model_that_has_one_of_each_sentence(tmp_path: Path) -> None:
    vectors = {"part": [[3, 4]], "whole": [[0, 2], [5, 0]]}
    for name, rows in vectors.items():
        cache = EmbeddingCache(tmp_path, name, dim=2, limit_bytes=2**20)
        keys = sentence_keys(["a cat", "a dog"][: len(rows)])
        cache.store(keys, np.array(rows, np.float32), np.zeros(len(rows), np.bool_))
    places = {name: SimpleNamespace(fingerprint=name) for name in ("none", *vectors)}
    for sentences, expected in (
        (["a cat"], ("part", [[0.6, 0.8]])),
        (["a dog", "a cat"], ("whole", [[1, 0], [0, 1]])),
    ):
        stored = workbench._stored_vectors(places, sentences, tmp_path)  # type: ignore[arg-type]
        assert stored[0] == expected[0]
        assert stored[1] == pytest.approx(np.array(expected[1]))
    assert workbench._stored_vectors(places, ["a cow"], tmp_path) is None  # type: ignore[arg-type]
