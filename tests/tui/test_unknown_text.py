"""The dashboard says of which models the training text is unknown, on the screens and in what it
exports.
"""

from pathlib import Path

import polars as pl

from benchmarks.pair_frames import store_similarities
from embedlab.core.paths import TINY_FOLDER
from embedlab.core.settings import Settings
from embedlab.data.marks import UNKNOWN_TEXT
from embedlab.tui.pair_table.data import load_pairs, with_models
from embedlab.tui.stored_models import stored_models


def write_scores(cache: Path, model: str, *marks: str) -> None:
    facts = {"dataset": ["d"], "pair": [0], "sentence1": ["a"], "sentence2": ["b"], "gold": [1.0]}
    folder = cache / "models" / model / "evaluations"
    store_similarities(pl.DataFrame(facts), folder, model, pl.Series([0.5]), marks=marks)


def test_models_of_unknown_training_text_are_named_among_the_marks(tmp_path: Path) -> None:
    settings = Settings(cache=tmp_path / "cache", runs=tmp_path / "runs", data=TINY_FOLDER)
    write_scores(settings.cache, "foreign", UNKNOWN_TEXT)
    write_scores(settings.cache, "stated")
    models, troubles = stored_models(settings)
    assert troubles == []
    data = with_models(load_pairs(settings), models)
    assert data.marks == ["generated", "training text unknown: foreign"]
    assert with_models(data, [model for model in models if model.name != "foreign"]).marks == [
        "generated"
    ]
