"""What a run has seen of the test sets: counted from its own rows, stored with it, followed to
where it started, reported beside scores.
"""

import json
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from huggingface_hub.utils import filter_repo_objects

from embedlab.core.disk import KEY
from embedlab.core.paths import TINY_FOLDER
from embedlab.core.recipe import Recipe, from_table
from embedlab.core.settings import Settings
from embedlab.data.dataset import DatasetState, Part
from embedlab.data.marks import Overlap
from embedlab.data.overlaps import KnownText
from embedlab.data.source import Source
from embedlab.models.catalog import ModelSpec, resolve
from embedlab.models.hub import WANTED
from embedlab.runs.environment import collect_environment
from embedlab.runs.evaluations import Evaluation
from embedlab.runs.store import RunFolder, remove_runs
from embedlab.scoring.provenance import (
    overlap_mark,
    overlap_notes,
    overlap_sign,
    training_marks,
    training_notes,
)
from embedlab.scoring.results import with_provenance
from embedlab.scoring.training_text import TRAINING, lineage, store_lineage, training_text
from embedlab.tasks.task import TaskResult
from embedlab.training.stage_data import open_stages


def recipe(
    dataset: str, objective: str = "in_batch_contrastive", *, encoder: str = "tiny", **data: Any
) -> Recipe:
    stage = {
        "data": {"datasets": [dataset], **data},
        "objective": {"name": objective},
        "optim": {"lr": 1e-5, "batch_size": 8},
    }
    return from_table(
        {"summary": "A test.", "encoder": {"model": encoder, "pooling": "mean"}, "stage": [stage]},
        name="r",
        where="test",
    )


def finished(runs: Path, name: str, made_by: Recipe, source: Source) -> RunFolder:
    """A run that was trained on its data, without a model that would say anything."""
    run = RunFolder.of(runs, name, 1)
    states = [vars(state) for data in open_stages(made_by, source, 1) for state in data.states]
    plain = [
        {key: dict(value) if isinstance(value, Mapping) else value for key, value in state.items()}
        for state in states
    ]
    run.write_once(
        made_by,
        collect_environment(seed=1, device="cpu", precision="float32", threads=1, data=plain),
    )
    run.model.mkdir(parents=True)
    return run


def member(run: RunFolder) -> ModelSpec:
    return resolve(run.id, run.path.parents[1]).members[0]


SAMPLE = Source(folder=TINY_FOLDER)
SETTINGS = Settings(data=TINY_FOLDER)


def test_the_sample_world_shares_what_was_put_into_both(tmp_path: Path) -> None:
    train = SAMPLE.open("snli", "train").frame
    run = finished(tmp_path, "a", recipe("snli", "nli_softmax"), SAMPLE)
    found = training_text(member(run), SETTINGS).text
    assert found is not None
    test = pl.DataFrame(
        {
            "sentence1": [*train["hypothesis"][:3], "of no corpus"],
            "sentence2": [*train["premise"][:3], "nor this one"],
        }
    )
    known = {text for column in ("premise", "hypothesis") for text in train[column]}
    distinct = {text for column in ("sentence1", "sentence2") for text in test[column]}
    assert found.overlap(test) == Overlap(
        sentences=len(distinct), shared_sentences=len(distinct & known), pairs=4, shared_pairs=3
    )


def test_only_the_rows_that_a_run_drew_count_and_they_are_stored_with_it(tmp_path: Path) -> None:
    few = recipe("snli", "nli_softmax", rows=20)
    run = finished(tmp_path, "few", few, SAMPLE)
    found = training_text(member(run), SETTINGS).text
    (data,) = open_stages(few, SAMPLE, 1)
    assert found is not None
    assert (
        found.overlap(data.rows.frame.select("premise", "hypothesis")).shared_pairs
        == len(data.rows)
        >= 20
    )
    assert found.overlap(SAMPLE.open("snli", "train").frame).shared_pairs < 60
    assert (KnownText.read(run.training_text_file).pairs == found.pairs).all()
    # From then on neither recipe nor data is read again.
    run.recipe_file.write_text(run.recipe_file.read_text().replace("snli", "multinli"))
    again = training_text(member(run), Settings()).text
    assert again is not None
    assert (again.sentences == found.sentences).all()


