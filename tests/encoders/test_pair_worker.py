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
    models = ["dice", "no-such-model", f"{tiny_encoder}?pooling=mean"]
    words, unknown, vectors = PairWorker(settings).answer(selected(*models))
    assert [answer["model"] for answer in (words, unknown, vectors)] == models
    assert words["similarities"] == pytest.approx([2 / 3, 1])
    assert "no-such-model" in unknown["error"]
    assert unknown["hint"]
    different, equal = vectors["similarities"]
    assert -1 <= different < equal == pytest.approx(1)


def test_a_model_whose_files_change_is_loaded_again(settings: Settings, tmp_path: Path) -> None:
    file = tmp_path / "words.txt"
    worker = PairWorker(settings)
    similarities = []
    for dog in ("0 1", "1 0"):
        file.write_text(f"a 1 0\ncat 1 0\nsleeps 1 0\ndog {dog}\n")
        (answer,) = worker.answer(selected(f"word-vectors:{file}"))
        similarities.append(answer["similarities"][0])
    assert similarities == pytest.approx([2 / 5**0.5, 1])


def test_lines_are_answered_until_the_source_closes_and_the_newest_counts(
    settings: Settings,
) -> None:
    lines = [json.dumps(selected("dice", number=number)) for number in (1, 2, 3)]
    sink = StringIO()
    serve(settings, StringIO("\n".join([*lines, ""])), sink)
    newest = json.loads(sink.getvalue().splitlines()[-1])
    assert newest["number"] == 3
    assert newest["similarities"] == pytest.approx([2 / 3, 1])
