"""A server that speaks the embeddings protocol, in a process of its own; the model's name says how
it behaves.

    python endpoint_server.py

prints its port. `good` answers; `restarting` answers, then fails 13 times;
`flaky` first answers 429, then 500, then drops the connection;
`down` always answers 503; `key` wants the key "s3cret"; `shapes`, `text`, `infinite`, `order`,
`twice` and `lengths` answer with something else, `busy` with an error of status 200, `moved` with
another address, `lost` with none; `large` refuses more than two texts with 413 and a text of more
than 45 characters alone, `picky` the same with 400, `all` every text; `endless`, `slow`, `silent`,
`bomb`, `deep` and `huge` answer too much or too late; `other`, `longer` and `drifted`
have other vectors than `good`, the last by little; `swapped` is the model that the last PUT
names, which sets the counts to zero;
`failing`, `nan`, `null`, `empty`, `moody` and `dropping` have no vector of texts with the word
"bad", and none of all that come with one, `fewer` has those of the others, `shaky` fails on
these and on every other request, `broken` always; `azure` wants a parameter and a header, `base64`
packs numbers; GET returns how many texts and requests were answered, and how many were refused.
"""

import base64
import gzip
import json
import sys
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count

import numpy as np

counts = {"requests": 0, "texts": 0, "refused": 0}
swapped = ["good"]
of_good_texts = count()  # requests to `shaky`


def vector(text: str) -> list[float]:
    """A vector of a text."""
    return np.random.default_rng(list(text.encode())).normal(size=6).tolist()


def answered_rows(model: str, texts: list[str]) -> list[dict]:
    """The rows of an answer, wrong ones as the model's name says."""
    rows = [{"index": place, "embedding": vector(text)} for place, text in enumerate(texts)]
    nothing = {"nan": [float("nan")] * 6, "null": None, "empty": []}
    if model in nothing and any("bad" in text for text in texts):
        return [{**row, "embedding": nothing[model]} for row in rows]
    if model == "fewer":
        return [row for row, text in zip(rows, texts, strict=True) if "bad" not in text]

    def altered(change: Callable[[list[float]], object]) -> list[dict]:
        return [{**row, "embedding": change(row["embedding"])} for row in rows]

    changed = {
        "shapes": rows[1:],
        "order": [{**row, "index": str(row["index"])} for row in rows],
        "twice": [{**row, "index": row["index"] // 2} for row in rows],
        "half": [row if row["index"] else {"embedding": row["embedding"]} for row in rows],
        "unnumbered": [{"embedding": row["embedding"]} for row in rows[::-1]],
        "infinite": altered(lambda own: [float("inf"), *own[1:]]),
        "huge": altered(lambda own: [10**400, *own[1:]]),
        "words": altered(lambda _: "many"),
        "other": altered(lambda own: [value**3 for value in own]),
        "longer": altered(lambda own: [*own, 1.0]),
        "drifted": altered(lambda own: [value * 1.00001 for value in own]),
        "lengths": altered(lambda own: own[: 6 if len(rows) == 1 else 4]),
        "ragged": [*rows[:-1], {**rows[-1], "embedding": [1.0, 2.0]}],
        "base64": altered(lambda own: base64.b64encode(np.float32(own).tobytes()).decode()),
    }
    return changed.get(model, rows)


ANSWERS: dict[str, tuple[int, object]] = {
    "broken": (500, {"error": "unsupported value: NaN"}),
    "down": (503, {}),
    "text": (200, b"hello"),
    "busy": (200, {"error": "model is busy"}),
    "lost": (302, {}),
    "all": (400, {"error": "too long"}),
    "deep": (200, b"[" * 100_000),
}
AT_BAD = {"failing": "broken", "moody": "busy", "dropping": "closed"}


class Handler(BaseHTTPRequestHandler):
    """One request."""

    def log_message(self, *_: object) -> None:
        """Be quiet."""

    def do_GET(self) -> None:
        """Return the counts."""
        self._answer(200, counts)

    def do_PUT(self) -> None:
        """Count from zero, and be another model."""
        counts.update(dict.fromkeys(counts, 0))
        swapped[0] = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self._answer(200, counts)

    def do_POST(self) -> None:
        """Answer as the model's name says."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        counts["requests"] += 1
        model, texts = body["model"], body["input"]
        model = swapped[0] if model == "swapped" else model
        key = self.headers["Authorization"]
        if model == "azure":
            is_right = self.path == "/deployments/d/embeddings?api-version=2024-02-01"
            if not is_right or self.headers["api-key"] != "s3cret" or key:
                return self._answer(401, {"error": "no"})
        elif self.path != "/v1/embeddings":
            return self._answer(404, {"error": "no such path"})
        has_bad = any("bad" in text for text in texts)
        if has_bad:
            model = AT_BAD.get(model, model)
        if model == "closed" or (model == "flaky" and counts["requests"] == 3):
            return self.connection.close()
        if model == "flaky" and counts["requests"] < 3:
            return self._answer(429 if counts["requests"] == 1 else 500, {})
        if model == "restarting" and 1 < counts["requests"] < 15:
            model = "broken"
        if model == "key" and key != "Bearer s3cret":
            return self._answer(401, {"error": f"wrong key {key}"})
        if model == "unknown":
            return self._answer(404, {"error": f"no model for {key}"})
        if model == "moved":
            return self._answer(307, {}, location="http://localhost:1/v1/embeddings")
        if model == "shaky" and (has_bad or next(of_good_texts) % 2 == 0):
            model = "broken"
        if model in ANSWERS:
            return self._answer(*ANSWERS[model])
        if model in {"large", "picky"} and (len(texts) > 2 or max(map(len, texts)) > 45):
            counts["refused"] += 1
            return self._answer(413 if model == "large" else 400, {"error": "too long"})
        if model in {"endless", "slow", "silent", "bomb"}:
            return self._answer_for_ever(model)
        counts["texts"] += len(texts)
        rows = answered_rows(model, texts)
        tokens = sum(len(text.split()) for text in texts)
        return self._answer(200, {"data": rows[::-1], "usage": {"total_tokens": tokens}})

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

    def _answer(self, status: int, content: object, location: str = "") -> None:
        payload = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(payload)))
        self.send_header("Retry-After", "0")
        if location:
            self.send_header("Location", location)
        self.end_headers()
        self.wfile.write(payload)


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    sys.stdout.write(f"{server.server_port}\n")
    sys.stdout.flush()
    server.serve_forever()
