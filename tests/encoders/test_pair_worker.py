import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from embedlab.core.settings import Settings
from embedlab.encoders.pair_worker import PairWorker, serve


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(
        runs=tmp_path / "runs", cache=tmp_path / "cache", device="cpu", threads=1, offline=True
    )


def selected(*models: str, number: int = 1) -> dict[str, Any]:
    return {
        "number": number,
        "first": ["a cat sleeps", "a cat"],
        "second": ["a dog sleeps", "a cat"],
        "models": list(models),
    }


def test_each_model_answers_for_itself(settings: Settings, tiny_encoder: Path) -> None:
    encoder = f"{tiny_encoder}?pooling=mean"
    answers = list(PairWorker(settings).answer(selected("dice", "no-such-model", encoder)))
    assert [answer["model"] for answer in answers] == ["dice", "no-such-model", encoder]
    assert answers[0]["similarities"] == pytest.approx([2 / 3, 1])
    assert "no-such-model" in answers[1]["error"]
    assert answers[1]["hint"]
    different, equal = answers[2]["similarities"]
    assert -1 <= different < equal == pytest.approx(1)


def test_lines_are_answered_until_the_source_closes_and_the_newest_counts(
    settings: Settings,
) -> None:
    source = StringIO(
        "".join(json.dumps(selected("dice", number=number)) + "\n" for number in (1, 2, 3))
    )
    sink = StringIO()
    serve(settings, source, sink)
    answers = [json.loads(line) for line in sink.getvalue().splitlines()]
    assert answers[-1]["number"] == 3
    assert answers[-1]["similarities"] == pytest.approx([2 / 3, 1])
