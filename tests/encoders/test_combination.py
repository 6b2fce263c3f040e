from pathlib import Path

import numpy as np
import pytest

from embedlab.core.errors import UsageError
from embedlab.encoders.device import Machine
from embedlab.encoders.kinds.word_vectors import WordVectorEncoder
from embedlab.encoders.loading import load_encoder, load_scorer
from embedlab.encoders.transformed import (
    CombinedEncoder,
    average_vectors,
    concat,
    normalized_average,
)
from embedlab.models.catalog import resolve

ONE = np.array([[3, 4], [0, 0]], np.float32)
TWO = np.array([[0, 2], [0, 1]], np.float32)


def words(name: str, vectors: np.ndarray) -> WordVectorEncoder:
    return WordVectorEncoder(name=name, fingerprint=name, places={"a": 0, "b": 1}, vectors=vectors)


def test_average_is_the_mean() -> None:
    assert average_vectors([ONE, TWO]).tolist() == [[1.5, 3], [0, 0.5]]


def test_normalized_average_brings_each_to_length_one_first() -> None:
    np.testing.assert_allclose(normalized_average([ONE, TWO]), [[0.3, 0.9], [0, 0.5]], atol=1e-6)


def test_concat_puts_one_after_the_other() -> None:
    assert concat([ONE, TWO]).tolist() == [[3, 4, 0, 2], [0, 0, 0, 1]]


def test_a_combined_encoder_combines_and_reports_progress_over_all_parts() -> None:
    reported = []
    encoder = CombinedEncoder(
        name="both", kind="concat", parts=[words("one", ONE), words("two", TWO)]
    )
    assert (
        encoder.encode(["b", "a", "b"], lambda done, total: reported.append((done, total))).tolist()
        == concat([ONE, TWO])[[1, 0, 1]].tolist()
    )
    assert encoder.dim == 4
    assert reported == [(2, 4), (4, 4)]


def test_averages_need_one_dimension() -> None:
    parts = [words("one", ONE), words("three", np.ones((2, 3), np.float32))]
    with pytest.raises(UsageError, match="one has 2, three has 3") as caught:
        CombinedEncoder(name="both", kind="average", parts=parts)
    assert caught.value.hint == "concat:one,three"
    assert CombinedEncoder(name="both", kind="concat", parts=parts).dim == 5


def test_a_combination_by_name_equals_its_parts_by_hand(
    small_bert: Path, cpu: Machine, sentences: list[str], tmp_path: Path
) -> None:
    parts = [
        load_encoder(resolve(f"{small_bert}?pooling={pooling}", tmp_path).members[0], cpu)
        for pooling in ("cls", "max")
    ]
    both = load_encoder(
        resolve(f"average:{small_bert}?pooling=cls,{small_bert}?pooling=max", tmp_path).members[0],
        cpu,
    )
    np.testing.assert_allclose(
        both.encode(sentences),
        (parts[0].encode(sentences) + parts[1].encode(sentences)) / 2,
        atol=1e-6,
    )
    assert both.facts.pooling == "cls + max"


def test_dice_has_no_vectors_to_combine(small_bert: Path, cpu: Machine, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="'dice' has no vectors"):
        load_scorer(resolve(f"average:dice,{small_bert}", tmp_path).members[0], cpu)
