from pathlib import Path

import pytest
from transformers import AutoModelForMaskedLM, AutoTokenizer

from embedlab.encoders.random_encoder import build_random_encoder
from embedlab.models.fingerprint import used_fingerprint
from embedlab.models.folder import Usage
from embedlab.models.reading import Reading


def fingerprint(folder: Path) -> str:
    return used_fingerprint(
        Usage(pooling="mean", reading=Reading(max_tokens=8), source=folder, folders=(folder,)),
        precision="float32",
    )


def test_the_seed_decides_every_weight(tmp_path: Path) -> None:
    for name, seed in (("one", 0), ("again", 0), ("other", 1)):
        build_random_encoder(tmp_path / name, seed=seed, vocabulary=["dog"])
    assert (
        fingerprint(tmp_path / "one")
        == fingerprint(tmp_path / "again")
        != fingerprint(tmp_path / "other")
    )


def test_vocabulary_words_are_one_token_and_others_are_spelled(tmp_path: Path) -> None:
    build_random_encoder(tmp_path / "tiny", seed=0, vocabulary=["Dog", "runs"])
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "tiny", trust_remote_code=False)
    assert tokenizer.tokenize("DOG runs, ox") == ["dog", "runs", ",", "o", "##x"]
    assert tokenizer.convert_ids_to_tokens(tokenizer("dog")["input_ids"]) == [
        "[CLS]",
        "dog",
        "[SEP]",
    ]


def test_every_word_of_the_sample_world_is_one_token(tiny_encoder: Path) -> None:
    from embedlab.data.tiny import vocabulary

    tokenizer = AutoTokenizer.from_pretrained(tiny_encoder, trust_remote_code=False)
    assert all(len(tokenizer.tokenize(word)) == 1 for word in vocabulary())


@pytest.mark.parametrize("architecture", ["bert", "roberta", "distilbert", "modernbert"])
def test_the_masked_language_model_head_is_saved(
    architectures: dict[str, Path], architecture: str
) -> None:
    _, report = AutoModelForMaskedLM.from_pretrained(
        architectures[architecture], output_loading_info=True, trust_remote_code=False
    )
    assert not report["missing_keys"]
    assert not report["unexpected_keys"]
