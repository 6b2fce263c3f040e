"""How fast sentences become vectors, beside sentence-transformers' encode.

    python benchmarks/encoding.py --data DIR [--encoder MODEL] [--sentences 50000] [--at-once 5000]
    [--threads 2] [--repeats 1]
    python benchmarks/encoding.py --data DIR --precision bf16 [--peer-precision bf16]    where the
    processor has bf16 units
    python benchmarks/encoding.py --data DIR --precision int8

Three mixtures of real sentences: distinct ones, the same with every second one a repetition, and
with one in fifty a long paragraph. Each side is a process of its own that loads the model and
encodes 64 sentences. Then they are timed in turns, so many sentences at once of each mixture: a
machine that others use too is as fast for the one as for the other, and for one mixture as for the
next. What repetitions and length do to the ratio has an interval over these turns (Student's t of
its logarithm). With --precision int8 the float32 model is compared with its own int8 form instead:
the time, and what it costs in Spearman x 100 on STS Benchmark test. The model is all-MiniLM-L6-v2
from the package registry by default.
"""

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from itertools import product
from pathlib import Path
from typing import Any

import measure
import numpy as np
from numpy.typing import NDArray
from record import Measured, write

# How many times the peer's time, by the precision of both sides.
LIMITS = {("bf16", "float32"): "≥ 2.7 x", ("bf16", "bf16"): "≥ 1.6 x"}
MIXTURES = ("distinct", "every second a repetition", "one in fifty long")
SOURCES = (
    ("snli", "premise"),
    ("snli", "hypothesis"),
    ("wiki-split", "sentence"),
    ("definitions", "definition"),
)  # their train splits

Seconds = Mapping[str, NDArray[np.float64]]  # of each mixture (rounds, sides)


def distinct_sentences(data: Path, count: int) -> list[str]:
    """So many different sentences, drawn from captions, encyclopedia and dictionary alike."""
    from embedlab.data.source import Source

    source = Source(folder=data, allow_partial=True)
    found: dict[str, None] = {}
    for name, column in SOURCES:
        found |= dict.fromkeys(source.open(name, "train").frame[column].to_list())
    order = np.random.default_rng(0).permutation(len(found))[:count]
    texts = list(found)
    return [texts[place] for place in order]


