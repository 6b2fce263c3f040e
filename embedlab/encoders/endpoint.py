"""Vectors of a server that speaks OpenAI's embeddings protocol: vLLM, llama.cpp, TEI, OpenAI
itself.

A name is the address and the model, `http://HOST/v1#MODEL`. The key is read from EMBEDLAB_API_KEY,
sent to that address alone, and neither stored nor shown.
"""

import json
import os
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from threading import Thread
from time import monotonic
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import numpy as np

from embedlab.core.errors import EmbedlabError, MissingError, UsageError
from embedlab.core.settings import API_KEY
from embedlab.encoders.encoder import EncoderFacts, Vectors
from embedlab.encoders.refused_texts import RefusedTextsError
from embedlab.models.encoder_kind import EncoderKind
from embedlab.models.endpoint_identity import (
    LOWEST_COSINE,
    SENTENCES,
    confirm_identity,
    endpoint_identity,
)

if TYPE_CHECKING:
    import httpx2

TEXTS_A_REQUEST = 32  # as many as TEI takes unless it is started with more
CHARACTERS_A_REQUEST = 100_000  # about 25,000 tokens, below what servers take at once
# computed together before they are cached, so that a broken connection loses few
TEXTS_A_SAVE = 1_024
ATTEMPTS = 6
PATIENCE_S = 300.0  # no further attempt after this long
LONGEST_WAIT_S = 20.0
REQUEST_S = 120.0  # from the connection to the last byte
ANSWER_BYTES = 64 * 2**20  # ten times what 32 vectors of 8,192 numbers take
MOST_TOKENS = 10**12  # of one answer; a greater count is none
_TRANSIENT = {408, 425, 429, *range(500, 600)}
_TOO_LARGE = {400, 413, 422}  # how servers refuse texts that are too many or too long


@dataclass(frozen=True, kw_only=True)
class _Answer:
    """What a server answered: its status, where it redirects, when to try again, and the body."""

    status: int
    location: str | None
    retry_after: str | None
    body: bytes

    @property
    def text(self) -> str:
        """The body as text, for messages."""
        return self.body[:10_000].decode("utf-8", "replace")


class _TransientError(Exception):
    """A failure that may be gone at the next attempt."""

    def __init__(self, reason: str, wait_s: float | None = None) -> None:
        super().__init__(reason)
        self.wait_s = wait_s  # as the server stated


class _TooLargeError(Exception):
    """The server refuses these texts together, or a text alone; the answer says why."""

    def __init__(self, answer: _Answer) -> None:
        super().__init__(answer.status)
        self.answer = answer


