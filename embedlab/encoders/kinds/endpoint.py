"""Vectors of a server that speaks OpenAI's embeddings protocol: vLLM, llama.cpp, TEI, OpenAI
itself.

A name is the address and the model, `http://HOST/v1#MODEL`; the address may have parameters. The
key of EMBEDLAB_API_KEY and the lines of EMBEDLAB_API_HEADERS are sent to servers that the user
typed alone, and neither stored nor shown.
"""

import base64
import json
import os
import random
import re
import time
from collections.abc import Sequence
from concurrent.futures import Future
from contextlib import suppress
from email.utils import parsedate_to_datetime
from threading import Thread
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

import numpy as np

from embedlab.core.errors import EmbedlabError, MissingError, UsageError
from embedlab.core.printable import count_text, first_few
from embedlab.core.settings import API_HEADERS, API_KEY
from embedlab.encoders.encoder import (
    SHOWN,
    EncoderFacts,
    RefusedTextsError,
    Vectors,
    quote_text,
)
from embedlab.models.encoder_kind import EncoderKind
from embedlab.models.endpoint_identity import SENTENCES, endpoint_identity, record_model
from embedlab.models.hosts import is_typed, refuse_strangers

if TYPE_CHECKING:
    import httpx2

PLUGINS = {"encoders": {"http": "HTTP", "https": "HTTPS"}}
TEXTS_A_REQUEST = 32  # as many as TEI takes unless it is started with more
CHARACTERS_A_REQUEST = 100_000  # about 25,000 tokens, below what servers take at once
# computed together before they are cached, so that a broken connection loses few
TEXTS_A_SAVE = 1_024
ATTEMPTS = 6  # of a server that may not be there, in about 8 s
ATTEMPTS_RESTART = 9  # of one that has answered, in about 52 s: it may be starting again
# at texts that a server fails on: then they are halved, as it may be one of them
ATTEMPTS_500 = 2
PATIENCE_S = 300.0  # no further attempt after this long
LONGEST_WAIT_S = 20.0
REQUEST_S = 120.0  # from the connection to the last byte
ANSWER_BYTES = 64 * 2**20  # ten times what 32 vectors of 8,192 numbers take
MOST_TOKENS = 10**12  # of one answer; a greater count is none
_TRANSIENT = {408, 425, 429, *range(500, 600)}
# how servers refuse texts that are too many or too long
_TOO_LARGE = {400, 413, 422}
_FAILED = 500  # how some fail on a text that always makes them fail
_HEADER = re.compile(r"(?P<name>[!#$%&'*+.^_`|~\w-]+):[ \t]*(?P<value>[\x20-\x7e]*)", re.ASCII)


class _TransientError(Exception):
    """A failure that may be gone at the next attempt, with the server's STATUS where it has one."""

    def __init__(self, reason: str, status: int = 0, wait_s: float | None = None) -> None:
        super().__init__(reason)
        self.status, self.wait_s = status, wait_s  # as the server stated


class _RefusedBatchError(Exception):
    """The server gives no vectors for these texts together, or for a text alone; FINAL is the error
    if it gives none for any text.
    """

    def __init__(self, reason: str, texts: Sequence[str], final: EmbedlabError) -> None:
        super().__init__(reason)
        self.texts, self.final = texts, final


