"""DefSent: what stays, what moves, which words are targets, and its turn among other signals."""

from pathlib import Path
from typing import Any

from safetensors.torch import load_file
from tokenizers import Tokenizer
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import ByteLevel

from embedlab.encoders.checkpoint import load_transformer
from embedlab.encoders.word_tokens import single_tokens
from embedlab.models.reading import UsageOptions
from embedlab.training.stage_data import open_stage
from tests.training.small_runs import MACHINE, SAMPLE, Train, recipe_of, stage


def definitions(rows: int = 48, **optim: Any) -> dict[str, Any]:
    return {
        "data": {"datasets": ["definitions"], "rows": rows},
        "objective": {"name": "definition_to_word"},
        "optim": {"lr": 1e-3, "batch_size": 16, "weight_decay": 0.01, **optim},
    }


def test_embeddings_and_head_stay_to_the_bit_while_every_layer_moves(
    train: Train, tiny_encoder: Path
) -> None:
    run = train(recipe_of(tiny_encoder, definitions()))
    before, after = (
        load_file(tiny_encoder / "model.safetensors"),
        load_file(run.model / "model.safetensors"),
    )
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
    encoder = load_transformer(str(tiny_encoder), MACHINE, wishes=UsageOptions(pooling="mean"))
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
    first = stage("nli_softmax", rows=16, optim={"warmup": 0.0})
    turns = {**first, "optim": {**first["optim"], "turn": 1}}
    mixed = train(recipe_of(tiny_encoder, turns, definitions(turn=50, lr=1e-12)), "mixed")
    alone = train(recipe_of(tiny_encoder, first), "alone")
    words = "embeddings.word_embeddings.weight"
    before, after = (
        load_file(folder / "model.safetensors")[f"bert.{words}"]
        for folder in (tiny_encoder, mixed.model)
    )
    assert not before.equal(after)
    assert after.equal(load_file(alone.model / "model.safetensors")[words])
