"""One pass over the sentences of several tasks, and evaluations that are cached."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from embedlab.core.settings import Settings
from embedlab.data.source import Source
from embedlab.encoders.loading import load_encoder
from embedlab.encoders.score_place import ScorePlace
from embedlab.encoders.transformer import TransformerEncoder
from embedlab.evaluation import encode_once
from embedlab.models.catalog import ModelSpec
from embedlab.runs.evaluations import Evaluation
from embedlab.scoring.results import stored_evaluation
from embedlab.tasks._labelled import task_features
from embedlab.tasks.task import Selection
from embedlab.tasks.transfer import TASK, open_transfer
from tests.tasks.evaluated import spec_of
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
    spec = spec_of(f"{tiny_encoder}?pooling=mean")
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
    cached, plain = (load_encoder(spec, settings, cache=cache) for cache in (settings.cache, None))
    for task in open_transfer(source, ["mr", "mrpc"]).tasks:
        found, expected = (task_features(encoder, task)[0] for encoder in (cached, plain))
        np.testing.assert_allclose(found, expected, atol=1e-5)
    assert len(encoded) > len(everything)  # by the plain one alone


def test_an_evaluation_is_cached_for_the_same_vectors_data_and_program_only(
    source: Source, tmp_path: Path
) -> None:
    opened = open_transfer(source, ["mr", "mrpc"])
    made = TASK.evaluated(WordEncoder(), opened, "exact").evaluation
    settings = Settings(data=source.folder, allow_partial=True)
    spec = ModelSpec(name=made.model, kind="folder")
    place = ScorePlace(
        spec=spec, fingerprint=made.fingerprint, precision="float32", evaluations=tmp_path
    )

    def found(name: str = "transfer-exact", **facts: Any) -> Evaluation | None:
        """What is cached with these FACTS, which is the same where only it says what was read."""
        own = replace(place, **facts)
        alone = stored_evaluation(own, name, None, settings)
        assert stored_evaluation(own, name, opened.texts, settings) == alone
        return alone

    made.save(tmp_path)
    cached = found()
    assert cached is not None
    assert cached.scores == made.scores
    assert found("transfer") is found(fingerprint="other") is None
    assert found(spec=replace(spec, name="a copy of it")) is None
    other = open_transfer(source, ["mr"]).texts
    assert stored_evaluation(place, "transfer-exact", other, settings) is None
    replace(made, embedlab="0.0.1").save(tmp_path)
    assert found() is None
    made.save(tmp_path)
    write_mr(source.folder or tmp_path, 13)
    opened = open_transfer(source, ["mr", "mrpc"])
    assert found() is None
