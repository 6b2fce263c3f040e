"""A server of the embeddings protocol that serves a transformer with one fault, or several that are
joined by "+" in the model's name; transformers alone computes, in batches as they come. Also a
small decoder to serve.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import torch
from transformers import AutoModel, AutoTokenizer

from embedlab.encoders.random_encoder import build_tokenizer
from embedlab.encoders.same import chosen_texts
from tests.encoders.layouts import DECODERS, write_backbone

PROMPT = "query: "
PADDED = {"no-mask", "right-pad"}  # faults that show in batches of all lengths
WORDS = sorted({word for each in chosen_texts([64]) for word in each.text.lower().split()})


def stated(folder: str, pattern: str) -> Any:
    """The content of a JSON file of FOLDER, empty where there is none."""
    file = next(Path(folder).glob(pattern), None)
    return json.loads(file.read_text()) if file is not None else {}


class Served:
    """One model under faults."""

    def __init__(self, folder: str, other: str | None) -> None:
        self.folder, self.other = folder, other
        self.threads = torch.get_num_threads()
        self.tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=False)
        self.model = self.loaded(torch.float32)
        limit = stated(folder, "sentence_bert_config.json").get("max_seq_length")
        self.limit = limit or min(self.tokenizer.model_max_length, 512)
        modes = stated(folder, "*_Pooling/config.json")
        switches = {"cls": "cls_token", "last": "lasttoken"}
        named = (name for name, key in switches.items() if modes.get(f"pooling_mode_{key}"))
        self.pooling = next(named, "mean")
        self.is_normalised = "Normalize" in str(stated(folder, "modules.json"))
        prompts = stated(folder, "config_sentence_transformers.json")
        self.prompt = prompts.get("prompts", {}).get(prompts.get("default_prompt_name"), "")

    def loaded(self, dtype: torch.dtype) -> Any:
        """The transformer in a precision."""
        model = AutoModel.from_pretrained(self.folder, dtype=dtype, trust_remote_code=False)
        return model.eval()

    def vectors(self, texts: list[str], faults: set[str]) -> np.ndarray:
        """Vectors of TEXTS with FAULTS; (texts, dim)."""
        if "one-by-one" in faults:
            return np.concatenate([self.vectors([text], faults - {"one-by-one"}) for text in texts])
        if "reversed-batches" in faults:
            return self.vectors(texts[::-1], faults - {"reversed-batches"})[::-1]
        if "shuffled" in faults:
            order = sorted(range(len(texts)), key=lambda row: len(texts[row]))
            return self.vectors(texts, faults - {"shuffled"})[order]
        if "other" in faults and self.other is not None:
            return Served(self.other, None).vectors(texts, set())
        model = self.faulty_model(faults)
        ids = [self.ids(text, faults) for text in texts]
        at_once = len(ids) if faults & PADDED else 16
        order = sorted(range(len(ids)), key=lambda row: len(ids[row]))
        parts = [
            self.pooled_states(model, [ids[row] for row in order[start : start + at_once]], faults)
            for start in range(0, len(ids), at_once)
        ]
        return self.stored(np.concatenate(parts)[np.argsort(order)], faults)

    def pooled_states(self, model: Any, ids: list[list[int]], faults: set[str]) -> np.ndarray:
        """What MODEL makes of one batch of token IDS, before anything is done to components."""
        width = max(1, max(map(len, ids)))
        pad = self.tokenizer.pad_token_id or 0
        given = torch.tensor([[*row, *[pad] * (width - len(row))] for row in ids])
        mask = torch.tensor([[1] * len(row) + [0] * (width - len(row)) for row in ids])
        if "no-mask" in faults:
            mask = torch.ones_like(mask)
        with torch.inference_mode():
            out = model(input_ids=given, attention_mask=mask, output_hidden_states=True)
        states = (out.hidden_states[-2] if "layer" in faults else out.last_hidden_state).float()
        pooling = next(iter(faults & {"cls", "mean", "last", "max"}), self.pooling)
        vectors: np.ndarray = pooled(states, mask, pooling, is_right="right-pad" in faults).numpy()
        return vectors

    def faulty_model(self, faults: set[str]) -> Any:
        """The transformer with faults of its own."""
        model = self.model
        torch.set_num_threads(1 if "one-thread" in faults else self.threads)
        if "int8-weights" in faults:
            model = torch.ao.quantization.quantize_dynamic(model, {torch.nn.Linear}, torch.qint8)
        for name, dtype in {"float16": torch.float16, "bf16": torch.bfloat16}.items():
            model = self.loaded(dtype) if name in faults else model
        if "dropout" in faults:
            model = self.loaded(torch.float32).train()
            for module in model.modules():
                if isinstance(module, torch.nn.Dropout):
                    module.p = 0.1
        return model

    def stored(self, vectors: np.ndarray, faults: set[str]) -> np.ndarray:
        """VECTORS after what is done to their components."""
        if "noise" in faults:
            generator = np.random.default_rng(0)
            vectors = vectors @ generator.normal(size=(vectors.shape[1],) * 2)
        if (self.is_normalised and "not-normalised" not in faults) or "normalised" in faults:
            lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
            vectors = vectors / np.where(lengths > 0, lengths, 1)
        if "dim-cut" in faults:
            vectors = vectors[:, : vectors.shape[1] // 2]
        if "int8-vectors" in faults:
            vectors = np.rint(vectors / np.abs(vectors).max(axis=1, keepdims=True) * 127)
        if "binary" in faults:
            vectors = (vectors > 0) * 2.0 - 1
        if "bits" in faults:
            vectors = vectors > 0
        if "packed-bits" in faults:
            vectors = np.packbits(vectors > 0, axis=1) - 128.0
        return np.float32(vectors)

    def ids(self, text: str, faults: set[str]) -> list[int]:
        """The token ids of TEXT."""
        times = 2 if "prompt-twice" in faults else 1
        own = self.prompt or (PROMPT if faults & {"prompt", "prompt-twice"} else "")
        text = text if "no-prompt" in faults else f"{own * times}{text}"
        limit = next((int(fault[4:]) for fault in faults if fault.startswith("cut-")), self.limit)
        special = "no-special" not in faults
        ids = self.tokenizer(text, add_special_tokens=special, truncation=True, max_length=limit)[
            "input_ids"
        ]
        if "no-end" in faults:
            ids = ids[:-1]
        return ids[1:] if "no-begin" in faults else ids


def pooled(states: Any, mask: Any, pooling: str, *, is_right: bool) -> Any:
    """(texts, dim) of (texts, tokens, dim)."""
    if pooling == "cls":
        return states[:, 0]
    if pooling == "last":
        place = mask.sum(1) - 1
        return states[:, -1] if is_right else states[torch.arange(len(states)), place]
    if pooling == "max":
        return states.masked_fill(mask[..., None] == 0, -1e9).max(1).values
    return (states * mask[..., None]).sum(1) / mask.sum(1, keepdim=True).clamp(min=1)


class Handler(BaseHTTPRequestHandler):
    """One request."""

    served: Served

    def log_message(self, *_: object) -> None:
        """Be quiet."""

    def do_POST(self) -> None:
        """Answer with vectors."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        vectors = self.served.vectors(body["input"], set(body["model"].split("+")))
        rows = [{"index": row, "embedding": list(map(float, v))} for row, v in enumerate(vectors)]
        content = json.dumps({"data": rows}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


@contextmanager
def serving(folder: Path, other: Path | None = None, kind: type[Served] = Served) -> Iterator[str]:
    """The address of a server of the model in FOLDER."""
    handler = type("Own", (Handler,), {"served": kind(str(folder), other and str(other))})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()


def add_modules(folder: Path, pooling: str, prompt: str = "", **sizes: Any) -> None:
    """Let a transformers folder state its pooling, normalisation, longest input and prompt."""
    places = {"Transformer": "", "Pooling": "1_Pooling", "Normalize": "2_Normalize"}
    files = {
        "modules.json": [
            {"type": f"sentence_transformers.models.{name}", "path": path}
            for name, path in places.items()
        ],
        "1_Pooling/config.json": {f"pooling_mode_{pooling}": True, "word_embedding_dimension": 32},
        "sentence_bert_config.json": sizes,
        "config_sentence_transformers.json": {
            "prompts": {"query": prompt} if prompt else {},
            "default_prompt_name": "query" if prompt else None,
        },
    }
    for name, content in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(json.dumps(content), encoding="utf-8")


def write_qwen(folder: Path, prompt: str = "") -> None:
    """A small random decoder whose vector is that of the last token, which ends each text."""
    write_backbone(folder, "qwen3", words=lambda: build_tokenizer(WORDS), **DECODERS["qwen3"])
    add_modules(folder, "lasttoken", prompt, max_seq_length=80)
