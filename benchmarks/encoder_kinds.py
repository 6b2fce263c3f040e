"""How fast each kind of encoder is beside its own program: ModernBERT, a decoder, BERT by
sentence-transformers; static by model2vec.

    python benchmarks/encoder_kinds.py --data DIR [--sentences 2000] [--static 100000] [--rounds 4]
    [--threads 2] [--kind KIND …]

Weights are random: six layers of 384 with all-MiniLM-L6-v2's tokenizer, and 256 numbers a token for
static vectors. Sentences are real ones of mixed length: captions, encyclopedia and dictionary, one
in ten a paragraph; for static vectors short ones. Each side is a process of its own; they take
turns (A B A B) with the same sentences, other ones in each round, and say wall time and processor
time. The medians over the rounds are written, and the geometric mean of their ratios with its 95%
interval.
"""

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import measure
import numpy as np
from encoding import distinct_sentences
from numpy.typing import NDArray
from record import Measured, write

KINDS = ("modernbert", "decoder", "bert", "static")
LAYERS, WIDTH, STATIC_WIDTH = 6, 384, 256
ARCHITECTURES: dict[str, tuple[str, dict[str, Any]]] = {
    "modernbert": ("modernbert", {"intermediate_size": 576}),
    "decoder": ("qwen3", {"intermediate_size": 1152, "head_dim": 64, "num_key_value_heads": 2}),
    "bert": ("bert", {"intermediate_size": 1536}),
}
SHORT = 60  # characters of a short sentence


def write_folder(folder: Path, kind: str) -> None:
    """Write a model of random weights as its own program does."""
    import torch
    from transformers import AutoConfig, AutoModel, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(measure.default_model(), trust_remote_code=False)
    if kind == "static":
        from model2vec.persistence.persistence import save_pretrained

        vectors = (
            np.random.default_rng(0).normal(size=(len(tokenizer), STATIC_WIDTH)).astype(np.float32)
        )
        backend = tokenizer.backend_tokenizer
        backend.no_truncation()
        save_pretrained(
            folder,
            vectors,
            backend,
            {"model_type": "model2vec", "normalize": True},
            create_model_card=False,
        )
        return
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer import modules

    name, more = ARCHITECTURES[kind]
    special = {
        "pad_token_id": 0,
        "cls_token_id": 101,
        "sep_token_id": 102,
        "bos_token_id": 101,
        "eos_token_id": 102,
    }
    torch.manual_seed(0)
    config = AutoConfig.for_model(
        name,
        vocab_size=len(tokenizer),
        hidden_size=WIDTH,
        num_hidden_layers=LAYERS,
        num_attention_heads=6,
        **special,
        **more,
    )
    backbone = folder.with_name(f"{folder.name}-backbone")
    AutoModel.from_config(config, trust_remote_code=False).save_pretrained(backbone)
    tokenizer.save_pretrained(backbone)
    transformer = modules.Transformer(str(backbone), max_seq_length=256)
    pooling = modules.Pooling(WIDTH, "lasttoken" if kind == "decoder" else "mean")
    SentenceTransformer(
        modules=[transformer, pooling], device="cpu", trust_remote_code=False
    ).save_pretrained(str(folder))


def texts_of(data: Path, counts: Mapping[str, int]) -> dict[str, list[str]]:
    """So many different sentences for each kind."""
    drawn = distinct_sentences(data, 4 * max(counts.values()))
    found = {}
    for kind, count in counts.items():
        mixed = [
            " ".join(drawn[place : place + 5]) if place % 10 == 0 else drawn[place]
            for place in range(count)
        ]
        found[kind] = (
            [text for text in drawn if len(text) <= SHORT][:count] if kind == "static" else mixed
        )
    return found


def encode_ours(folder: str, threads: int) -> Callable[[Sequence[str]], Any]:
    """Our encode, without a cache."""
    from embedlab.core.settings import Settings
    from embedlab.encoders.loading import load_encoder
    from embedlab.models.catalog import resolve

    settings = Settings(device="cpu", threads=threads)
    return load_encoder(resolve(folder, Path("none")).members[0], settings).encode


def encode_peer(folder: str, threads: int, kind: str) -> Callable[[Sequence[str]], Any]:
    """The encode of its own program with its own batches."""
    import torch

    torch.set_num_threads(threads)
    if kind == "static":
        from model2vec import StaticModel

        static = StaticModel.from_pretrained(folder, force_download=False)
        return lambda texts: static.encode(list(texts))
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(folder, device="cpu", trust_remote_code=False)
    return lambda texts: model.encode(list(texts), show_progress_bar=False)