def mixtures(data: Path, count: int) -> dict[str, list[str]]:
    """The three kinds of input."""
    texts = distinct_sentences(data, count)
    if len(texts) < count:
        raise SystemExit(
            f"{str(data)!r} has {len(texts)} distinct sentences: --sentences {len(texts)} is "
            f"the most"
        )
    half = texts[: count // 2]
    skewed = [
        " ".join(texts[place : place + 12]) if place % 50 == 0 else text
        for place, text in enumerate(texts)
    ]
    return dict(
        zip(MIXTURES, (texts, [text for text in half for _ in range(2)], skewed), strict=True)
    )


def encode_ours(encoder: str, threads: int, precision: str) -> Callable[[Sequence[str]], Any]:
    """Our encode."""
    from embedlab.core.settings import Settings
    from embedlab.encoders.checkpoint import load_transformer
    from embedlab.encoders.device import machine
    from embedlab.models.reading import UsageOptions

    here = machine(Settings(device="cpu", precision=precision, threads=threads))  # type: ignore[arg-type]
    return load_transformer(
        encoder, here, wishes=UsageOptions(pooling="mean", max_tokens=128)
    ).encode


def encode_peer(encoder: str, threads: int, precision: str) -> Callable[[Sequence[str]], Any]:
    """sentence-transformers' encode with the same pooling and longest input."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer import modules

    torch.set_num_threads(threads)
    if Path(encoder, "modules.json").is_file():
        model = SentenceTransformer(encoder, device="cpu", trust_remote_code=False)
        model.max_seq_length = 128
    else:
        transformer = modules.Transformer(encoder, max_seq_length=128)
        model = SentenceTransformer(
            modules=[transformer, modules.Pooling(transformer.get_embedding_dimension(), "mean")],
            device="cpu",
            trust_remote_code=False,
        )
    if precision == "bf16":
        model.bfloat16()
    return lambda sentences: model.encode(list(sentences), show_progress_bar=False)


def side(what: str, data: Path, encoder: str, count: int, threads: int) -> None:
    """One process: answer each line of JSON with the seconds of its part of a mixture, or write the
    vectors where it names a file.
    """
    whose, _, precision = what.partition(":")
    encode = (encode_peer if whose == "peer" else encode_ours)(encoder, threads, precision)
    mixed = mixtures(data, count)
    encode(mixed["distinct"][:64])
    vectors: list[Any] = []
    for question in map(json.loads, sys.stdin):
        if "out" in question:
            np.save(question["out"], np.concatenate(vectors))
            answer = {"memory_mib": measure.peak_mib(), "sts": sts_score(data, encode)}
        else:
            texts = mixed[question["mixture"]][slice(*question["part"])]
            started = time.perf_counter()
            made = encode(texts)
            answer = {"seconds": time.perf_counter() - started}
            if question["is_stored"]:
                vectors.append(made)
        print(json.dumps(answer), flush=True)


def sts_score(data: Path, encode: Callable[[Sequence[str]], Any]) -> float:
    """Spearman x 100 of the cosines on STS Benchmark test."""
    from embedlab.analysis.correlations import spearman
    from embedlab.data.source import Source
    from embedlab.encoders.encoder import cosines

    frame = Source(folder=data, allow_partial=True).open("sts-benchmark", "test").frame
    first, second = (encode(frame[column].to_list()) for column in ("sentence1", "sentence2"))
    return 100 * float(spearman(cosines(first, second), frame["gold"].to_numpy()))


def lower_bounds(
    data: Path, encoder: str, count: int, ceilings: measure.Ceilings
) -> dict[str, float]:
    """The seconds in which the machine's ceilings allow each mixture."""
    import torch
    from operations import encoding_bound

    from embedlab.encoders.checkpoint import load_transformer
    from embedlab.encoders.device import Machine
    from embedlab.models.reading import UsageOptions

    here = Machine(device=torch.device("cpu"), precision="float32", threads=ceilings.threads)
    model = load_transformer(encoder, here, wishes=UsageOptions(pooling="mean", max_tokens=128))
    bounds = {}
    for title, texts in mixtures(data, count).items():
        lengths = model.token_ids(list(dict.fromkeys(texts))).lengths.tolist()
        bounds[title] = encoding_bound(model.backbone, lengths).seconds(
            ceilings.gflops, ceilings.copy_gb_s
        )
    return bounds


def relative_error(first: Path, second: Path) -> float:
    """The largest distance of two vectors of one sentence over the vector's length."""
    one, other = np.load(first), np.load(second)
    return float((np.linalg.norm(one - other, axis=1) / np.linalg.norm(other, axis=1)).max())


def take_turns(sides: Sequence[measure.Side], count: int, at_once: int, repeats: int) -> Seconds:
    """The seconds of each mixture's parts, (rounds, sides): each part of each mixture by one side
    after the other.

    The mixtures take turns in being the first of a round: a process's first call of a kind is its
    slowest.
    """
    found: dict[str, list[list[float]]] = {title: [] for title in MIXTURES}
    for turn, (repeat, begin) in enumerate(product(range(repeats), range(0, count, at_once))):
        first = turn % len(MIXTURES)
        for title in MIXTURES[first:] + MIXTURES[:first]:
            question = {
                "mixture": title,
                "part": [begin, begin + at_once],
                "is_stored": title == "distinct" and repeat == 0,
            }
            found[title].append([side.answer(question)["seconds"] for side in sides])
    return {title: np.array(rounds) for title, rounds in found.items()}


def table_of(
    seconds: Seconds, bounds: Mapping[str, float], count: int, repeats: int, limit: str
) -> tuple[list[Measured], list[str]]:
    """The table's lines of the mixtures, and what each does to the ratio beside distinct
    sentences.
    """
    measured, notes = [], []
    ratios = {title: np.log(rounds[:, 1] / rounds[:, 0]) for title, rounds in seconds.items()}
    for title, rounds in seconds.items():
        one, other = rounds.sum(axis=0) / repeats
        what = f"{count:,} sentences, {title}"
        measured.append(
            Measured(what=what, ours=one, peer=other, unit="s", limit=limit, runs=repeats)
        )
        measured.append(Measured(what="its lower bound", ours=bounds[title], unit="s"))
        if title != "distinct":
            low, middle, high = np.exp(measure.bounds(ratios[title] - ratios["distinct"]))
            sure = f" (95%: {low:.2f} to {high:.2f})" if len(rounds) > 1 else ", of a single round"
            notes.append(
                f"{title.capitalize()}: {middle:.2f} times the ratio of distinct sentences{sure}."
            )
    return measured, notes


def main() -> None:
    """Let the sides take turns and write the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--encoder", help="a folder; by default all-MiniLM-L6-v2")
    parser.add_argument("--precision", choices=("float32", "bf16", "int8"), default="float32")
    parser.add_argument(
        "--peer-precision",
        choices=("float32", "bf16"),
        default="float32",
        help="float32 is the peer's default",
    )
    parser.add_argument("--sentences", type=int, default=50_000)
    parser.add_argument("--at-once", type=int, default=5_000, help="sentences in a call")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=1)
    arguments = parser.parse_args()
    precision, other_precision = arguments.precision, arguments.peer_precision
    for one in (precision, other_precision):
        measure.check_precision(one)
    encoder = arguments.encoder or measure.default_model()
    ceilings = measure.ceilings(arguments.threads, precision)
    words = (str(arguments.data), encoder, str(arguments.sentences), str(arguments.threads))
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        kinds = (
            f"ours:{precision}",
            "ours:float32" if precision == "int8" else f"peer:{other_precision}",
        )
        sides = [
            stack.enter_context(measure.Side(__file__, "side", what, *words)) for what in kinds
        ]
        seconds = take_turns(sides, arguments.sentences, arguments.at_once, arguments.repeats)
        outs = [folder / f"{number}.npy" for number in range(len(sides))]
        ends = [side.answer({"out": str(out)}) for side, out in zip(sides, outs, strict=True)]
        error = relative_error(*outs)
    bounds = lower_bounds(arguments.data, encoder, arguments.sentences, ceilings)
    limit = LIMITS.get((precision, other_precision), "")
    measured, notes = table_of(seconds, bounds, arguments.sentences, arguments.repeats, limit)
    one, other = (end["memory_mib"] for end in ends)
    measured.append(Measured(what="peak memory", ours=one, peer=other, unit="MiB"))
    scores = [end["sts"] for end in ends]
    notes = [
        f"{Path(encoder).name if arguments.encoder else 'all-MiniLM-L6-v2'}, {precision} beside "
        f"{'our own float32' if precision == 'int8' else f'sentence-transformers in {other_precision}'}, "
        f"mean pooling, at most 128 tokens, {arguments.threads} threads; "
        f"{arguments.at_once:,} sentences in a call at most.",
        *notes,
        f"Largest relative difference of two vectors of a sentence: {error:.1e}.",
        f"STS-B test, Spearman x 100: {scores[0]:.2f} and {scores[1]:.2f}, difference "
        f"{scores[0] - scores[1]:+.2f}.",
        f"The lower bound counts operations on real tokens of distinct sentences at "
        f"{ceilings.gflops:.0f} GFLOP/s, "
        f"the best {ceilings.precision} product of 2048 x 2048 matrices in this run.",
    ]
    name = "encoding" if precision == "float32" else f"encoding-{precision}"
    name += "" if other_precision == "float32" else f"-beside-{other_precision}"
    write(
        name,
        "Encoding",
        measured,
        packages=("embedlab", "torch", "transformers", "sentence-transformers"),
        notes=notes,
    )


if __name__ == "__main__":
    if sys.argv[1] == "side":
        what, data, encoder, count, threads = sys.argv[2:]
        side(what, Path(data), encoder, int(count), int(threads))
    else:
        main()
