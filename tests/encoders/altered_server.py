"""A server of the embeddings protocol that serves a transformer with one fault, or several that are
joined by "+" in the model's name; transformers alone computes, in batches as they come. Also a
small decoder to serve.
"""

import json
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import (
    AutoModel,
    AutoTokenizer,
    PreTrainedTokenizerFast,
    Qwen3Config,
    Qwen3Model,
)

from embedlab.encoders.same import chosen_texts

PROMPT = "query: "
PADDED = {"no-mask", "right-pad"}  # faults that show in batches of all lengths
WORDS = sorted({word for each in chosen_texts([64]) for word in each.text.lower().split()})


class Served:
    """One model under faults."""

    def __init__(self, folder: str, other: str | None) -> None:
        self.folder, self.other = folder, other
        self.threads = torch.get_num_threads()
        self.tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=False)
        self.model = AutoModel.from_pretrained(
            folder, dtype=torch.float32, trust_remote_code=False
        ).eval()
        stated = Path(folder) / "sentence_bert_config.json"
        limit = json.loads(stated.read_text())["max_seq_length"] if stated.is_file() else None
        self.limit = limit or min(self.tokenizer.model_max_length, 512)
        pooling = next(Path(folder).glob("*_Pooling/config.json"), None)
        modes = json.loads(pooling.read_text()) if pooling is not None else {}
        self.pooling = (
            "cls"
            if modes.get("pooling_mode_cls_token")
            else "last"
            if modes.get("pooling_mode_lasttoken")
            else "mean"
        )
        modules = Path(folder) / "modules.json"
        self.is_normalised = modules.is_file() and "Normalize" in modules.read_text()
        prompts = Path(folder) / "config_sentence_transformers.json"
        stated_prompts = json.loads(prompts.read_text()) if prompts.is_file() else {}
        name = stated_prompts.get("default_prompt_name")
        self.prompt = stated_prompts["prompts"][name] if name else ""

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
        if not faults & PADDED:
            order = np.argsort([len(row) for row in ids], kind="stable")
            parts = [
                self.pooled_states(
                    model, [ids[place] for place in order[start : start + 16]], faults
                )
                for start in range(0, len(order), 16)
            ]
            return self.stored(np.concatenate(parts)[np.argsort(order)], faults)
        return self.stored(self.pooled_states(model, ids, faults), faults)

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
        if "float16" in faults:
            model = AutoModel.from_pretrained(
                self.folder, dtype=torch.float16, trust_remote_code=False
            ).eval()
        if "bf16" in faults:
            model = AutoModel.from_pretrained(
                self.folder, dtype=torch.bfloat16, trust_remote_code=False
            ).eval()
        if "dropout" in faults:
            model = AutoModel.from_pretrained(
                self.folder, dtype=torch.float32, trust_remote_code=False
            )
            for module in model.modules():
                if isinstance(module, torch.nn.Dropout):
                    module.p = 0.1
            model.train()
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
        return np.float32(vectors)

    def ids(self, text: str, faults: set[str]) -> list[int]:
        """The token ids of TEXT."""
        if "lower" in faults:
            text = text.lower()
        if "strip" in faults:
            text = text.strip()
        if "no-accents" in faults:
            apart = unicodedata.normalize("NFD", text)
            text = "".join(sign for sign in apart if not unicodedata.combining(sign))
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
    names = ("Transformer", "Pooling", "Normalize")
    modules = [
        {"idx": idx, "name": str(idx), "path": "" if not idx else f"{idx}_{name}",
         "type": f"sentence_transformers.models.{name}"}
        for idx, name in enumerate(names)
    ]  # fmt: skip
    files = {
        "modules.json": modules,
        "1_Pooling/config.json": {f"pooling_mode_{pooling}": True, "word_embedding_dimension": 32},
        "sentence_bert_config.json": sizes,
        "config_sentence_transformers.json": {
            "prompts": {"query": prompt} if prompt else {},
            "default_prompt_name": "query" if prompt else None,
        },
    }
    (folder / "1_Pooling").mkdir()
    (folder / "2_Normalize").mkdir()
    for name, content in files.items():
        (folder / name).write_text(json.dumps(content), encoding="utf-8")


def write_qwen(folder: Path, prompt: str = "") -> None:
    """A small random decoder whose vector is that of the last token, which ends each text."""
    ids = {word: number for number, word in enumerate(["<pad>", "<eos>", "<unk>", *WORDS])}
    tokenizer = Tokenizer(models.WordLevel(ids, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="$A <eos>", special_tokens=[("<eos>", 1)]
    )
    special = {"pad_token": "<pad>", "eos_token": "<eos>", "unk_token": "<unk>"}
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=80, **special)
    fast.save_pretrained(folder)
    torch.manual_seed(2)
    sizes = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "head_dim": 8}
    heads = {"num_attention_heads": 4, "num_key_value_heads": 2, "initializer_range": 0.3}
    Qwen3Model(
        Qwen3Config(vocab_size=len(ids), max_position_embeddings=128, **sizes, **heads)
    ).save_pretrained(folder)
    add_modules(folder, "lasttoken", prompt, max_seq_length=80)
