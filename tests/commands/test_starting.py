"""Where a training starts from."""

from pathlib import Path

import pytest
from transformers import PreTrainedTokenizerFast

from embedlab.commands.training_plan import build_tiny_encoder, starting_encoder
from embedlab.core.paths import TINY_FOLDER
from embedlab.core.settings import Settings
from embedlab.data import tiny


def start(settings: Settings) -> Path:
    location = starting_encoder(None, settings)
    build_tiny_encoder(location, settings)
    return Path(location)


def test_corpora_of_other_words_do_not_start_from_the_encoder_of_the_former_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Settings(data=TINY_FOLDER, cache=tmp_path)
    former = start(settings)
    monkeypatch.setattr(tiny, "vocabulary", lambda: ("a", "man", "ponders"))
    today = start(settings)
    tokenizers = [
        PreTrainedTokenizerFast.from_pretrained(str(folder), trust_remote_code=False)
        for folder in (former, today)
    ]
    assert [len(one.tokenize("ponders")) for one in tokenizers] == [7, 1]
