from pathlib import Path

import numpy as np
import pytest

from embedlab.core.errors import UsageError
from embedlab.encoders.device import Machine
from embedlab.encoders.transformed import CombinedEncoder, normalized_average
from tests.encoders.opening import TableEncoder, opened

ONE = np.array([[3, 4], [0, 0]], np.float32)
TWO = np.array([[0, 2], [0, 1]], np.float32)


def test_a_normalised_average_is_that_of_vectors_of_length_one() -> None:
    np.testing.assert_allclose(normalized_average([ONE, TWO]), [[0.3, 0.9], [0, 0.5]], atol=1e-6)


def test_a_combined_encoder_combines_and_reports_progress_over_all_parts() -> None:
    reported = []
    parts = [TableEncoder("one", ONE), TableEncoder("two", TWO)]
    encoder = CombinedEncoder(name="both", kind="concat", parts=parts)
    found = encoder.encode(["b", "a", "b"], lambda *counts: reported.append(counts))
    assert found.tolist() == [[0, 0, 0, 1], [3, 4, 0, 2], [0, 0, 0, 1]]
    assert encoder.dim == 4
    assert reported == [(2, 4), (4, 4)]


def test_averages_need_one_dimension() -> None:
    parts = [TableEncoder("one", ONE), TableEncoder("three", np.ones((2, 3), np.float32))]
    with pytest.raises(UsageError, match="one has 2, three has 3") as caught:
        CombinedEncoder(name="both", kind="average", parts=parts)
    assert caught.value.hint == "concat:one,three"
    assert CombinedEncoder(name="both", kind="concat", parts=parts).dim == 5


def test_a_combination_by_name_equals_its_parts_by_hand(
    small_bert: Path, cpu: Machine, sentences: list[str]
) -> None:
    names = [f"{small_bert}?pooling={pooling}" for pooling in ("cls", "max")]
    both = opened(f"average:{names[0]},{names[1]}", cpu)
    one, two = (opened(name, cpu).encode(sentences) for name in names)
    np.testing.assert_allclose(both.encode(sentences), (one + two) / 2, atol=1e-6)
    assert both.facts.pooling == "cls + max"
    with pytest.raises(UsageError, match="'dice' has no vectors"):
        opened(f"average:dice,{small_bert}", cpu)