def test_a_run_that_started_from_another_has_the_training_text_of_both(tmp_path: Path) -> None:
    first = finished(tmp_path, "first", recipe("snli", "nli_softmax"), SAMPLE)
    second = finished(
        tmp_path, "second", recipe("multinli", "nli_softmax", encoder=str(first.model)), SAMPLE
    )
    assert [run.id for run in lineage(member(second))] == ["second@1", "first@1"]
    found = training_text(member(second), SETTINGS).text
    assert found is not None
    for name in ("snli", "multinli"):
        frame = SAMPLE.open(name, "train").frame
        assert found.overlap(frame).shared_pairs == len(frame)
    assert training_marks(replace(member(second), kind="folder", location=str(second.model))) == (
        "generated",
    )


def test_what_an_export_keeps_outlives_the_runs_behind_it(tmp_path: Path) -> None:
    first = finished(tmp_path, "first", recipe("snli", "nli_softmax"), SAMPLE)
    second = finished(
        tmp_path, "second", recipe("multinli", "nli_softmax", encoder=str(first.model)), SAMPLE
    )
    before = training_text(member(second), SETTINGS).text
    store_lineage(member(second), tmp_path / "out", SETTINGS)
    for run in (first, second):
        remove_runs([run])
    exported = ModelSpec(name="out", kind="folder", location=str(tmp_path / "out"))
    assert [run.id for run in lineage(exported)] == ["second@1", "first@1"]
    assert training_marks(exported) == ("generated",)
    after = training_text(exported, Settings()).text
    assert before is not None
    assert after is not None
    assert (after.pairs == before.pairs).all()
    assert [run.environment().host for run in lineage(exported)] == ["", ""]
    recipes = (tmp_path / "out").glob(f"{TRAINING}/*/*/seed-*/recipe.toml")
    assert not any(str(tmp_path) in file.read_text() for file in recipes)


