"""The process that scores typed pairs: it starts with the first request, keeps its models loaded
and ends with the dashboard.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass

from embedlab.core.errors import EmbedlabError
from embedlab.core.paths import state_folder
from embedlab.core.python_processes import python_command, start_piped
from embedlab.core.settings import Settings, worker_values
from embedlab.store.files import disk_errors


@dataclass(frozen=True, kw_only=True)
class TypedScore:
    """The result of one model for the request with this number."""

    number: int
    model: str
    similarities: Sequence[float] = ()  # of the pairs that were requested; none with an error
    error: str = ""
    hint: str = ""

    @property
    def similarity(self) -> float | None:
        """That of the first pair."""
        return self.similarities[0] if self.similarities else None


class ScorerProcess:
    """Sends pairs to the process and receives their scores; one reader at a time."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._process: asyncio.subprocess.Process | None = None
        self._number = 0
        self._starting, self._reading = asyncio.Lock(), asyncio.Lock()

    async def request(self, pairs: Sequence[tuple[str, str]], models: Sequence[str]) -> int:
        """Send a request and return its number; the process may skip older requests."""
        process = await self._running()
        self._number += 1
        request = {
            "number": self._number,
            "first": [first for first, _ in pairs],
            "second": [second for _, second in pairs],
            "models": list(models),
        }
        assert process.stdin is not None
        process.stdin.write(json.dumps(request).encode() + b"\n")
        with suppress(ConnectionError):
            await process.stdin.drain()
        return self._number

    async def scores(self) -> AsyncGenerator[TypedScore, None]:
        """Every score as it arrives; an unexpected end of the process is an EmbedlabError."""
        process = await self._running()
        assert process.stdout is not None
        async with self._reading:
            while line := await process.stdout.readline():
                yield TypedScore(**json.loads(line))
        raise EmbedlabError(
            "the process that scores typed pairs ended",
            hint=f"its log: {state_folder() / 'typed-pairs.log'}",
        )

    async def answers(
        self, pairs: Sequence[tuple[str, str]], models: Sequence[str]
    ) -> AsyncGenerator[TypedScore, None]:
        """Request the scores of PAIRS and yield that of each model; it ends where a newer request
        took the place of this one.
        """
        number, missing = await self.request(pairs, models), set(models)
        async with aclosing(self.scores()) as scores:
            async for score in scores:
                if score.number == number:
                    missing.discard(score.model)
                    yield score
                if not missing or score.number > number:
                    return

    async def _running(self) -> "asyncio.subprocess.Process":
        async with self._starting:
            if self._process is None or self._process.returncode is not None:
                log = state_folder() / "typed-pairs.log"
                with disk_errors(log):
                    log.parent.mkdir(parents=True, exist_ok=True)
                    file = log.open("wb")
                with file:
                    command = python_command(
                        json.dumps(worker_values(self._settings)),
                        module="embedlab.encoders.pair_worker",
                    )
                    self._process = await start_piped(command, stderr=file)
            return self._process

    async def close(self) -> None:
        """Terminate the process and wait for its end."""
        if self._process is not None and self._process.returncode is None:
            with suppress(ProcessLookupError):
                self._process.terminate()
            await self._process.wait()
