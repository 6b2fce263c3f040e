"""A server that speaks the embeddings protocol, in a process of its own; the model's name says how
it behaves.

    python endpoint_server.py FILE

prints its port. `good` answers; `flaky` first answers 429, then 500, then drops the connection;
`down` always answers 503; `key` wants the key "s3cret"; `shapes`, `text`, `infinite`, `order`,
`twice` and `lengths` answer with something else, `busy` with an error of status 200, `moved` with
another address, `lost` with none; `large` refuses more than two texts with 413 and a text of more
than 45 characters alone, `picky` the same with 400, `all` every text; `endless`, `slow`, `silent`,
`bomb`, `deep`, `huge` and `counted` answer too much or too late; `other`, `longer` and `drifted`
have other vectors than `good`, the last by little; `swapped` is the model that FILE names;
`failing`, `unavailable`, `nan` and `null` have no vector of texts with the word "bad", and none of
all that come with one, `broken` fails always; `azure` wants a parameter and a header, `base64`
packs numbers; GET returns how many texts and requests were answered, and how many were refused.
"""

import base64
import gzip
import json
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np

counts = {"requests": 0, "texts": 0, "refused": 0}


def vector(text: str) -> list[float]:
    """A vector of a text."""
    return np.random.default_rng(list(text.encode())).normal(size=6).tolist()


def answered_rows(model: str, texts: list[str]) -> list[dict]:
    """The rows of an answer, wrong ones as the model's name says."""
    rows = [{"index": place, "embedding": vector(text)} for place, text in enumerate(texts)]
    if model in {"nan", "null"} and any("bad" in text for text in texts):
        for row in rows:
            row["embedding"] = None if model == "null" else [float("nan")] * 6
        return rows
    if model == "infinite":
        rows[0]["embedding"][0] = float("inf")
    changed = {
        "shapes": rows[1:],
        "order": [{**row, "index": str(row["index"])} for row in rows],
        "indices": [{**row, "index": [1, 2, 3, 4, 10][row["index"] % 5]} for row in rows],
        "same": [{**row, "index": 0} for row in rows],
        "half": [row if row["index"] else {"embedding": row["embedding"]} for row in rows],
        "huge": [{**row, "embedding": [10**400, *row["embedding"][1:]]} for row in rows],
        "words": [{**row, "embedding": "many"} for row in rows],
        "other": [{**row, "embedding": [value**3 for value in row["embedding"]]} for row in rows],
        "longer": [{**row, "embedding": [*row["embedding"], 1.0]} for row in rows],
        "drifted": [
            {**row, "embedding": [value * 1.00001 for value in row["embedding"]]} for row in rows
        ],
        "base64": [
            {**row, "embedding": base64.b64encode(np.float32(row["embedding"]).tobytes()).decode()}
            for row in rows
        ],
        "twice": [{**row, "index": row["index"] // 2} for row in rows],
        "unnumbered": [{"embedding": row["embedding"]} for row in rows[::-1]],
        "lengths": [
            {**row, "embedding": row["embedding"][: 6 if len(rows) == 1 else 4]} for row in rows
        ],
    }
    return changed.get(model, rows)


class Handler(BaseHTTPRequestHandler):
    """One request."""

    def log_message(self, *_: object) -> None:
        """Be quiet."""

    def do_GET(self) -> None:
        """Return the counts."""
        self._answer(200, counts)

    def do_POST(self) -> None:  # noqa: C901 - each model's name is a fault
        """Answer as the model's name says."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        counts["requests"] += 1
        model, texts = body["model"], body["input"]
        model = Path(sys.argv[1]).read_text() if model == "swapped" else model
        if model == "azure":
            is_right = self.path == "/deployments/d/embeddings?api-version=2024-02-01"
            if not is_right or self.headers["api-key"] != "s3cret" or self.headers["Authorization"]:
                return self._answer(401, {"error": "no"})
        elif self.path != "/v1/embeddings":
            return self._answer(404, {"error": "no such path"})
        if model == "flaky" and counts["requests"] <= 3:
            if counts["requests"] == 3:
                self.connection.close()
                return None
            return self._answer(429 if counts["requests"] == 1 else 500, {}, {"Retry-After": "0"})
        if model == "broken" or (model == "failing" and any("bad" in text for text in texts)):
            return self._answer(500, {"error": "unsupported value: NaN"})
        if model == "down" or (model == "unavailable" and any("bad" in text for text in texts)):
            return self._answer(503, {}, {"Retry-After": "0"})
        if model == "key" and self.headers["Authorization"] != "Bearer s3cret":
            return self._answer(401, {"error": f"wrong key {self.headers['Authorization']}"})
        if model == "unknown":
            return self._answer(404, {"error": f"no model for {self.headers['Authorization']}"})
        if model in {"text", "busy"}:
            return self._answer(
                200, None if model == "text" else {"error": {"message": "model is busy"}}
            )
        if model == "moved":
            return self._answer(
                307, {}, {"Location": f"http://localhost:{self.server.server_port}/v1/embeddings"}
            )
        if model == "lost":
            return self._answer(302, {})
        if model in {"large", "picky", "all"} and (
            model == "all" or len(texts) > 2 or any(len(text) > 45 for text in texts)
        ):
            counts["refused"] += 1
            return self._answer(413 if model == "large" else 400, {"error": "too long"})
        if model in {"endless", "slow", "silent", "bomb"}:
            return self._answer_for_ever(model)
        if model == "deep":
            return self._answer(200, b"[" * 100_000)
        counts["texts"] += len(texts)
        rows = answered_rows(model, texts)
        tokens = 10**4000 if model == "counted" else sum(len(text.split()) for text in texts)
        content = {"data": rows[::-1], "usage": {"total_tokens": tokens}}
        if model == "packed":
            return self._answer(
                200, gzip.compress(json.dumps(content).encode()), {"Content-Encoding": "gzip"}
            )
        return self._answer(200, content)

    def _answer_for_ever(self, model: str) -> None:
        """Answer without an end: as fast as it is read, also packed, a byte now and then from the
        first on, or not at all.
        """
        if model == "silent":
            time.sleep(60)
        for byte in b"HTTP/1.1 200 OK\r\nX-Long: " if model == "slow" else b"":
            self.wfile.write(bytes([byte]))
        while model == "slow":
            self.wfile.write(b"x")
            time.sleep(0.02)
        self.send_response(200)
        if model == "bomb":
            self.send_header("Content-Encoding", "gzip")
        self.end_headers()
        self.wfile.write(gzip.compress(b" " * 2**23) if model == "bomb" else b"[")
        while model == "endless":
            self.wfile.write(b" " * 2**20)

    def _answer(self, status: int, content: object, headers: dict[str, str] | None = None) -> None:
        payload = (
            b"hello"
            if content is None
            else content
            if isinstance(content, bytes)
            else json.dumps(content).encode()
        )
        self.send_response(status)
        for name, value in {**(headers or {}), "Content-Length": str(len(payload))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(payload)


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    sys.stdout.write(f"{server.server_port}\n")
    sys.stdout.flush()
    server.serve_forever()
