"""Scores a few pairs for a program that must not load torch: JSON lines in, JSON lines out, until
stdin closes.

In: {"number", "first", "second", "models"}, where first and second are lists of sentences. Out, a
line a model: {"number", "model", "similarities"}, of the pairs in their order, or {"number",
"model", "error", "hint"}. A model is loaded once, until its files change. If questions arrive
faster than answers, only the newest is answered.
"""

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from queue import SimpleQueue
from threading import Thread
from typing import Any, TextIO

import numpy as np

from embedlab.core.crash_reports import report_unforeseen, run_guarded, show_in_log
from embedlab.core.errors import EmbedlabError, ExitCode
from embedlab.core.schema import build
from embedlab.core.settings import Settings
from embedlab.encoders.encoder import PairScorer
from embedlab.encoders.loading import scorer_for
from embedlab.encoders.score_place import ScorePlace
from embedlab.models.catalog import ModelSpec, resolve


class PairWorker:
    """The models that were requested so far, ready to score."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._loaded = lru_cache(maxsize=16)(self._load)

    def answer(self, question: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        """Yield one answer per model: the mean similarities over its members, or its error."""
        for name in question["models"]:
            reply = {"number": question["number"], "model": name}
            try:
                scores = np.array(
                    [
                        scorer.score(question["first"], question["second"])
                        for scorer in self._members(name)
                    ],
                    np.float64,
                )
                yield {
                    **reply,
                    "similarities": [float(mean) for mean in scores.mean(axis=0)],
                }
            except EmbedlabError as error:
                yield {**reply, "error": error.message, "hint": error.hint}
            except Exception as error:  # a bug in one model's code; the other models are scored
                reported = report_unforeseen(error)
                yield {**reply, "error": reported.message, "hint": reported.hint}

    def _members(self, name: str) -> Sequence[PairScorer]:
        """The scorers of a model as it is now: a run may have been trained again."""
        members = resolve(name, self._settings.runs).members
        places = [ScorePlace.of(spec, self._settings) for spec in members]
        return [self._loaded(place.spec, place.fingerprint) for place in places]

    def _load(self, spec: ModelSpec, _fingerprint: str) -> PairScorer:
        return scorer_for(spec, self._settings)


def serve(settings: Settings, source: TextIO, sink: TextIO) -> None:
    """Answer the lines of SOURCE on SINK until it closes."""
    questions: SimpleQueue[dict[str, Any] | None] = SimpleQueue()
    Thread(target=_read, args=(source, questions), daemon=True).start()
    worker = PairWorker(settings)
    while (question := questions.get()) is not None:
        while not questions.empty():
            newer = questions.get()
            if newer is None:  # the last question is still answered
                questions.put(None)
                break
            question = newer
        for reply in worker.answer(question):
            sink.write(json.dumps(reply) + "\n")
            sink.flush()


def _read(source: TextIO, questions: "SimpleQueue[dict[str, Any] | None]") -> None:
    for line in source:
        questions.put(json.loads(line))
    questions.put(None)


def main() -> int:
    """Serve until stdin closes."""
    serve(build(Settings, json.loads(sys.argv[1]), where="settings"), sys.stdin, sys.stdout)
    return ExitCode.OK


if __name__ == "__main__":
    sys.exit(run_guarded(main, show_in_log))
