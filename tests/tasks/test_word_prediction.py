"""Ranks of words against a loop, and the whole task on `--data tiny`."""

from pathlib import Path

import numpy as np
import pytest
import torch

from embedlab.analysis.measures import MEASURES
from embedlab.data.source import Source
from embedlab.encoders.word_head import TiedWordHead, load_word_head
from embedlab.tasks.word_prediction import METRICS, evaluate_words, word_ranks
from tests.tasks.evaluated import evaluated, spec_of
from tests.training.small_runs import SAMPLE, open_encoder


def test_ranks_are_those_of_a_sorted_list_and_words_that_all_tie_are_not_found() -> None:
    words = torch.nn.Embedding(50, 8)
    vectors, targets = torch.randn(700, 8), np.random.default_rng(0).integers(50, size=700)
    orders = (vectors @ words.weight.T).argsort(descending=True).tolist()
    expected = [order.index(target) + 1 for order, target in zip(orders, targets, strict=True)]
    assert word_ranks(TiedWordHead(words), vectors, targets).tolist() == expected
    assert word_ranks(TiedWordHead(words), torch.zeros(1, 8), np.array([3])).tolist() == [50]


def test_definitions_count_whose_word_is_any_one_token_the_first_of_the_vocabulary_too(
    tiny_encoder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = {"first": 0, "other": 9, "more": 7}
    texts = {word: f"a definition of {word}" for word in ("first", "none", "other", "more")}
    path = tmp_path / "words.tsv"
    path.write_text("".join(f"{word}\t{text}\n" for word, text in texts.items()))
    encoder = open_encoder(tiny_encoder)
    monkeypatch.setattr(
        encoder, "word_ids", lambda words: np.array([known.get(word, -1) for word in words])
    )
    result = evaluate_words(encoder, Source().open(str(path), "all", kind="definitions"))
    (outcomes,) = result.outcomes
    assert (outcomes.dataset, outcomes.split) == (str(path), "all")
    assert (
        result.evaluation.notes[-1] == "1 definition left out: the word is not a single known token"
    )
    with torch.inference_mode():
        vectors = torch.from_numpy(encoder.encode([texts[word] for word in known]))
        logits = load_word_head(encoder, "mlm")(vectors)
    rows = zip(logits, known.values(), strict=True)
    ranks = np.array([int((row >= row[own]).sum()) for row, own in rows])
    shares = {f"top-{top}": np.mean(ranks <= top) for top in (1, 3, 10)}
    columns = [outcomes.items[name].to_numpy() for name in ("gold", "predicted")]
    values = {metric: MEASURES[metric].value(*columns) for metric in METRICS}
    assert values == pytest.approx({"mrr@10": np.mean((ranks <= 10) / ranks), **shares})
    assert outcomes.items["item"].to_list() == [0, 2, 3]  # rows of the file
    assert outcomes.items["predicted"].to_list() == ranks.tolist()
    assert outcomes.items["sentence1"].to_list() == [texts[word] for word in known]
    assert outcomes.items["sentence2"].to_list() == [*known]
    (read,) = result.tested
    assert read.frame["word"].to_list() == [*known]  # of which training text is counted


def test_a_folder_is_scored_on_the_test_definitions(tiny_encoder: Path) -> None:
    found = evaluated("word_prediction", spec_of(tiny_encoder))
    (part,), (read,) = found.tested, found.evaluation.data
    facts = {(score.slice, score.split, score.setting) for score in found.evaluation.scores}
    assert facts == {("definitions", "test", "whole vocabulary")}
    assert [score.metric for score in found.evaluation.scores] == [*METRICS]
    assert part.state == SAMPLE.open("definitions", "test").state
    assert (read["name"], read["split"], read["rows"]) == ("definitions", "test", part.state.rows)
