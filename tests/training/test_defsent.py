"""DefSent: what stays, what moves, which words are targets, and its turn among other signals."""

from pathlib import Path
from typing import Any

from safetensors.torch import load_file
from tokenizers import Tokenizer
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import ByteLevel

from embedlab.encoders.word_tokens import single_tokens
from embedlab.training.stage_data import open_stage
from tests.training.small_runs import SAMPLE, Train, open_encoder, recipe_of, stage, weights_of


def definitions(rows: int = 48, **optim: Any) -> dict[str, Any]:
    return stage("definition_to_word", rows, optim, "definitions")


def test_embeddings_and_head_stay_to_the_bit_while_every_layer_moves(
    train: Train, tiny_encoder: Path
) -> None:
    run = train(recipe_of(tiny_encoder, definitions()))
    before, after = load_file(tiny_encoder / "model.safetensors"), weights_of(run)
    assert before.keys() == after.keys()
    moved = {name for name in before if not before[name].equal(after[name])}
    assert moved == {name for name in before if ".encoder." in name}
    assert load_file(run.path / "heads.safetensors") == {}


def test_every_target_is_one_known_token(tiny_encoder: Path, tmp_path: Path) -> None:
    words = ["dog", "zyzzyva", "Dog", "猫", "cat", "hot dog"]
    file = tmp_path / "words.tsv"
    file.write_text("".join(f"{word}\ta definition\n" for word in words))
    data = {"datasets": [str(file)], "split": "all"}
    recipe = recipe_of(tiny_encoder, definitions() | {"data": data})
    encoder = open_encoder(tiny_encoder)
    rows = open_stage(recipe, SAMPLE, 1, 0, encoder.word_ids).rows
    tokens = encoder.tokenizer.convert_ids_to_tokens(rows.columns["word"].tolist())
    assert (tokens, rows.left_out) == (["dog", "dog", "cat"], 3)
    assert len(open_stage(recipe, SAMPLE, 1, 0).rows) == 6  # a dry run has no encoder to use


def test_a_word_of_a_byte_level_tokenizer_is_taken_with_its_leading_space() -> None:
    vocabulary = {"Ġ": 0, "a": 1, "b": 2, "Ġa": 3, "Ġab": 4}
    tokenizer = Tokenizer(BPE(vocab=vocabulary, merges=[("Ġ", "a"), ("Ġa", "b")]))
    tokenizer.pre_tokenizer = ByteLevel(add_prefix_space=False)
    assert single_tokens(tokenizer, ["ab", "a", "b"], None).tolist() == [4, 3, -1]


def test_a_definition_step_between_others_does_not_move_the_word_vectors(
    train: Train, tiny_encoder: Path
) -> None:
    def first(**turn: int) -> dict[str, Any]:
        return stage("nli_softmax", 16, {"warmup": 0.0, **turn})

    mixed = train(recipe_of(tiny_encoder, first(turn=1), definitions(turn=50, lr=1e-12)), "mixed")
    alone = weights_of(train(recipe_of(tiny_encoder, first()), "alone"))
    words = "embeddings.word_embeddings.weight"
    after = weights_of(mixed)[f"bert.{words}"]
    assert not load_file(tiny_encoder / "model.safetensors")[f"bert.{words}"].equal(after)
    assert after.equal(alone[words])
