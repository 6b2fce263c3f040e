"""Ranks of words against a loop, and the whole task on `--data tiny`."""

from pathlib import Path

import numpy as np
import pytest
import torch

from embedlab.core.errors import MissingError
from embedlab.core.paths import TINY_FOLDER
from embedlab.core.settings import Settings
from embedlab.data.source import Source
from embedlab.encoders.checkpoint import load_transformer
from embedlab.encoders.device import Machine
from embedlab.encoders.word_head import TiedWordHead, load_word_head
from embedlab.models.catalog import ModelSpec
from embedlab.models.reading import Wishes
from embedlab.tasks import word_prediction
from embedlab.tasks.word_prediction import TASK, evaluate_words, mean_reciprocal_rank, word_ranks

MACHINE = Machine(device=torch.device("cpu"), precision="float32", threads=1)


def test_ranks_are_those_of_a_sorted_list() -> None:
    words = torch.nn.Embedding(50, 8)
    vectors, targets = torch.randn(700, 8), np.random.default_rng(0).integers(50, size=700)
    ranks = word_ranks(TiedWordHead(words), vectors, targets)
    logits = vectors @ words.weight.T
    expected = [
        logits[row].argsort(descending=True).tolist().index(target) + 1
        for row, target in enumerate(targets)
    ]
    assert ranks.tolist() == expected


def test_ranks_beyond_ten_count_nothing() -> None:
    assert mean_reciprocal_rank(np.array([1, 2, 10, 11])) == pytest.approx((1 + 0.5 + 0.1) / 4)


def test_words_that_all_tie_are_not_found() -> None:
    words = torch.nn.Embedding(50, 8)
    assert word_ranks(TiedWordHead(words), torch.zeros(1, 8), np.array([3])).tolist() == [50]


def test_the_task_reports_its_four_numbers(tiny_encoder: Path) -> None:
    encoder = load_transformer(str(tiny_encoder), MACHINE, wishes=Wishes(pooling="mean"))
    found = evaluate_words(encoder, Source(folder=TINY_FOLDER))
    assert [score.metric for score in found.scores] == ["mrr@10", "top-1", "top-3", "top-10"]
    assert found.marks == ("generated",)
    assert {score.split for score in found.scores} == {"test"}
    values = [score.value for score in found.scores]
    assert values[1] <= values[2] <= values[3]
    assert values[1] <= values[0] <= values[3]


def test_definitions_that_cannot_be_read_are_refused_before_a_model_is_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(word_prediction, "_refuse_headless", lambda *_: None)
    spec = ModelSpec(name="headed", kind="folder")
    TASK.check(spec, Settings(data=TINY_FOLDER))
    with pytest.raises(MissingError, match="definitions"):
        TASK.check(spec, Settings(data=tmp_path, offline=True))


def test_definitions_count_whose_word_is_any_one_token_the_first_of_the_vocabulary_too(
    tiny_encoder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "words.tsv"
    path.write_text(
        "".join(f"{word}\ta definition of {word}\n" for word in ("first", "none", "other", "more"))
    )
    encoder = load_transformer(str(tiny_encoder), MACHINE, wishes=Wishes(pooling="mean"))
    monkeypatch.setattr(
        encoder,
        "word_ids",
        lambda words: np.array(
            [{"first": 0, "other": 9, "more": 7}.get(word, -1) for word in words]
        ),
    )
    found = evaluate_words(encoder, Source(), dataset=str(path), split="all")
    assert {score.items for score in found.scores} == {3}
    assert {(score.by, score.slice, score.split, score.setting) for score in found.scores} == {
        ("dataset", str(path), "all", "whole vocabulary")
    }
    assert found.notes[-1] == "1 definitions left out: their word is not a single known token"
    head = load_word_head(encoder, "mlm")
    vectors = torch.from_numpy(
        encoder.encode([f"a definition of {word}" for word in ("first", "other", "more")])
    )
    with torch.inference_mode():
        logits = head(vectors)
    ranks = [int((row >= row[own]).sum()) for row, own in zip(logits, (0, 9, 7), strict=True)]
    assert {score.metric: score.value for score in found.scores} == pytest.approx(
        {
            "mrr@10": sum(1 / rank for rank in ranks if rank <= 10) / 3,
            **{f"top-{top}": sum(rank <= top for rank in ranks) / 3 for top in (1, 3, 10)},
        }
    )
