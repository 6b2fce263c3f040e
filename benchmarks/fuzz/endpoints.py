"""Servers that answer something else: the answer to a request for embeddings, mutated, and read as
`compare http://…#MODEL` reads it.

    python benchmarks/fuzz/endpoints.py [--cases 4000] [--seed 21] [--write]

A real server on this machine sends the bytes of one mutated answer to each request: the structure
of its JSON, the bytes of its body, or those of the whole answer with its status and headers; now
and then it stops in the middle and waits. What is accepted must be finite vectors, one a text.
"""

import json
import random
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from threading import Event, Thread
from unittest.mock import patch

sys.path.insert(0, str(Path(__file__).parent))

import numpy as np
from campaign import Case, arguments, generator, report, timed
from damage import MUTATIONS
from structures import change

from embedlab.encoders.kinds import endpoint
from embedlab.models.hosts import note_typed

TEXTS = ["a dog runs", "the cat sleeps", "snow"]
STATUSES = (
    200,
    200,
    200,
    201,
    204,
    301,
    302,
    304,
    307,
    400,
    401,
    404,
    413,
    422,
    429,
    500,
    503,
    999,
)
HEADERS = (
    "", "Location: http://localhost:1/", "Location: \x80", "Retry-After: 1e400", "Retry-After: -1", "Content-Encoding: gzip",
    "Content-Encoding: br", "Transfer-Encoding: chunked", "Content-Length: 1", "Content-Length: 99999999999", "Connection: close",
)  # fmt: skip
LIMITS = {"ATTEMPTS": 2, "REQUEST_S": 0.5, "ANSWER_BYTES": 2**20}


def content(rng: random.Random) -> dict[str, object]:
    """What a server answers to three texts."""
    rows = [
        {"object": "embedding", "index": place, "embedding": [rng.random() for _ in range(4)]}
        for place in range(len(TEXTS))
    ]
    return {
        "object": "list",
        "data": rows,
        "model": "m",
        "usage": {"prompt_tokens": 7, "total_tokens": 7},
    }


def message(body: bytes, status: int = 200, header: str = "") -> bytes:
    """The whole answer."""
    lines = [
        f"HTTP/1.1 {status} said",
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
        *([header] if header else []),
    ]
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + body


def structure(rng: random.Random) -> bytes:
    """An answer with other values, keys and nesting."""
    return message(
        json.dumps(change(content(rng), rng)[1], default=str).encode("utf-8", "surrogatepass")
    )


def body(rng: random.Random) -> bytes:
    """An answer whose body is damaged."""
    return message(MUTATIONS[rng.choice(list(MUTATIONS))](json.dumps(content(rng)).encode(), rng))


def whole(rng: random.Random) -> bytes:
    """An answer that is damaged anywhere."""
    return MUTATIONS[rng.choice(list(MUTATIONS))](message(json.dumps(content(rng)).encode()), rng)


def status(rng: random.Random) -> bytes:
    """Another status and another header."""
    return message(json.dumps(content(rng)).encode(), rng.choice(STATUSES), rng.choice(HEADERS))


TARGETS: dict[str, Callable[[random.Random], bytes]] = {
    "structure": structure,
    "body": body,
    "whole answer": whole,
    "status": status,
}


def read_request(connection: socket.socket) -> None:
    """Read a whole request, whichever of the texts it holds: a refused one comes again in
    halves.
    """
    with connection.makefile("rb") as file:
        lines = dict(
            line.decode("latin-1").lower().strip().split(": ", 1)
            for line in iter(file.readline, b"\r\n")
            if b": " in line
        )
        file.read(int(lines.get("content-length", 0)))


def serve(listening: socket.socket, answer: bytes, *, waits: bool, ended: Event) -> None:
    """Send ANSWER to every request; one that WAITS sends the first half of it only."""
    while not ended.is_set():
        try:
            connection, _ = listening.accept()
        except OSError:
            return
        with connection:
            connection.settimeout(2)
            try:
                read_request(connection)
                connection.sendall(answer[: len(answer) // 2] if waits else answer)
                if waits:
                    ended.wait(3)
            except OSError:
                continue


def request(answer: bytes, *, waits: bool) -> None:
    """What a model of the server reads."""
    ended = Event()
    with socket.create_server(("127.0.0.1", 0)) as listening:
        Thread(
            target=serve,
            args=(listening, answer),
            kwargs={"waits": waits, "ended": ended},
            daemon=True,
        ).start()
        try:
            address = f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
            note_typed(address)
            vectors = endpoint.EndpointEncoder(address, "m").encode(TEXTS)
        finally:
            ended.set()
            listening.shutdown(socket.SHUT_RDWR)
    assert vectors.shape[0] == len(TEXTS)
    assert vectors.shape[1] > 0
    assert np.isfinite(vectors).all()


def case(number: int, seed: int) -> Case:
    """One mutated answer."""
    rng = generator(seed, number)
    target = list(TARGETS)[number % len(TARGETS)]
    waits = rng.random() < 0.02

    def run() -> None:
        with patch.multiple(endpoint, **LIMITS), patch.object(endpoint, "_wait", lambda *_: 0.0):
            request(TARGETS[target](rng), waits=waits)

    return Case(target=target, mutation="waits in the middle" if waits else "sent at once", run=run)


def main() -> int:
    """Run the campaign."""
    options = arguments(__doc__ or "", 4_000)
    outcomes, seconds = timed(
        [case(number, options.seed) for number in range(options.cases)], limit_s=options.limit_s
    )
    notes = [
        f"limits of the campaign: "
        f"{', '.join(f'{name} {value}' for name, value in LIMITS.items())}; seed {options.seed}"
    ]
    return report(
        "endpoints",
        "Servers that answer something else",
        outcomes,
        seconds=seconds,
        notes=notes,
        write=options.write,
    )


if __name__ == "__main__":
    sys.exit(main())