def side(whose: str, place: Path, threads: int) -> None:
    """One process: the seconds of the part of a kind's sentences that a line selects; its vectors
    go to a file where one is named.
    """
    kinds = json.loads((place / "texts.json").read_text())
    encoders = {}
    for kind in kinds:
        folder = str(place / kind)
        encoders[kind] = (
            encode_ours(folder, threads) if whose == "ours" else encode_peer(folder, threads, kind)
        )
        encoders[kind](kinds[kind][:64])
    for question in map(json.loads, sys.stdin):
        part = kinds[question["kind"]][slice(*question["part"])]
        processor, started = time.process_time(), time.perf_counter()
        made = encoders[question["kind"]](part)
        answer = {
            "wall": time.perf_counter() - started,
            "processor": time.process_time() - processor,
        }
        if question["out"]:
            np.save(question["out"], made)
        print(json.dumps(answer), flush=True)


def take_turns(
    sides: Sequence[measure.Side], kind: str, count: int, rounds: int, folder: Path
) -> tuple[NDArray[np.float64], float]:
    """The wall and processor seconds, (rounds, sides, 2), of each part of the sentences, and the
    largest difference of two vectors.
    """
    size, found = count // rounds, []
    for turn in range(rounds):
        outs = [str(folder / f"{number}.npy") if turn == 0 else "" for number in range(len(sides))]
        part = [turn * size, (turn + 1) * size]
        answers = [
            side.answer({"kind": kind, "part": part, "out": out})
            for side, out in zip(sides, outs, strict=True)
        ]
        found.append([[answer["wall"], answer["processor"]] for answer in answers])
    one, other = (np.load(folder / f"{number}.npy") for number in range(2))
    return np.array(found), float(np.abs(one - other).max())


def measured_of(kind: str, seconds: NDArray[np.float64], size: int) -> tuple[list[Measured], str]:
    """The table's lines of a kind, and its ratio with an interval."""
    what = f"{kind}, {size:,} sentences"
    wall, processor = np.median(seconds, axis=0).T
    limit = "≥ 2 x, or 100,000 a second" if kind == "static" else "≥ 1 x"
    lines = [
        Measured(
            what=f"{what}, wall time",
            ours=wall[0],
            peer=wall[1],
            unit="s",
            limit=limit,
            runs=len(seconds),
        ),
        Measured(
            what=f"{what}, processor time",
            ours=processor[0],
            peer=processor[1],
            unit="s",
            runs=len(seconds),
        ),
    ]
    low, middle, high = np.exp(measure.bounds(np.log(seconds[:, 1] / seconds[:, 0])[:, 0].tolist()))
    low_cpu, middle_cpu, high_cpu = np.exp(
        measure.bounds(np.log(seconds[:, 1] / seconds[:, 0])[:, 1].tolist())
    )
    each = f", {size / wall[0]:,.0f} sentences a second" if kind == "static" else ""
    return lines, (
        f"{kind}: {middle:.2f} times as fast in wall time (95%: {low:.2f} to {high:.2f}), "
        f"{middle_cpu:.2f} in processor time "
        f"({low_cpu:.2f} to {high_cpu:.2f}){each}."
    )


def main() -> None:
    """Let the sides take turns and write the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--sentences", type=int, default=2_000)
    parser.add_argument("--static", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--kind", action="append", choices=KINDS)
    arguments = parser.parse_args()
    measured, notes = [], []
    counts = {
        kind: arguments.static if kind == "static" else arguments.sentences
        for kind in arguments.kind or KINDS
    }
    with ExitStack() as stack:
        place = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        for kind in counts:
            write_folder(place / kind, kind)
        texts = texts_of(arguments.data, counts)
        (place / "texts.json").write_text(json.dumps(texts))
        words = (str(place), str(arguments.threads))
        sides = [
            stack.enter_context(measure.Side(__file__, "side", whose, *words))
            for whose in ("ours", "peer")
        ]
        # both have loaded before the first turn is timed: loading takes the processor from the
        # other side
        for side in sides:
            side.answer({"kind": next(iter(counts)), "part": [0, 1], "out": ""})
        for kind in counts:
            seconds, difference = take_turns(sides, kind, len(texts[kind]), arguments.rounds, place)
            lines, note = measured_of(kind, seconds, len(texts[kind]) // arguments.rounds)
            measured += lines
            notes.append(f"{note} Largest difference of two vectors: {difference:.1e}.")
    notes.append(
        f"{arguments.rounds} rounds in turns, {arguments.threads} threads, no cache; other "
        f"work on the machine slows both sides alike."
    )
    write(
        "encoder-kinds",
        "Kinds of encoders",
        measured,
        packages=("embedlab", "torch", "transformers", "sentence-transformers", "model2vec"),
        notes=notes,
    )


if __name__ == "__main__":
    if sys.argv[1] == "side":
        side(sys.argv[2], Path(sys.argv[3]), int(sys.argv[4]))
    else:
        main()