class EndpointEncoder:
    """The vectors of one model of one server."""

    def __init__(self, url: str, model: str) -> None:
        self._url, self._model = url, model
        key = _key()
        self._headers = {
            "Accept-Encoding": "identity",
            **({"Authorization": f"Bearer {key}"} if key else {}),
        }
        self._has_key = bool(key)
        self._client: httpx2.Client | None = None
        self._requests = self._tokens = 0
        self._has_answered = False

    @property
    def facts(self) -> EncoderFacts:
        """How many requests were made, and how many tokens the server counted."""
        if not self._requests:
            return EncoderFacts(pooling="endpoint")
        tokens = f", {self._tokens} tokens" if self._tokens else ""
        requests = f"{self._requests} request{'s' if self._requests > 1 else ''}"
        return EncoderFacts(pooling="endpoint", notes=(f"{requests}{tokens}",))

    def encode(self, sentences: Sequence[str]) -> Vectors:
        """One vector a sentence, in order.

        What the server does not answer after several attempts is an error. Texts that it refuses
        alone are a RefusedTextsError, which holds the vectors of the others.
        """
        refused: dict[int, str] = {}  # the place of a text, and why
        encoded, start = [], 0
        for batch in _batches(sentences):
            encoded.append(self._accepted(batch, start, refused))
            start += len(batch)
        encoded = [vectors for vectors in encoded if len(vectors)]
        if len({vectors.shape[1] for vectors in encoded}) > 1:
            raise self._wrong("vectors of different lengths")
        vectors = np.concatenate(encoded) if encoded else np.empty((0, 0), np.float32)
        if refused:
            raise RefusedTextsError(
                self._url,
                [(sentences[index], reason) for index, reason in refused.items()],
                tuple(refused),
                vectors,
            )
        return vectors

    def _accepted(self, texts: Sequence[str], start: int, refused: dict[int, str]) -> Vectors:
        """The vectors of TEXTS, in halves where they are too many; REFUSED gets the places, from
        START, of those that are refused alone.
        """
        try:
            return self._batch(texts)
        except _TooLargeError as error:
            if len(texts) > 1:
                half = len(texts) // 2
                parts = [
                    self._accepted(texts[:half], start, refused),
                    self._accepted(texts[half:], start + half, refused),
                ]
                parts = [vectors for vectors in parts if len(vectors)] or parts[:1]
                return np.concatenate(parts)
            self._refuse_unless_answering()
            refused[start] = (
                f"status {error.answer.status}: {_shown(error.answer.text)}".removesuffix(": ")
            )
            return np.empty((0, 0), np.float32)

    def _refuse_unless_answering(self) -> None:
        """Raise if the server refuses whatever is sent: a text that it has refused is not to blame
        then.
        """
        if not self._has_answered:
            try:
                self._batch(SENTENCES[:1])
            except _TooLargeError as error:
                raise self._refused(error.answer) from error

    def _batch(self, texts: Sequence[str]) -> Vectors:
        from tenacity import (
            RetryError,
            Retrying,
            retry_if_exception_type,
            stop_after_attempt,
            stop_after_delay,
        )

        stop = stop_after_attempt(ATTEMPTS) | stop_after_delay(PATIENCE_S)
        attempts = Retrying(stop=stop, retry=retry_if_exception_type(_TransientError), wait=_wait)
        try:
            answer: dict[str, Any] = attempts(self._request, texts)
        except RetryError as error:
            count, reason = error.last_attempt.attempt_number, error.last_attempt.exception()
            raise MissingError(
                f"{self._url} did not answer after {count} "
                f"attempt{'s' if count > 1 else ''}: {reason}",
                hint="is the server running? What was computed is cached",
            ) from error
        return self._vectors(answer, len(texts))

    def _request(self, texts: Sequence[str]) -> dict[str, Any]:
        filled = [text or " " for text in texts]  # OpenAI refuses ""
        answer = self._answer({"model": self._model, "input": filled, "encoding_format": "float"})
        self._requests += 1
        if answer.status in _TRANSIENT:
            raise _TransientError(
                f"status {answer.status}: {_shown(answer.text)}".removesuffix(": "),
                _seconds(answer.retry_after),
            )
        if 300 <= answer.status < 400:
            raise MissingError(
                f"{self._url} redirects to "
                f"{_shown(answer.location) if answer.location else 'no address'}",
                hint="name the address that answers, if you trust it",
            )
        if answer.status in _TOO_LARGE:
            raise _TooLargeError(answer)
        if answer.status != 200:
            raise self._refused(answer)
        try:
            content = json.loads(answer.body)
        except (ValueError, RecursionError) as error:
            raise self._wrong("an answer that is not JSON, or nested too deep") from error
        if not isinstance(content, dict):
            raise self._wrong("an answer that is not an object")
        if "data" not in content and "error" in content:
            raise self._refused(answer)
        return content

    def _answer(self, body: dict[str, Any]) -> _Answer:
        """What the server answers, within REQUEST_S in all.

        A thread reads it: no timeout of a connection ends one that is sent a byte now and then.
        """
        ended: list[_Answer | Exception] = []

        def read() -> None:
            try:
                ended.append(self._read(body, monotonic() + REQUEST_S))
            except Exception as error:  # raised where it is waited for
                ended.append(error)

        reader = Thread(target=read, daemon=True)
        reader.start()
        reader.join(REQUEST_S)
        if not ended:
            # the thread has the connection, and ends with it or with this process
            self._client = None
            raise self._late()
        if isinstance(ended[0], Exception):
            raise ended[0]
        return ended[0]

    def _read(self, body: dict[str, Any], deadline: float) -> _Answer:
        import httpx2

        client = self._client = self._client or httpx2.Client(
            headers=self._headers, timeout=REQUEST_S, follow_redirects=False
        )
        content = bytearray()
        try:
            with client.stream("POST", f"{self._url}/embeddings", json=body) as response:
                unpack = self._unpacking(response.headers.get("Content-Encoding", "identity"))
                for chunk in response.iter_raw():
                    content += unpack(chunk)
                    if len(content) > ANSWER_BYTES:
                        raise self._wrong(f"more than {ANSWER_BYTES // 2**20} MiB")
                    if monotonic() > deadline:
                        raise self._late()
                location, retry_after = (
                    response.headers.get(name) for name in ("Location", "Retry-After")
                )
                return _Answer(
                    status=response.status_code,
                    location=location,
                    retry_after=retry_after,
                    body=bytes(content),
                )
        except httpx2.InvalidURL as error:
            raise UsageError(
                f"{self._url!r} is not an address: {error}",
                hint="for example http://localhost:8000/v1#MODEL",
            ) from error
        except httpx2.RequestError as error:
            raise _TransientError(f"{type(error).__name__}: {error}") from error
        except zlib.error as error:
            raise self._wrong("an answer that cannot be unpacked") from error

    def _unpacking(self, packing: str) -> Callable[[bytes], bytes]:
        """What unpacks the parts of an answer, none of them to more than the limit; none is
        requested packed, and some servers do it.
        """
        if packing.lower() == "identity":
            return lambda chunk: chunk
        if packing.lower() not in {"gzip", "deflate"}:
            raise self._wrong(f"an answer packed as {_shown(packing)!r}")
        unpacker = zlib.decompressobj(wbits=47)  # both, by their headers
        return lambda chunk: unpacker.decompress(chunk, ANSWER_BYTES + 1)

    def _vectors(self, answer: dict[str, Any], count: int) -> Vectors:
        usage = answer.get("usage")
        tokens = (
            usage.get("total_tokens", usage.get("prompt_tokens", 0))
            if isinstance(usage, dict)
            else 0
        )
        self._tokens += tokens if isinstance(tokens, int) and 0 <= tokens < MOST_TOKENS else 0
        try:
            rows = answer["data"] if isinstance(answer.get("data"), list) else []
            if len(rows) != count:
                raise self._wrong(f"{len(rows)} vectors for {count} texts")
            if (order := _order([row.get("index") for row in rows])) is None:
                raise self._wrong(f"vectors whose indices are not 0 to {count - 1}, each once")
            with np.errstate(over="ignore"):  # such numbers are refused below
                vectors = np.array([rows[index]["embedding"] for index in order], np.float32)
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise self._wrong("no vectors of numbers") from error
        if vectors.ndim != 2 or not vectors.shape[1]:
            raise self._wrong(f"vectors of shape {vectors.shape} for {count} texts")
        if not np.isfinite(vectors).all():
            raise self._wrong("numbers that are not finite")
        self._has_answered = True
        return vectors

    def _refused(self, answer: _Answer) -> EmbedlabError:
        if answer.status in {401, 403}:
            hint = f"check the key in {API_KEY}" if self._has_key else f"set {API_KEY} to its key"
            return MissingError(
                f"{self._url} refuses the request: status {answer.status}", hint=hint
            )
        return MissingError(
            f"{self._url} refuses the model {self._model!r}: status {answer.status}: "
            f"{_shown(answer.text)}".removesuffix(": "),
            hint="check the address, the model's name and the length of the texts",
        )

    def _late(self) -> _TransientError:
        return _TransientError(f"no whole answer within {REQUEST_S:g} s")

    def _wrong(self, what: str) -> EmbedlabError:
        return EmbedlabError(
            f"{self._url} answers with {what}", hint="does it speak OpenAI's embeddings protocol?"
        )


