"""How often a model encodes while it is measured, and what of it counts."""

import subprocess
import sys
from collections.abc import Sequence

import pytest

from embedlab.encoders.cost_worker import FEWEST, ROUNDS, WARM, measure, processor_name


class Timed:
    """An encoder that takes a number of milliseconds for each sentence, the first call ten times as
    long, on a clock of its own.
    """

    def __init__(self, milliseconds: float) -> None:
        self.now, self.calls, self._each = 0.0, [], milliseconds / 1000

    def encode(self, sentences: Sequence[str]) -> None:
        self.now += self._each * len(sentences) * (1 if self.calls else 10)
        self.calls.append(len(sentences))


@pytest.mark.parametrize(
    ("milliseconds", "texts", "counted"),
    [(0.5, 300, 300), (19.9, 300, 150), (500.0, 300, FEWEST), (1.0, 5, 5)],
)
def test_rounds_are_as_long_as_a_model_is_fast_and_the_first_call_does_not_count(
    milliseconds: float, texts: int, counted: int
) -> None:
    model = Timed(milliseconds)
    found, sentences = measure(model, ["a"] * texts, clock=lambda: model.now)
    assert found == pytest.approx([milliseconds] * ROUNDS)
    assert sentences == counted
    assert model.calls == [min(WARM, texts), min(FEWEST, texts), *[counted] * ROUNDS]
    assert processor_name()


def test_the_memory_of_a_process_is_its_own_and_not_that_of_the_one_that_started_it() -> None:
    held = b"x" * (900 * 2**20)  # written, so that it is resident
    code = "from embedlab.encoders.cost_worker import peak_memory_mib; print(peak_memory_mib())"
    found = float(
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout
    )
    assert len(held) / 2**20 > found > 20
