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

from embedlab.core.paths import TINY_FOLDER
from embedlab.core.recipe import Recipe, from_table
from embedlab.core.settings import Settings
from embedlab.data.marks import Overlap
from embedlab.data.overlaps import KnownText
from embedlab.data.source import Source
from embedlab.encoders.encoder import EncoderFacts
from embedlab.models.catalog import ModelSpec, resolve
from embedlab.models.hub import WANTED
from embedlab.runs.store import RunFolder, remove_runs
from embedlab.scoring.provenance import (
    overlap_mark,
    overlap_notes,
    overlap_sign,
    training_marks,
    training_notes,
)
from embedlab.scoring.results import with_provenance
from embedlab.scoring.training_text import (
    TRAINING,
    is_text_uncounted,
    lineage,
    store_lineage,
    training_text,
)
from embedlab.tasks.task import TaskResult, evaluation_without_scores, score
from embedlab.training.blocks import open_stages
from tests.stored_json import store_values, stored_values
from tests.stored_scores import begin_run, part_of


def recipe(dataset: str, *, encoder: str = "tiny", **data: Any) -> Recipe:
    stage = {
        "data": {"datasets": [dataset], **data},
        "objective": {"name": "nli_softmax"},
        "optim": {"lr": 1e-5, "batch_size": 8},
    }
    whole = {
        "summary": "A test.",
        "encoder": {"model": encoder, "pooling": "mean"},
        "stage": [stage],
    }
    return from_table(whole, name="r", where="test")


def finished(runs: Path, name: str, made_by: Recipe, source: Source) -> RunFolder:
    """A run that was trained on its data, without a model that would say anything."""
    run = RunFolder.of(runs, name, 1)
    states = [state for data in open_stages(made_by, source, 1) for state in data.states]
    plain = [
        {
            key: dict(value) if isinstance(value, Mapping) else value
            for key, value in vars(one).items()
        }
        for one in states
    ]
    begin_run(run, made_by, data=plain, host="here")
    run.model.mkdir(parents=True)
    return run


def member(run: RunFolder) -> ModelSpec:
    return resolve(run.id, run.path.parents[1]).members[0]


SAMPLE = Source(folder=TINY_FOLDER)
SETTINGS = Settings(data=TINY_FOLDER)


def counted(spec: ModelSpec, settings: Settings = SETTINGS) -> KnownText:
    """The training text of a model, which is known."""
    text = training_text(spec, settings).text
    assert text is not None
    return text


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    """A run that was trained on all of snli."""
    return finished(tmp_path, "a", recipe("snli"), SAMPLE)


@pytest.fixture
def second(tmp_path: Path, run: RunFolder) -> RunFolder:
    """A run that started from the first one."""
    made_by = recipe("multinli", encoder=str(run.model))
    return finished(tmp_path, "second", made_by, SAMPLE)


def test_only_the_rows_that_a_run_drew_count_and_they_are_stored_with_it(tmp_path: Path) -> None:
    few = recipe("snli", rows=20)
    run = finished(tmp_path, "few", few, SAMPLE)
    found = counted(member(run))
    (data,) = open_stages(few, SAMPLE, 1)
    drawn = data.rows.frame.select("premise", "hypothesis")
    assert found.overlap(drawn).shared_pairs == len(data.rows) >= 20
    assert found.overlap(SAMPLE.open("snli", "train").frame).shared_pairs < 60
    # From then on neither recipe nor data is read again.
    run.recipe_file.write_text(run.recipe_file.read_text().replace("snli", "multinli"))
    again = counted(member(run), Settings())
    assert (again.sentences == found.sentences).all()
    assert (again.pairs == found.pairs).all()


def test_a_run_that_started_from_another_has_the_training_text_of_both(second: RunFolder) -> None:
    assert [one.id for one in lineage(member(second))] == ["second@1", "a@1"]
    found = counted(member(second))
    for name in ("snli", "multinli"):
        frame = SAMPLE.open(name, "train").frame
        assert found.overlap(frame).shared_pairs == len(frame)
    folder = ModelSpec(name="m", kind="folder", location=str(second.model))
    assert training_marks(folder) == ("generated",)