class EndpointEncoder:
    """The vectors of one model of one server."""

    def __init__(self, address: str, model: str) -> None:
        refuse_strangers([address])
        url_parts = urlsplit(address)
        path = url_parts.path.rstrip("/").removesuffix("/embeddings")
        self._target = urlunsplit((*url_parts[:2], f"{path}/embeddings", url_parts.query, ""))
        self._url = urlunsplit((*url_parts[:2], path, "", ""))  # to be shown
        self._model = model
        own_headers = _own_headers() if is_typed(address) else {}
        self._headers = {"Accept-Encoding": "identity", **own_headers}
        self._has_key = "Authorization" in own_headers
        self._client: httpx2.Client | None = None
        self._requests = self._tokens = 0
        self._has_answered = False
        self._refused_texts: dict[str, str] = {}  # and why
        self._most_texts = TEXTS_A_REQUEST  # fewer once the server has refused so many

    @property
    def facts(self) -> EncoderFacts:
        """How many requests were made, how many tokens the server counted, which texts it
        refused.
        """
        if not self._requests:
            return EncoderFacts(pooling="endpoint")
        notes = [count_text(self._requests, "requests")]
        if self._tokens:
            notes[0] += f", {count_text(self._tokens, 'tokens')}"
        if self._refused_texts:
            refused = self._refused_texts.items()
            examples = (f"of {quote_text(text)}: {reason}" for text, reason in refused)
            notes.append(f"no vector {first_few(examples, SHOWN, separator='; ')}")
        return EncoderFacts(pooling="endpoint", notes=tuple(notes))

    def encode(self, sentences: Sequence[str]) -> Vectors:
        """One vector a sentence, in order.

        A server that does not answer after several attempts is an error. Texts that it refuses
        alone are a RefusedTextsError, which holds the vectors of the others.
        """
        reasons: dict[str, str] = {}  # by refused text
        encoded: list[Vectors] = []
        start = 0
        while start < len(sentences):
            batch = _first_batch(sentences, start, self._most_texts)
            encoded += self._encode_accepted(batch, reasons)
            start += len(batch)
        if len({vectors.shape[1] for vectors in encoded}) > 1:
            raise self._protocol_error("vectors of different lengths")
        vectors = np.concatenate(encoded) if encoded else np.empty((0, 0), np.float32)
        if reasons:
            self._refused_texts |= reasons
            raise RefusedTextsError(self._url, reasons.items(), vectors)
        return vectors

    def _encode_accepted(self, texts: Sequence[str], reasons: dict[str, str]) -> list[Vectors]:
        """The vectors of TEXTS, in halves if they are too many; texts that are refused alone go
        into REASONS.
        """
        try:
            return [self._batch(texts)]
        except _RefusedBatchError as error:
            half = len(texts) // 2
            is_probed = not (half and self._has_answered)  # otherwise its halves tell
            # twice, as a server may also fail now and then
            if is_probed and not any(self._answers_others() for _ in range(2)):
                raise error.final from error
            if not half:
                reasons[texts[0]] = str(error)
                return []
            refused_before = len(reasons)
            vectors = self._encode_accepted(texts[:half], reasons)
            vectors += self._encode_accepted(texts[half:], reasons)
            if len(reasons) == refused_before:  # no text is to blame: they were too many
                self._most_texts = min(self._most_texts, len(texts) - half)
            return vectors

    def _batch(self, texts: Sequence[str]) -> Vectors:
        """The vectors of TEXTS, after several attempts; if the server fails on them but answers
        others, they are refused.
        """
        start_s = time.monotonic()
        attempt = 0
        while True:
            attempt += 1
            try:
                return self._vectors(self._request(texts), texts)
            except _TransientError as error:
                final = MissingError(
                    f"{self._url} did not answer after {attempt} "
                    f"attempt{'s' if attempt > 1 else ''}: {error}",
                    hint="is the server running? What was computed is cached",
                )
                most = ATTEMPTS_RESTART if self._has_answered else ATTEMPTS
                is_last = attempt == most or time.monotonic() - start_s > PATIENCE_S
                may_be_blamed = is_last or (error.status > _FAILED and attempt >= ATTEMPTS)
                if error.status == _FAILED:  # at each further attempt: others may fail now and then
                    may_be_blamed = attempt >= ATTEMPTS_500
                if may_be_blamed and self._answers_others():
                    raise _RefusedBatchError(str(error), texts, final) from error
                if is_last:
                    raise final from error
                time.sleep(_wait(error, attempt))

    def _answers_others(self) -> bool:
        """Whether the server, which gave no vectors for some texts, gives one for another text."""
        try:
            self._vectors(self._request(SENTENCES[:1]), SENTENCES[:1])
        except (_TransientError, _RefusedBatchError, EmbedlabError):
            return False
        return True

    def _request(self, texts: Sequence[str]) -> dict[str, Any]:
        filled = [text or " " for text in texts]  # OpenAI refuses ""
        question = {"model": self._model, "input": filled, "encoding_format": "float"}
        response, body = self._answer(question)
        self._requests += 1
        status, headers = response.status_code, response.headers
        message = _without_secrets(body[:10_000].decode("utf-8", "replace"))
        reason = f"status {status}: {message}".removesuffix(": ")
        if status in _TRANSIENT:
            raise _TransientError(reason, status, _seconds(headers.get("Retry-After")))
        if 300 <= status < 400:
            raise MissingError(
                f"{self._url} redirects to {_without_secrets(headers.get('Location') or 'no address')}",
                hint="name the address that answers, if you trust it",
            )
        if status in _TOO_LARGE:
            raise _RefusedBatchError(reason, texts, self._refusal(status, reason))
        content: Any = {"error": reason}
        if status == 200:
            try:
                content = json.loads(body)
            except (ValueError, RecursionError) as error:
                raise self._protocol_error("text that is not JSON, or nested too deep") from error
            if not isinstance(content, dict):
                raise self._protocol_error("JSON that is not an object")
        if not content.get("data") and "error" in content:
            if status == 200:
                raise _RefusedBatchError(reason, texts, self._refusal(status, reason))
            raise self._refusal(status, reason)
        answered: dict[str, Any] = content
        return answered

    def _answer(self, body: dict[str, Any]) -> tuple["httpx2.Response", bytes]:
        """The server's answer, within REQUEST_S in all.

        A thread reads it, because no timeout of a connection ends one that receives a byte now and
        then. The thread owns the connection, and ends with it or with this process.
        """
        answered = Future[tuple["httpx2.Response", bytes]]()

        def read() -> None:
            try:
                answered.set_result(self._read(body))
            except Exception as error:  # raised where it is waited for
                answered.set_exception(error)

        Thread(target=read, daemon=True).start()
        try:
            return answered.result(REQUEST_S)
        except TimeoutError as error:
            if self._client is not None:
                self._client.close()  # which ends the thread
            self._client = None
            raise _TransientError(f"no whole answer within {REQUEST_S:g} s") from error

    def _read(self, body: dict[str, Any]) -> tuple["httpx2.Response", bytes]:
        import httpx2

        client = self._client = self._client or httpx2.Client(
            headers=self._headers, timeout=REQUEST_S, follow_redirects=False
        )
        content = bytearray()
        try:
            with client.stream("POST", self._target, json=body) as response:
                for chunk in response.iter_bytes():
                    content += chunk
                    if len(content) > ANSWER_BYTES:
                        raise self._protocol_error(f"more than {ANSWER_BYTES // 2**20} MiB")
                return response, bytes(content)
        except httpx2.InvalidURL as error:
            raise UsageError(
                f"{self._url!r} is not an address: {error}",
                hint="for example http://localhost:8000/v1#MODEL",
            ) from error
        except httpx2.DecodingError as error:
            raise self._protocol_error("content that cannot be unpacked") from error
        except httpx2.RequestError as error:
            raise _TransientError(f"{type(error).__name__}: {error}") from error

    def _vectors(self, document: dict[str, Any], texts: Sequence[str]) -> Vectors:
        usage, count = document.get("usage"), len(texts)
        usage = usage if isinstance(usage, dict) else {}
        tokens = usage.get("total_tokens", usage.get("prompt_tokens", 0))
        self._tokens += tokens if isinstance(tokens, int) and 0 <= tokens < MOST_TOKENS else 0
        try:
            rows = document["data"] if isinstance(document.get("data"), list) else []
            problem = f"{count_text(len(rows), 'vectors')} for {count_text(count, 'texts')}"
            if len(rows) > count:
                raise self._protocol_error(problem)
            if len(rows) == count:
                problem = "null or nothing instead of a vector"
            if len(rows) < count or not all(row and row.get("embedding") for row in rows):
                raise _RefusedBatchError(problem, texts, self._protocol_error(problem))
            indices = {row.get("index") for row in rows}
            if indices != {None}:
                if indices != {*range(count)}:
                    raise self._protocol_error(
                        f"vectors whose indices are not 0 to {count - 1}, each once"
                    )
                rows = sorted(rows, key=lambda row: int(row["index"]))
            numbers = [np.array(_numbers(row["embedding"])) for row in rows]
            for text, vector in zip(texts, numbers, strict=True):
                if vector.shape != numbers[0].shape:
                    raise self._protocol_error(
                        f"vectors of {numbers[0].size} and, for {quote_text(text)}, "
                        f"{vector.size} numbers"
                    )
            with np.errstate(over="ignore"):  # such numbers are refused below
                vectors = np.array(numbers).astype(np.float32)
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise self._protocol_error("no vectors of numbers") from error
        if vectors.ndim != 2 or not vectors.shape[1]:
            raise self._protocol_error(f"vectors of shape {vectors.shape}")
        if not np.isfinite(vectors).all():
            problem = "numbers that are not finite"
            raise _RefusedBatchError(problem, texts, self._protocol_error(problem))
        self._has_answered = True
        return vectors

    def _refusal(self, status: int, reason: str) -> EmbedlabError:
        if status in {401, 403}:
            hint = f"check the key in {API_KEY}" if self._has_key else f"set {API_KEY} to its key"
            return MissingError(f"{self._url} refuses the request: status {status}", hint=hint)
        return MissingError(
            f"{self._url} refuses the model {self._model!r}: {reason}",
            hint="check the address, the model's name and the length of the texts",
        )

    def _protocol_error(self, problem: str) -> EmbedlabError:
        return EmbedlabError(
            f"{self._url} answers with {problem}",
            hint="does it speak OpenAI's embeddings protocol?",
        )


