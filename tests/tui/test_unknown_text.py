"""The dashboard says of which models the training text is unknown, on the screens and in what it
exports.
"""

from pathlib import Path

import polars as pl

from embedlab.analysis.scores import SCORE_COLUMNS, ScoreFile
from embedlab.core.paths import TINY_FOLDER
from embedlab.core.settings import Settings
from embedlab.tui.pair_table.data import load_pairs, with_models
from embedlab.tui.stored_models import stored_models


def write_scores(cache: Path, model: str, **facts: str) -> None:
    file = ScoreFile(
        scores=pl.DataFrame(schema=SCORE_COLUMNS),
        facts={"model": model, "fingerprint": model, **facts},
    )
    (cache / "models" / model).mkdir(parents=True)
    file.write(cache / "models" / model / "scores.parquet")


def test_models_of_unknown_training_text_are_named_among_the_marks(tmp_path: Path) -> None:
    settings = Settings(cache=tmp_path / "cache", runs=tmp_path / "runs", data=TINY_FOLDER)
    write_scores(settings.cache, "foreign", training_text="unknown")
    write_scores(settings.cache, "stated", training_text="known")
    models, troubles = stored_models(settings)
    assert troubles == []
    data = with_models(load_pairs(settings), models)
    assert data.marks == ["generated", "training text unknown: foreign"]
    assert with_models(data, [model for model in models if model.name != "foreign"]).marks == [
        "generated"
    ]
