"""Training text that no run records: stated by a folder or a publication, none, or unknown and said
to be.
"""

import json
import shutil
from pathlib import Path

import pytest

from embedlab.data.marks import UNKNOWN_TEXT
from embedlab.models.catalog import ModelSpec
from embedlab.runs.store import RunFolder
from embedlab.scoring.provenance import training_marks, training_notes, training_precision
from embedlab.scoring.training_text import stated_text_notes
from tests.scoring.test_training_text import folder_model, member, recipe
from tests.stored_json import store_values, stored_values
from tests.stored_scores import begin_run
from tests.tasks.evaluated import DICE, spec_of


@pytest.fixture
def foreign(tiny_encoder: Path, tmp_path: Path) -> Path:
    """An encoder that says nothing of its training."""
    folder = Path(shutil.copytree(tiny_encoder, tmp_path / "foreign"))
    (folder / "embedlab.json").unlink()
    return folder


def state(folder: Path, *texts: str) -> None:
    """Let a model say that it was trained on these texts."""
    (folder / "embedlab.json").write_text(json.dumps({"training_text": texts}))


def test_what_a_model_says_of_its_training_text_is_reported_and_silence_is_unknown(
    foreign: Path, tiny_encoder: Path
) -> None:
    silent = folder_model(foreign)
    both = ModelSpec(name="both", kind="average", parts=(folder_model(tiny_encoder), silent))
    assert training_marks(both) == training_marks(silent) == (UNKNOWN_TEXT,)
    assert training_notes(silent) == (UNKNOWN_TEXT,)
    state(foreign, "SNLI", "captions")
    assert training_marks(silent) == ()
    assert training_notes(silent) == ("says it was trained on SNLI, captions",)
    for textless in (folder_model(tiny_encoder), DICE):
        assert (training_marks(textless), training_notes(textless)) == ((), ())


def test_word_vectors_are_of_unknown_text_and_published_checkpoints_of_what_their_papers_say() -> (
    None
):
    vectors = ModelSpec(name="w", kind="word-vectors", location="w.txt")
    assert training_marks(vectors) == (UNKNOWN_TEXT,)
    names = ("sbert", "google-bert/bert-base-uncased", "somebody/unknown")
    sbert, bert, unknown = (stated_text_notes(spec_of(name)) for name in names)
    corpora = "BooksCorpus, English Wikipedia, SNLI, MultiNLI"
    assert sbert == (f"says it was trained on {corpora}",)
    assert bert[0].startswith("says it was trained on BooksCorpus")
    assert unknown == (UNKNOWN_TEXT,)


def test_a_run_says_what_its_starting_encoder_had_read_and_in_which_precision_it_was_trained(
    foreign: Path, tmp_path: Path
) -> None:
    run = RunFolder.of(tmp_path / "runs", "mine", 1)
    begin_run(run, recipe("snli", encoder=str(foreign)), precision="bf16")
    shutil.copytree(foreign, run.model)
    spec = member(run)
    assert training_precision(spec) == "bf16"
    assert training_marks(spec) == ()
    assert training_notes(spec) == ("its starting encoder's training text is unknown",)
    state(foreign, "captions")
    assert training_notes(spec) == ("its starting encoder was trained on captions",)
    state(run.model)
    assert training_notes(spec) == ()
    values = stored_values(run.environment_file)
    del values["precision"]
    store_values(run.environment_file, values)
    assert training_precision(spec) == "unknown"