def test_what_the_hub_gives_of_an_export_says_as_much_of_its_training(tmp_path: Path) -> None:
    run = finished(tmp_path, "mine", recipe("snli", "nli_softmax"), SAMPLE)
    before = training_text(member(run), SETTINGS).text
    exported, fetched = tmp_path / "out", tmp_path / "snapshot"
    store_lineage(member(run), exported, SETTINGS)
    (exported / TRAINING / "notebook.parquet").write_text("a stranger's")
    files = [
        file.relative_to(exported).as_posix() for file in exported.rglob("*") if file.is_file()
    ]
    for file in filter_repo_objects(files, allow_patterns=list(WANTED)):
        (fetched / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(exported / file, fetched / file)
    (fetched / TRAINING / "theirs" / "own" / "seed-7").mkdir(parents=True)
    of_hub = ModelSpec(name="me/mine", kind="hub", location=str(fetched))
    assert training_marks(of_hub) == ("generated",)
    after = training_text(of_hub, Settings()).text
    assert before is not None
    assert after is not None
    assert (after.sentences == before.sentences).all()
    assert not (fetched / TRAINING / "notebook.parquet").exists()


def test_training_data_that_is_not_at_hand_is_reported_not_passed_over(tmp_path: Path) -> None:
    run = finished(tmp_path, "a", recipe("snli", "nli_softmax"), SAMPLE)
    environment_file = run.environment_file.read_text()
    run.environment_file.write_text(
        environment_file.replace('"origin": "tiny"', '"origin": "folder"')
    )
    found = training_text(member(run), Settings(offline=True))
    assert found.text is None
    assert "what a@1 shares with test sets is not counted" in found.notes[0]
    assert not run.training_text_file.exists()


def test_splits_of_one_name_are_counted_together(tmp_path: Path) -> None:
    run = finished(tmp_path, "a", recipe("snli", "nli_softmax"), SAMPLE)
    train = SAMPLE.open("snli", "train").frame.select("premise", "hypothesis")
    other = pl.DataFrame({"premise": ["of no corpus"], "hypothesis": ["nor this one"]})
    state = DatasetState(
        name="mnli", split="dev-matched", rows=3, expected_rows=None, origin="folder"
    )
    parts = (
        Part(frame=train[:3], state=state),
        Part(frame=other, state=replace(state, split="dev-mismatched")),
    )
    evaluation = Evaluation(
        task="glue", model="m", fingerprint="f", precision="float32", pooling=None, max_tokens=None, truncated=0,
        data=(), marks=(), scores=(),
    )  # fmt: skip
    found = with_provenance(
        TaskResult(evaluation=evaluation, tested=parts), member(run), SETTINGS
    ).evaluation
    assert (found.overlaps["mnli"].shared_pairs, found.overlaps["mnli"].pairs) == (3, 4)
    assert "overlap" in found.marks


def test_models_that_are_not_runs_have_no_known_training_text() -> None:
    assert training_text(ModelSpec(name="dice", kind="dice"), SETTINGS).text is None


@pytest.mark.parametrize(
    ("sample", "drawn"), [(None, "the same for every seed"), ("seed", "drawn anew by each seed")]
)
def test_a_note_says_whether_seeds_share_their_sample_of_rows(
    tmp_path: Path, sample: str | None, drawn: str
) -> None:
    part = {
        "name": "snli",
        "split": "train",
        "rows": 90,
        "expected_rows": 90,
        "partial": False,
        "used": 20,
    }
    run = RunFolder.of(tmp_path, "few", 1)
    more = {} if sample is None else {"sample": sample}
    run.write_once(
        recipe("snli", "nli_softmax", rows=20, **more),
        collect_environment(seed=1, device="cpu", precision="float32", threads=1, data=[part]),
    )
    run.model.mkdir(parents=True)
    assert training_notes(member(run))[0] == f"trained on 20 of the 90 rows of snli train ({drawn})"


def test_marks_distinguish_pairs_from_sentences_and_footnotes_count_them() -> None:
    pairs = Overlap(sentences=9, shared_sentences=4, pairs=5, shared_pairs=2)
    sentences = Overlap(sentences=8, shared_sentences=3, pairs=4, shared_pairs=0)
    assert [overlap_mark(one) for one in (pairs, sentences, None, pairs + sentences)] == [
        "†",
        "‡38%",
        "",
        "†",
    ]
    assert overlap_notes({"sts12": pairs, "mr": sentences}) == (
        "† test pairs that are in its training data: sts12 2 of 5",
        "‡ test sentences that are in its training data: mr 3 of 8",
    )


def test_a_share_of_sentences_is_shown_from_5_percent_on() -> None:
    few, least = (
        Overlap(sentences=1000, shared_sentences=count, pairs=0, shared_pairs=0)
        for count in (49, 50)
    )
    assert [overlap_mark(one) for one in (few, least)] == ["", "‡5%"]
    assert [overlap_sign(one) for one in (few, least)] == ["", "‡"]
    assert overlap_notes({"mr": few, "cr": least}) == (
        "‡ test sentences that are in its training data: cr 50 of 1000",
        "fewer than 5% of the test sentences that are in its training data: mr 49 of 1000",
    )


def test_a_damaged_count_is_made_again_and_without_its_data_refused_by_name(tmp_path: Path) -> None:
    run = finished(tmp_path, "a", recipe("snli", "nli_softmax"), SAMPLE)
    whole = training_text(member(run), SETTINGS).text
    content = bytearray(run.training_text_file.read_bytes())
    content[len(content) // 3] ^= 1
    run.training_text_file.write_bytes(content)
    again = training_text(member(run), SETTINGS)
    assert again.notes == ()
    assert whole is not None
    assert again.text is not None
    assert (again.text.sentences == whole.sentences).all()
    run.training_text_file.write_bytes(b"PAR1")
    values = json.loads(run.environment_file.read_text(encoding="utf-8"))
    values["data"][0]["rows"] += 1  # the data as it is now is not what the run read
    run.environment_file.write_text(
        json.dumps({key: value for key, value in values.items() if key != KEY})
    )
    assert "learnt.parquet" in training_text(member(run), SETTINGS).notes[0]
