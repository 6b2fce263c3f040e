"""One pass over the sentences of several tasks, and evaluations that are cached."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from embedlab.core.settings import Settings
from embedlab.data.source import Source
from embedlab.encoders.device import machine
from embedlab.encoders.loading import load_encoder
from embedlab.encoders.score_place import ScorePlace
from embedlab.encoders.transformer import TransformerEncoder
from embedlab.evaluation import encode_once
from embedlab.models.catalog import ModelSpec, resolve
from embedlab.scoring.results import stored_evaluation
from embedlab.tasks._labelled import OpenedTasks, task_features
from embedlab.tasks.task import Selection
from embedlab.tasks.transfer import TASK, open_transfer
from tests.tasks.labelled_sentences import WordEncoder, write_mr, write_mrpc, write_sst2


@pytest.fixture
def source(tmp_path: Path) -> Source:
    for write in (write_mr, write_sst2, write_mrpc):
        write(tmp_path, 12)
    return Source(folder=tmp_path, offline=True, allow_partial=True)


def test_every_sentence_is_encoded_once_longest_first_and_the_tasks_find_it(
    source: Source, tiny_encoder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoded: list[str] = []
    embed = TransformerEncoder.embed

    def counted(own: TransformerEncoder, sentences: list[str], *more: Any) -> Any:
        encoded.extend(sentences)
        return embed(own, sentences, *more)

    monkeypatch.setattr(TransformerEncoder, "embed", counted)
    (spec,) = resolve(f"{tiny_encoder}?pooling=mean", tmp_path).members
    settings = Settings(cache=tmp_path / "cache", device="cpu", threads=1)
    selections = [Selection(names=names) for names in (("mr", "sst2"), ("mrpc", "sst2"))]
    texts = [TASK.texts(source, selection) for selection in selections]
    reported: list[tuple[int, int]] = []
    for _ in range(2):  # the second time all is cached
        encode_once(spec, texts, settings, lambda _: lambda *counts: reported.append(counts))
    everything = {sentence for one in texts for column in one.columns for sentence in column}
    assert sorted(encoded) == sorted(everything)
    lengths = [len(sentence) for sentence in encoded]
    assert lengths == sorted(lengths, reverse=True)
    assert (len(everything), len(everything)) in reported
    cached, plain = (
        load_encoder(spec, machine(settings), cache=cache) for cache in (settings.cache, None)
    )
    for task in open_transfer(source, ["mr", "mrpc"]).tasks:
        found, expected = (task_features(encoder, task)[0] for encoder in (cached, plain))
        np.testing.assert_allclose(found, expected, atol=1e-5)
    assert len(encoded) > len(everything)  # by the plain one alone


def test_an_evaluation_is_cached_for_the_same_vectors_data_and_program_only(
    source: Source, tmp_path: Path
) -> None:
    opened = open_transfer(source, ["mr", "mrpc"])
    made = TASK.evaluated(WordEncoder(), opened, "exact").evaluation
    everything = opened
    settings = Settings(data=source.folder, allow_partial=source.allow_partial)

    def is_cached(
        name: str = "transfer-exact",
        model: str = made.model,
        fingerprint: str = made.fingerprint,
        opened: OpenedTasks = opened,
    ) -> bool:
        spec = ModelSpec(name=model, kind="folder", location="")
        place = ScorePlace(
            spec=spec,
            fingerprint=fingerprint,
            precision="float32",
            evaluations=tmp_path,
        )
        found = stored_evaluation(place, name, opened.texts, settings)
        assert found is None or found.scores == made.scores
        # What its task reads may also be known from the evaluation alone.
        assert opened is not everything or stored_evaluation(place, name, None, settings) == found
        return found is not None

    made.save(tmp_path)
    assert is_cached()
    assert not is_cached("transfer")
    assert not is_cached(fingerprint="other")
    assert not is_cached(opened=open_transfer(source, ["mr"]))
    assert not is_cached(model="a copy of it")
    replace(made, embedlab="0.0.1").save(tmp_path)
    assert not is_cached()
    made.save(tmp_path)
    write_mr(source.folder or tmp_path, 13)
    everything = open_transfer(source, ["mr", "mrpc"])
    assert not is_cached(opened=everything)
