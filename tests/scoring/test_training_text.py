"""What a run has seen of the test sets: counted from its own rows, stored with it, followed to
where it started, reported beside scores.
"""

import shutil
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from huggingface_hub.utils import filter_repo_objects

from embedlab.core.recipe import Recipe, load_recipe
from embedlab.core.settings import Settings
from embedlab.data.dataset import Part
from embedlab.data.marks import Overlap
from embedlab.data.overlaps import KnownText
from embedlab.encoders.encoder import EncoderFacts
from embedlab.models.catalog import ModelSpec
from embedlab.models.hub import WANTED
from embedlab.runs.store import RunFolder, remove_runs, rename_runs
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
    store_earlier_text,
    store_lineage,
    training_text,
)
from embedlab.tasks.task import TaskResult, evaluation_without_scores
from embedlab.training.blocks import open_stages
from tests.stored_json import store_values, stored_values
from tests.stored_scores import begin_run, part_of, score
from tests.tasks.evaluated import DICE, SETTINGS, spec_of
from tests.training.small_runs import SAMPLE


def recipe(dataset: str, *changes: str, encoder: str = "tiny") -> Recipe:
    return load_recipe("snli-ce", [f'data.datasets=["{dataset}"]', *changes], encoder=encoder)


def finished(runs: Path, name: str, made_by: Recipe) -> RunFolder:
    """A run that was trained on its data, without a model that would say anything."""
    states = [state for data in open_stages(made_by, SAMPLE, 1) for state in data.states]
    data = [asdict(state) for state in states]
    run = begin_run(RunFolder.of(runs, name, 1), made_by, data=data, host="here")
    run.model.mkdir(parents=True)
    return run


def member(run: RunFolder) -> ModelSpec:
    return spec_of(run.id, run.path.parents[1])


def folder_model(folder: Path) -> ModelSpec:
    return ModelSpec(name=str(folder), kind="folder", location=str(folder))


def unscored(task: str, *tested: Part, **facts: Any) -> TaskResult:
    """An evaluation without scores on these parts."""
    evaluation = evaluation_without_scores(task, "m", "f", EncoderFacts())
    return TaskResult(evaluation=evaluation, tested=tested, **facts)


def counted(spec: ModelSpec, settings: Settings = SETTINGS) -> KnownText:
    """The training text of a model, which is known."""
    text = training_text(spec, settings).text
    assert text is not None
    return text


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    """A run that was trained on all of snli."""
    return finished(tmp_path, "a", recipe("snli"))


@pytest.fixture
def second(tmp_path: Path, run: RunFolder) -> RunFolder:
    """A run that started from the first one."""
    return finished(tmp_path, "second", recipe("multinli", encoder=str(run.model)))


def test_only_the_rows_that_a_run_drew_count_and_they_are_stored_with_it(tmp_path: Path) -> None:
    few = recipe("snli", "data.rows=20")
    run = finished(tmp_path, "few", few)
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
    assert training_marks(folder_model(second.model)) == ("generated",)


def test_what_a_run_started_from_is_counted_when_that_is_renamed_or_missed_aloud(
    run: RunFolder, second: RunFolder
) -> None:
    frame, runs = SAMPLE.open("snli", "train").frame, run.path.parents[1]
    shutil.copytree(second.path, runs / "third" / "seed-1")
    store_earlier_text(second, SETTINGS)
    rename_runs(runs, "a", "b")
    assert counted(member(second)).overlap(frame).shared_pairs == len(frame)
    assert training_text(member(second), SETTINGS).notes == ()
    shutil.copytree(runs / "b", runs / "a")  # another run, trained on less, takes the name
    shutil.copy(second.training_text_file, runs / "a" / "seed-1")
    store_earlier_text(second, SETTINGS)
    assert counted(member(second)).overlap(frame).shared_pairs == len(frame)
    shutil.rmtree(runs / "a")
    third = training_text(member(RunFolder(runs / "third" / "seed-1")), SETTINGS)
    assert third.text is not None
    assert third.text.overlap(frame).shared_pairs < len(frame)
    assert "a/seed-1/model, which is not there any more" in third.notes[0]


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
    for spec in (folder_model(exported), replace(folder_model(fetched), kind="hub")):
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


OTHER = pl.DataFrame({"premise": ["of no corpus"], "hypothesis": ["nor this one"]})


@pytest.fixture
def read() -> pl.DataFrame:
    """Three pairs of snli."""
    return SAMPLE.open("snli", "train").frame.select("premise", "hypothesis")[:3]


def test_splits_of_one_name_are_counted_together(run: RunFolder, read: pl.DataFrame) -> None:
    splits = {"dev-matched": read, "dev-mismatched": OTHER}
    parts = [part_of("mnli", frame, split) for split, frame in splits.items()]
    found = with_provenance(unscored("glue", *parts), member(run), SETTINGS).evaluation
    assert (found.overlaps["mnli"].shared_pairs, found.overlaps["mnli"].pairs) == (3, 4)
    assert "overlap" in found.marks


def test_an_average_counts_the_sentences_of_all_its_sets(
    run: RunFolder, read: pl.DataFrame
) -> None:
    parts = (part_of("read", read), part_of("unread", OTHER))
    result = unscored("sts", *parts, averages={"both": ("read", "unread")})
    average = replace(result.evaluation, scores=(score("both", 0.5, by="average"),))
    result = with_provenance(replace(result, evaluation=average), member(run), SETTINGS)
    overlaps = result.evaluation.overlaps
    assert overlaps.keys() == {"read", "both"}
    assert overlaps["both"].sentences == overlaps["read"].sentences + 2


def test_a_copy_of_a_runs_model_alone_does_not_say_that_it_read_nothing(
    tmp_path: Path, run: RunFolder
) -> None:
    copied = shutil.copytree(run.model, tmp_path / "copied")
    # what the encoder stated that it began with
    (copied / "embedlab.json").write_text('{"pooling": "mean", "training_text": []}')
    assert not is_text_uncounted(folder_model(copied))
    (copied / "README.md").write_text("---\ntags: [sentence-transformers, embedlab]\n---\n# a\n")
    assert is_text_uncounted(folder_model(copied))


def test_models_that_are_not_runs_have_no_known_training_text() -> None:
    assert training_text(DICE, SETTINGS).text is None


@pytest.mark.parametrize(
    ("sample", "drawn"),
    [([], "the same for every seed"), (["data.sample=seed"], "drawn anew by each seed")],
)
def test_a_note_says_whether_seeds_share_their_sample_of_rows(
    tmp_path: Path, sample: list[str], drawn: str
) -> None:
    part = {"name": "snli", "split": "train", "rows": 90, "expected_rows": 90, "used": 20}
    made_by = recipe("snli", "data.rows=20", *sample)
    run = begin_run(RunFolder.of(tmp_path, "few", 1), made_by, data=[part])
    run.model.mkdir(parents=True)
    assert training_notes(member(run))[0] == f"trained on 20 of the 90 rows of snli train ({drawn})"


@pytest.mark.parametrize(
    ("counts", "mark", "sign", "note"),
    [
        ((9, 4, 5, 2), "†", "†", "† test pairs that are in its training data: d 2 of 5"),
        ((8, 3, 4, 0), "‡38%", "‡", "‡ test sentences that are in its training data: d 3 of 8"),
        ((100, 5, 0, 0), "‡5%", "‡", "‡ test sentences that are in its training data: d 5 of 100"),
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
    names = ("sentences", "shared_sentences", "pairs", "shared_pairs")
    one = Overlap(**dict(zip(names, counts, strict=True)))
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