def check_identity(scheme: str, location: str) -> str | None:
    """Encode the fixed sentences at an address and record which model answers; gives a warning
    where that is not the one before.
    """
    address = f"{scheme}:{location}"
    url, _, model = address.partition("#")
    try:
        return record_model(address, EndpointEncoder(url, model).encode(SENTENCES))
    except EmbedlabError as error:  # what is cached can be used all the same
        return (
            f"{address}: cannot check that the cached vectors are of the model that it serves "
            f"now: {error.message}"
        )


def endpoint_kind(scheme: str) -> EncoderKind:
    """The kind of models whose address begins with SCHEME."""

    def open_endpoint(location: str) -> EndpointEncoder:
        address, _, model = location.partition("#")
        return EndpointEncoder(f"{scheme}:{address}", model)

    def locate(address_and_model: str) -> str:
        name = f"{scheme}:{address_and_model}"
        address, _, model = name.partition("#")
        with suppress(ValueError):  # a port that is no number, or half a pair of brackets
            url_parts = urlsplit(address)
            if url_parts.username or url_parts.password:
                raise UsageError(
                    f"the address of {url_parts.hostname!r} holds a password",
                    hint=f"put the key into {API_KEY}",
                )
            if url_parts.hostname and model:
                address = address if url_parts.query else address.rstrip("/")
                return f"{address.removeprefix(f'{scheme}:')}#{model}"
        raise UsageError(
            f"{name!r} is not a model of an endpoint",
            hint=f"for example {scheme}://localhost:8000/v1#MODEL",
        )

    return EncoderKind(
        open=open_endpoint,
        locate=locate,
        backend="endpoint",
        pooling="endpoint",
        per_save=TEXTS_A_SAVE,
        is_remote=True,
        identity=lambda location: endpoint_identity(f"{scheme}:{location}"),
    )