def test_what_an_export_keeps_outlives_the_runs_behind_it_and_the_way_over_the_hub(
    tmp_path: Path, run: RunFolder, second: RunFolder
) -> None:
    before, exported, fetched = counted(member(second)), tmp_path / "out", tmp_path / "snapshot"
    store_lineage(member(second), exported, SETTINGS)
    remove_runs([second])
    remove_runs([run])
    (exported / TRAINING / "notebook.parquet").write_text("a stranger's")
    files = [file.relative_to(exported) for file in exported.rglob("*") if file.is_file()]
    for file in filter_repo_objects([one.as_posix() for one in files], allow_patterns=list(WANTED)):
        (fetched / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(exported / file, fetched / file)
    (fetched / TRAINING / "theirs" / "own" / "seed-7").mkdir(parents=True)
    assert not (fetched / TRAINING / "notebook.parquet").exists()
    for spec in (
        ModelSpec(name="out", kind="folder", location=str(exported)),
        ModelSpec(name="me/mine", kind="hub", location=str(fetched)),
    ):
        runs = [*lineage(spec)]
        assert [one.id for one in runs] == ["second@1", "a@1"]
        assert [one.environment().host for one in runs] == ["", ""]
        assert not any(str(tmp_path) in one.recipe_file.read_text() for one in runs)
        assert training_marks(spec) == ("generated",)
        assert (counted(spec, Settings()).pairs == before.pairs).all()


def test_training_data_that_is_not_at_hand_is_reported_not_passed_over(run: RunFolder) -> None:
    environment = run.environment_file.read_text()
    run.environment_file.write_text(environment.replace('"origin": "tiny"', '"origin": "folder"'))
    found = training_text(member(run), Settings(offline=True))
    assert found.text is None
    assert "what a@1 shares with test sets is not counted" in found.notes[0]
    assert not run.training_text_file.exists()


def test_splits_of_one_name_are_counted_together(run: RunFolder) -> None:
    train = SAMPLE.open("snli", "train").frame.select("premise", "hypothesis")
    other = pl.DataFrame({"premise": ["of no corpus"], "hypothesis": ["nor this one"]})
    splits = (("dev-matched", train[:3]), ("dev-mismatched", other))
    parts = tuple(part_of("mnli", frame, split) for split, frame in splits)
    evaluation = evaluation_without_scores("glue", "m", "f", EncoderFacts())
    result = TaskResult(evaluation=evaluation, tested=parts)
    found = with_provenance(result, member(run), SETTINGS).evaluation
    assert (found.overlaps["mnli"].shared_pairs, found.overlaps["mnli"].pairs) == (3, 4)
    assert "overlap" in found.marks


def test_an_average_counts_the_sentences_of_all_its_sets(run: RunFolder) -> None:
    train = SAMPLE.open("snli", "train").frame.select("premise", "hypothesis")
    other = pl.DataFrame({"premise": ["of no corpus"], "hypothesis": ["nor this one"]})
    average = score("both", "spearman", 0.5, 4, by="average")
    result = TaskResult(
        evaluation=replace(
            evaluation_without_scores("sts", "m", "f", EncoderFacts()), scores=(average,)
        ),
        tested=(part_of("read", train[:3]), part_of("unread", other)),
        averages={"both": ("read", "unread")},
    )
    overlaps = with_provenance(result, member(run), SETTINGS).evaluation.overlaps
    assert overlaps.keys() == {"read", "both"}
    assert overlaps["both"].sentences == overlaps["read"].sentences + 2


def test_a_copy_of_a_runs_model_alone_does_not_say_that_it_read_nothing(
    tmp_path: Path, run: RunFolder
) -> None:
    copied = tmp_path / "copied"
    shutil.copytree(run.model, copied)
    statement = json.dumps({"pooling": "mean", "training_text": []})  # of the encoder it began with
    (copied / "embedlab.json").write_text(statement)
    spec = ModelSpec(name="copied", kind="folder", location=str(copied))
    assert not is_text_uncounted(spec)
    (copied / "README.md").write_text("---\ntags: [sentence-transformers, embedlab]\n---\n# a\n")
    assert is_text_uncounted(spec)


def test_models_that_are_not_runs_have_no_known_training_text() -> None:
    assert training_text(ModelSpec(name="dice", kind="dice"), SETTINGS).text is None


@pytest.mark.parametrize(
    ("more", "drawn"),
    [({}, "the same for every seed"), ({"sample": "seed"}, "drawn anew by each seed")],
)
def test_a_note_says_whether_seeds_share_their_sample_of_rows(
    tmp_path: Path, more: dict[str, str], drawn: str
) -> None:
    part = {"name": "snli", "split": "train", "rows": 90, "expected_rows": 90, "partial": False}
    run = RunFolder.of(tmp_path, "few", 1)
    begin_run(run, recipe("snli", rows=20, **more), data=[{**part, "used": 20}])
    run.model.mkdir(parents=True)
    assert training_notes(member(run))[0] == f"trained on 20 of the 90 rows of snli train ({drawn})"


@pytest.mark.parametrize(
    ("counts", "mark", "sign", "note"),
    [
        ((9, 4, 5, 2), "†", "†", "† test pairs that are in its training data: d 2 of 5"),
        ((8, 3, 4, 0), "‡38%", "‡", "‡ test sentences that are in its training data: d 3 of 8"),
        (
            (1000, 50, 0, 0),
            "‡5%",
            "‡",
            "‡ test sentences that are in its training data: d 50 of 1000",
        ),
        (
            (1000, 49, 0, 0),
            "",
            "",
            "fewer than 5% of the test sentences that are in its training data: d 49 of 1000",
        ),
    ],
)
def test_marks_distinguish_pairs_from_sentences_and_footnotes_count_them(
    counts: tuple[int, int, int, int], mark: str, sign: str, note: str
) -> None:
    sentences, shared_sentences, pairs, shared_pairs = counts
    one = Overlap(
        sentences=sentences,
        shared_sentences=shared_sentences,
        pairs=pairs,
        shared_pairs=shared_pairs,
    )
    assert (overlap_mark(one), overlap_sign(one)) == (mark, sign)
    assert overlap_notes({"d": one}) == (note,)
    assert overlap_mark(None) == ""


def test_a_damaged_count_is_made_again_and_without_its_data_refused_by_name(run: RunFolder) -> None:
    whole, file = counted(member(run)), run.training_text_file
    content = bytearray(file.read_bytes())
    content[len(content) // 3] ^= 1
    file.write_bytes(content)
    again = training_text(member(run), SETTINGS)
    assert again.notes == ()
    assert again.text is not None
    assert (again.text.sentences == whole.sentences).all()
    file.write_bytes(b"PAR1")
    values = stored_values(run.environment_file)
    values["data"][0]["rows"] += 1  # the data as it is now is not what the run read
    store_values(run.environment_file, values)
    assert "learnt.parquet" in training_text(member(run), SETTINGS).notes[0]
