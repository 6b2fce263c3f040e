"""What tasks know of a run's heads by its recipe, before and after its model is loaded."""

import json
import shutil
from pathlib import Path

import pytest

from embedlab.core.errors import UsageError
from embedlab.core.recipe import load_recipe
from embedlab.models.catalog import ModelSpec
from embedlab.runs.store import RunFolder
from embedlab.tasks.task import task
from tests.stored_scores import begin_run
from tests.tasks.evaluated import SETTINGS


def check_heads(heads: list[str], tmp_path: Path, tiny_encoder: Path) -> None:
    """Check a run of stages with these HEADS, whose model has no head and is not trained."""
    prefix = "objective" if len(heads) == 1 else "stage.{}.objective"
    changes = [f"{prefix.format(at)}.head={head}" for at, head in enumerate(heads)]
    recipe = load_recipe("+".join(["defsent"] * len(heads)), changes, encoder=str(tiny_encoder))
    run = begin_run(RunFolder.of(tmp_path, "mine", 1), recipe)
    folder = shutil.copytree(tiny_encoder, run.path / "encoder")
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "architectures": ["BertModel"]}))
    spec = ModelSpec(name=run.id, kind="run", location=str(folder), seed=1)
    task("word_prediction").check(spec, SETTINGS)


@pytest.mark.parametrize("heads", [["tied"], ["mlm", "mlm", "tied"], ["mlm", "tied"]])
def test_the_head_of_the_last_stage_that_predicts_words_is_the_models(
    heads: list[str], tmp_path: Path, tiny_encoder: Path
) -> None:
    """An encoder without a masked-language-model head has word vectors alone, which only a tied
    head predicts with.
    """
    check_heads(heads, tmp_path, tiny_encoder)


@pytest.mark.parametrize("heads", [["mlm"], ["tied", "tied", "mlm"]])
def test_a_head_that_the_model_lacks_is_refused(
    heads: list[str], tmp_path: Path, tiny_encoder: Path
) -> None:
    with pytest.raises(UsageError, match="has no masked-language-model head"):
        check_heads(heads, tmp_path, tiny_encoder)
