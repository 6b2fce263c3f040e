"""What tasks know of a run's heads by its recipe, before and after its model is loaded."""

import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from embedlab.core.errors import UsageError
from embedlab.core.paths import TINY_FOLDER
from embedlab.core.recipe import load_recipe
from embedlab.core.settings import Settings
from embedlab.models.catalog import ModelSpec
from embedlab.runs.store import RunFolder
from embedlab.tasks.task import task
from tests.stored_scores import begin_run

SETTINGS = Settings(data=TINY_FOLDER, device="cpu", threads=1, cache_gib=0)

RunOf = Callable[[str, Sequence[str]], ModelSpec]


@pytest.fixture
def run_of(tmp_path: Path, tiny_encoder: Path) -> RunOf:
    """Makes the folder of a run of a recipe with its overrides; its model, an encoder without a
    head, is not trained.
    """

    def make(recipe: str, overrides: Sequence[str]) -> ModelSpec:
        run = RunFolder.of(tmp_path, f"run-{len(list(tmp_path.iterdir()))}", 1)
        begin_run(run, load_recipe(recipe, list(overrides), encoder=str(tiny_encoder)))
        shutil.copytree(tiny_encoder, run.path / "encoder")
        config = run.path / "encoder" / "config.json"
        config.write_text(
            json.dumps({**json.loads(config.read_text()), "architectures": ["BertModel"]})
        )
        return ModelSpec(name=run.id, kind="run", location=str(run.path / "encoder"), seed=1)

    return make


@pytest.mark.parametrize(
    ("heads", "is_refused"),
    [
        (["mlm"], True),
        (["tied"], False),
        (["tied", "tied", "mlm"], True),
        (["mlm", "mlm", "tied"], False),
        (["mlm", "tied"], False),
    ],
)
def test_the_head_of_the_last_stage_that_predicts_words_is_the_models(
    heads: list[str], is_refused: bool, run_of: RunOf
) -> None:
    """An encoder without a masked-language-model head has word vectors alone, which only a tied
    head predicts with.
    """
    prefix = "objective" if len(heads) == 1 else "stage.{}.objective"
    spec = run_of(
        "+".join(["defsent"] * len(heads)),
        [f"{prefix.format(at)}.head={head}" for at, head in enumerate(heads)],
    )
    check = task("word_prediction").check
    if is_refused:
        with pytest.raises(UsageError, match="has no masked-language-model head"):
            check(spec, SETTINGS)
    else:
        check(spec, SETTINGS)