def _first_batch(sentences: Sequence[str], start: int, limit: int) -> Sequence[str]:
    """The texts of the next request, from START on: at least one, at most LIMIT."""
    end, characters = start + 1, len(sentences[start])
    while (
        end < min(len(sentences), start + limit)
        and (characters := characters + len(sentences[end])) <= CHARACTERS_A_REQUEST
    ):
        end += 1
    return sentences[start:end]


def _numbers(embedding: Any) -> Any:
    """The numbers of a vector, which some servers give as base64 of float32."""
    if not isinstance(embedding, str):
        return embedding
    return np.frombuffer(base64.b64decode(embedding, validate=True), "<f4")


def _wait(error: _TransientError, attempt: int) -> float:
    """The seconds before the next attempt: as the server stated, otherwise twice as many each time,
    with chance.
    """
    seconds = error.wait_s
    if seconds is None:
        seconds = 0.25 * 2 ** (attempt - 1) + random.uniform(0, 0.25)
    return min(seconds, LONGEST_WAIT_S)


def _own_headers() -> dict[str, str]:
    """The user's key and headers; headers that no request can carry are a UsageError that does not
    show them.
    """
    key = os.environ.get(API_KEY, "").strip()
    if not (key.isascii() and key.isprintable()):
        raise UsageError(
            f"{API_KEY} holds characters that no key has", hint="set it to the key alone"
        )
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    for line in os.environ.get(API_HEADERS, "").strip().splitlines():
        if (match := _HEADER.fullmatch(line.strip())) is None:
            raise UsageError(
                f"{API_HEADERS} has a line that is not a header",
                hint=f"for example {API_HEADERS}='api-key: KEY'",
            )
        headers[match["name"]] = match["value"]
    return headers


def _without_secrets(text: str) -> str:
    """The first words of what a server says, without the key and headers."""
    for value in _own_headers().values():
        for secret in {value, value.removeprefix("Bearer ")} - {""}:
            text = text.replace(secret, "…")
    words = " ".join(text.split())
    return words if len(words) <= 160 else f"{words[:160]}…"


def _seconds(header: str | None) -> float | None:
    """The wait that a server states, as seconds or as a date (RFC 9110, 10.2.3)."""
    with suppress(ValueError):
        return max(0.0, float(header or ""))
    with suppress(ValueError):
        return max(0.0, parsedate_to_datetime(header or "").timestamp() - time.time())
    return None


HTTP, HTTPS = endpoint_kind("http"), endpoint_kind("https")
