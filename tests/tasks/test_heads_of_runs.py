"""What tasks know of a run's heads by its recipe, before and after its model is loaded."""

import json
import shutil
from contextlib import nullcontext
from pathlib import Path

import pytest

from embedlab.core.errors import UsageError
from embedlab.core.recipe import load_recipe
from embedlab.models.catalog import ModelSpec
from embedlab.runs.store import RunFolder
from embedlab.tasks.task import task
from tests.stored_scores import begin_run
from tests.tasks.evaluated import SETTINGS


@pytest.mark.parametrize(
    ("heads", "is_fit"),
    [
        (["tied"], True),
        (["mlm", "mlm", "tied"], True),
        (["mlm", "tied"], True),
        (["mlm"], False),
        (["tied", "tied", "mlm"], False),
    ],
)
def test_the_head_of_the_last_stage_that_predicts_words_is_the_models(
    heads: list[str], is_fit: bool, tmp_path: Path, tiny_encoder: Path
) -> None:
    """An encoder without a masked-language-model head has word vectors alone, which only a tied
    head predicts with.
    """
    prefix = "objective" if len(heads) == 1 else "stage.{}.objective"
    changes = [f"{prefix.format(at)}.head={head}" for at, head in enumerate(heads)]
    recipe = load_recipe("+".join(["defsent"] * len(heads)), changes, encoder=str(tiny_encoder))
    run = begin_run(RunFolder.of(tmp_path, "mine", 1), recipe)
    folder = shutil.copytree(tiny_encoder, run.path / "encoder")
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "architectures": ["BertModel"]}))
    spec = ModelSpec(name=run.id, kind="run", location=str(folder), seed=1)
    missing = pytest.raises(UsageError, match="has no masked-language-model head")
    with nullcontext() if is_fit else missing:
        task("word_prediction").check(spec, SETTINGS)
