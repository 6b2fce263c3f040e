"""Vectors of a server that speaks OpenAI's embeddings protocol: vLLM, llama.cpp, TEI, OpenAI itself.

A name is the address and the model, `http://HOST/v1#MODEL`. The key is read from EMBEDLAB_API_KEY, sent to that address alone, and
neither stored nor shown.
"""

import os
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from embedlab.core.errors import EmbedlabError, MissingError, UsageError
from embedlab.core.settings import API_KEY
from embedlab.encoders.encoder import EncoderFacts, Vectors
from embedlab.models.encoder_kind import EncoderKind

TEXTS_A_REQUEST = 32  # as many as TEI takes unless it is started with more
CHARACTERS_A_REQUEST = 100_000  # about 25,000 tokens, below what servers take at once
TEXTS_A_SAVE = 1_024  # computed together before they are cached, so that a broken connection loses few
ATTEMPTS = 6
LONGEST_WAIT_S = 20.0
TIMEOUT_S = 120.0
_TRANSIENT = {408, 425, 429, *range(500, 600)}


class _TransientError(Exception):
    """A failure that may be gone at the next attempt."""

    def __init__(self, reason: str, wait_s: float | None = None) -> None:
        super().__init__(reason)
        self.wait_s = wait_s  # as the server stated


class EndpointEncoder:
    """The vectors of one model of one server."""

    def __init__(self, url: str, model: str) -> None:
        import httpx2

        self._url, self._model = url, model
        key = _key()
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._client = httpx2.Client(headers=headers, timeout=TIMEOUT_S, follow_redirects=False)
        self._has_key = bool(key)
        self._requests = self._tokens = 0

    @property
    def facts(self) -> EncoderFacts:
        """How many requests were made, and how many tokens the server counted."""
        if not self._requests:
            return EncoderFacts(pooling="endpoint")
        tokens = f", {self._tokens} tokens" if self._tokens else ""
        requests = f"{self._requests} request{'s' if self._requests > 1 else ''}"
        return EncoderFacts(pooling="endpoint", notes=(f"{requests}{tokens}",))

    def encode(self, sentences: Sequence[str]) -> Vectors:
        """One vector a sentence, in order; what the server does not answer after several attempts is an error."""
        found = [self._batch(batch) for batch in _batches(sentences)]
        if len({vectors.shape[1] for vectors in found}) > 1:
            raise self._wrong("vectors of different lengths")
        return np.concatenate(found) if found else np.empty((0, 0), np.float32)

    def _batch(self, texts: Sequence[str]) -> Vectors:
        from tenacity import RetryError, Retrying, retry_if_exception_type, stop_after_attempt

        attempts = Retrying(stop=stop_after_attempt(ATTEMPTS), retry=retry_if_exception_type(_TransientError), wait=_wait)
        try:
            answer: dict[str, Any] = attempts(self._request, texts)
        except RetryError as error:
            reason = error.last_attempt.exception()
            raise MissingError(
                f"{self._url} did not answer after {ATTEMPTS} attempts: {reason}", hint="is the server running? What was computed is cached"
            ) from error
        return self._vectors(answer, len(texts))

    def _request(self, texts: Sequence[str]) -> dict[str, Any]:
        import httpx2

        body = {"model": self._model, "input": [text or " " for text in texts], "encoding_format": "float"}  # OpenAI refuses ""
        try:
            response = self._client.post(f"{self._url}/embeddings", json=body)
        except httpx2.InvalidURL as error:
            raise UsageError(f"{self._url!r} is not an address: {error}", hint="for example http://localhost:8000/v1#MODEL") from error
        except httpx2.RequestError as error:
            raise _TransientError(f"{type(error).__name__}: {error}") from error
        self._requests += 1
        if response.status_code in _TRANSIENT:
            raise _TransientError(
                f"status {response.status_code}: {_shown(response.text)}".removesuffix(": "), _seconds(response.headers.get("Retry-After"))
            )
        if response.is_redirect:
            raise MissingError(
                f"{self._url} redirects to {_shown(response.headers['Location'])}", hint="name that address, if you trust it"
            )
        if response.status_code != 200:
            raise self._refused(response.status_code, response.text)
        try:
            answer = response.json()
        except ValueError as error:
            raise self._wrong("an answer that is not JSON") from error
        if not isinstance(answer, dict):
            raise self._wrong("an answer that is not an object")
        if "data" not in answer and "error" in answer:
            raise self._refused(response.status_code, response.text)
        return answer

    def _vectors(self, answer: dict[str, Any], count: int) -> Vectors:
        usage = answer.get("usage")
        tokens = usage.get("total_tokens", usage.get("prompt_tokens", 0)) if isinstance(usage, dict) else 0
        self._tokens += tokens if isinstance(tokens, int) else 0
        try:
            rows = answer["data"] if isinstance(answer.get("data"), list) else []
            if (order := _order([row.get("index", 0) for row in rows])) is None:
                raise self._wrong("vectors whose indices give no order")
            with np.errstate(over="ignore"):  # such numbers are refused below
                vectors = np.array([rows[place]["embedding"] for place in order], np.float32)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise self._wrong("no vectors of numbers") from error
        if vectors.ndim != 2 or len(vectors) != count or not vectors.shape[1]:
            raise self._wrong(f"vectors of shape {vectors.shape} for {count} texts")
        if not np.isfinite(vectors).all():
            raise self._wrong("numbers that are not finite")
        return vectors

    def _refused(self, status: int, text: str) -> EmbedlabError:
        if status in {401, 403}:
            hint = f"check the key in {API_KEY}" if self._has_key else f"set {API_KEY} to its key"
            return MissingError(f"{self._url} refuses the request: status {status}", hint=hint)
        return MissingError(
            f"{self._url} refuses the model {self._model!r}: status {status}: {_shown(text)}",
            hint="check the address, the model's name and the length of the texts",
        )

    def _wrong(self, what: str) -> EmbedlabError:
        return EmbedlabError(f"{self._url} answers with {what}", hint="does it speak OpenAI's embeddings protocol?")