def check_identity(scheme: str, location: str) -> str | None:
    """Encode the fixed sentences at an address and record which model answers; gives a warning
    where that is not the one before.
    """
    address = f"{scheme}:{location}"
    url, _, model = address.partition("#")
    try:
        check = confirm_identity(address, EndpointEncoder(url, model).encode(SENTENCES))
    except EmbedlabError as error:  # what is cached can be used all the same
        return (
            f"{address}: whether it is still the model whose vectors are cached is not "
            f"known: {error.message}"
        )
    if not check.is_changed:
        return None
    how = (
        "have another length"
        if check.cosine is None
        else f"have a cosine of {check.cosine:.3f}, below {LOWEST_COSINE}, to those before"
    )
    which = (
        "another model, without what was computed before"
        if check.is_new
        else "the model that answered there at an earlier time"
    )
    return f"{address}: its vectors of three fixed sentences {how}: it counts as {which}"


def endpoint_kind(scheme: str) -> EncoderKind:
    """The kind of models whose address begins with SCHEME."""

    def open_endpoint(location: str) -> EndpointEncoder:
        address, _, model = location.partition("#")
        return EndpointEncoder(f"{scheme}:{address}", model)

    def locate(rest: str) -> str:
        address, _, model = rest.partition("#")
        try:
            parts = urlsplit(f"{scheme}:{address}")
        except ValueError as error:
            raise UsageError(
                f"{scheme}:{rest!r} is not an address: {error}",
                hint=f"for example {scheme}://localhost:8000/v1#MODEL",
            ) from error
        if parts.username or parts.password:
            raise UsageError(
                f"the address of {parts.hostname!r} holds a password",
                hint=f"put the key into {API_KEY}",
            )
        if not parts.hostname or not model:
            raise UsageError(
                f"{scheme}:{rest!r} is not a model of an endpoint",
                hint=f"for example {scheme}://localhost:8000/v1#MODEL",
            )
        return f"{address.rstrip('/')}#{model}"

    return EncoderKind(
        open=open_endpoint,
        locate=locate,
        backend="endpoint",
        pooling="endpoint",
        per_save=TEXTS_A_SAVE,
        is_remote=True,
        identity=lambda location: endpoint_identity(f"{scheme}:{location}"),
    )


