"""A server that speaks the embeddings protocol, in a process of its own; the model's name says how it behaves.

    python endpoint_server.py

prints its port. `good` answers; `flaky` first answers 429, then 500, then drops the connection; `down` always answers 503; `key` wants the
key "s3cret"; `shapes`, `text`, `infinite`, `order`, `twice` and `lengths` answer with something else, `busy` with an error of status 200,
`moved` with another address; GET returns how many texts and requests were answered.
"""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np

counts = {"requests": 0, "texts": 0}
bodies: list[dict] = []


def vector(text: str) -> list[float]:
    """A vector of a text."""
    return np.random.default_rng(list(text.encode())).normal(size=6).tolist()


def answered_rows(model: str, texts: list[str]) -> list[dict]:
    """The rows of an answer, wrong ones as the model's name says."""
    rows = [{"index": place, "embedding": vector(text)} for place, text in enumerate(texts)]
    if model == "infinite":
        rows[0]["embedding"][0] = float("inf")
    changed = {
        "shapes": rows[1:],
        "order": [{**row, "index": str(row["index"])} for row in rows],
        "twice": [{**row, "index": row["index"] // 2} for row in rows],
        "unnumbered": [{"embedding": row["embedding"]} for row in rows[::-1]],
        "lengths": [{**row, "embedding": row["embedding"][: 6 if len(rows) == 1 else 4]} for row in rows],
    }
    return changed.get(model, rows)


class Handler(BaseHTTPRequestHandler):
    """One request."""

    def log_message(self, *_: object) -> None:
        """Be quiet."""

    def do_GET(self) -> None:
        """Return the counts."""
        self._answer(200, counts)

    def do_POST(self) -> None:
        """Answer as the model's name says."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        counts["requests"] += 1
        model, texts = body["model"], body["input"]
        if self.path != "/v1/embeddings":
            return self._answer(404, {"error": "no such path"})
        if model == "flaky" and counts["requests"] <= 3:
            if counts["requests"] == 3:
                self.connection.close()
                return None
            return self._answer(429 if counts["requests"] == 1 else 500, {}, {"Retry-After": "0"})
        if model == "down":
            return self._answer(503, {}, {"Retry-After": "0"})
        if model == "key" and self.headers["Authorization"] != "Bearer s3cret":
            return self._answer(401, {"error": f"wrong key {self.headers['Authorization']}"})
        if model == "unknown":
            return self._answer(404, {"error": f"no model for {self.headers['Authorization']}"})
        if model in {"text", "busy"}:
            return self._answer(200, None if model == "text" else {"error": {"message": "model is busy"}})
        if model == "moved":
            return self._answer(307, {}, {"Location": f"http://localhost:{self.server.server_port}/v1/embeddings"})
        counts["texts"] += len(texts)
        rows = answered_rows(model, texts)
        return self._answer(200, {"data": rows[::-1], "usage": {"total_tokens": sum(len(text.split()) for text in texts)}})

    def _answer(self, status: int, content: object, headers: dict[str, str] | None = None) -> None:
        payload = b"hello" if content is None else json.dumps(content).encode()
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