def endpoint_kind(scheme: str) -> EncoderKind:
    """The kind of models whose address begins with SCHEME."""

    def open_endpoint(location: str) -> EndpointEncoder:
        address, _, model = location.partition("#")
        return EndpointEncoder(f"{scheme}:{address}", model)

    def locate(rest: str) -> str:
        address, _, model = rest.partition("#")
        parts = urlsplit(f"{scheme}:{address}")
        if parts.username or parts.password:
            raise UsageError(f"the address of {parts.hostname!r} holds a password", hint=f"put the key into {API_KEY}")
        if not parts.hostname or not model:
            raise UsageError(f"{scheme}:{rest!r} is not a model of an endpoint", hint=f"for example {scheme}://localhost:8000/v1#MODEL")
        return f"{address.rstrip('/')}#{model}"

    return EncoderKind(open=open_endpoint, locate=locate, backend="endpoint", pooling="endpoint", per_save=TEXTS_A_SAVE, is_remote=True)


def _batches(sentences: Sequence[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    characters = 0
    for sentence in sentences:
        if batch and (len(batch) == TEXTS_A_REQUEST or characters + len(sentence) > CHARACTERS_A_REQUEST):
            yield batch
            batch, characters = [], 0
        batch.append(sentence)
        characters += len(sentence)
    if batch:
        yield batch


def _wait(state: Any) -> float:
    """The seconds before the next attempt: as the server stated, otherwise twice as many each time, with chance."""
    from tenacity import wait_exponential_jitter

    error = state.outcome.exception()
    if isinstance(error, _TransientError) and error.wait_s is not None:
        return min(error.wait_s, LONGEST_WAIT_S)
    seconds: float = wait_exponential_jitter(initial=0.25, max=LONGEST_WAIT_S, jitter=0.25)(state)
    return seconds


def _order(indices: Sequence[Any]) -> Sequence[int] | None:
    """The places of rows by their INDICES; as they are where these are all the same, None where they give no order."""
    if not indices or all(index == indices[0] for index in indices):
        return range(len(indices))
    if not all(isinstance(index, int) for index in indices) or len(set(indices)) < len(indices):
        return None
    return sorted(range(len(indices)), key=lambda place: int(indices[place]))


def _key() -> str:
    """The key, without blanks around it; one that no header can carry is a UsageError that does not show it."""
    key = os.environ.get(API_KEY, "").strip()
    if not (key.isascii() and key.isprintable()):
        raise UsageError(f"{API_KEY} holds characters that no key has", hint="set it to the key alone")
    return key


def _shown(text: str) -> str:
    """The first words of what a server says, without the key."""
    key = os.environ.get(API_KEY, "").strip()
    said = " ".join((text.replace(key, "…") if key else text).split())
    return said if len(said) <= 160 else f"{said[:160]}…"


def _seconds(header: str | None) -> float | None:
    try:
        return max(0.0, float(header)) if header is not None else None
    except ValueError:
        return None  # a date