def _batches(sentences: Sequence[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    characters = 0
    for sentence in sentences:
        if batch and (
            len(batch) == TEXTS_A_REQUEST or characters + len(sentence) > CHARACTERS_A_REQUEST
        ):
            yield batch
            batch, characters = [], 0
        batch.append(sentence)
        characters += len(sentence)
    if batch:
        yield batch


def _wait(state: Any) -> float:
    """The seconds before the next attempt: as the server stated, otherwise twice as many each time,
    with chance.
    """
    from tenacity import wait_exponential_jitter

    error = state.outcome.exception()
    if isinstance(error, _TransientError) and error.wait_s is not None:
        return min(error.wait_s, LONGEST_WAIT_S)
    seconds: float = wait_exponential_jitter(initial=0.25, max=LONGEST_WAIT_S, jitter=0.25)(state)
    return seconds


def _order(indices: Sequence[Any]) -> Sequence[int] | None:
    """The places of rows by their INDICES, which are 0 to their number, each once; as they are
    where no row has one, otherwise None.
    """
    if all(index is None for index in indices):
        return range(len(indices))
    if not all(type(index) is int for index in indices) or set(indices) != set(range(len(indices))):
        return None
    return sorted(range(len(indices)), key=lambda index: int(indices[index]))


def _key() -> str:
    """The key, without blanks around it; one that no header can carry is a UsageError that does not
    show it.
    """
    key = os.environ.get(API_KEY, "").strip()
    if not (key.isascii() and key.isprintable()):
        raise UsageError(
            f"{API_KEY} holds characters that no key has", hint="set it to the key alone"
        )
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
