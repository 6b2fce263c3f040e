"""How long an explanation takes, and how faithful it is.

    python benchmarks/explain.py time --data DIR [--repeats 9] [--threads 2] python
    benchmarks/explain.py faithfulness --data DIR --model minilm --model wordllama … [--pairs 1000]
    [--slow-pairs 300]
        [--resume FILE]

`time`: two sentences of 15 words with all-MiniLM-L6-v2, next to encoding their n + m + 2 variants
plainly, in turns in one run. The whole work after loading counts: the reference's cached vectors
and ranks, the variants, the tables.

`faithfulness`: of STS Benchmark test pairs whose sentences have 5 to 15 words the words that bring
the two sentences together most are deleted, one after the other, in the order of each method; the
more cosine a deletion loses, the better its method knew what mattered. The methods: leaving out
each word, which `embedlab explain` shows; the sum over token pairs (`--view tokens`); gradient x
input and integrated gradients of the word embeddings, from zero and from [MASK], of each sentence
with the other one held; a random order. With --resume what is measured is written to FILE, and what
is there is not measured again.
"""

import argparse
import sys
import tempfile
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from batches import Batches
from measure import bounds
from numpy.typing import NDArray
from record import Measured, write, write_table

AT_ONCE = 50  # pairs
MOST = 5  # deleted words
SHOWN = (1, 3, 5)
STEPS = 20  # of integrated gradients
METHODS = (
    "words left out",
    "integrated gradients from zero",
    "integrated gradients from [MASK]",
    "token pairs",
    "gradient x input",
    "random",
)
SLOW = ("mpnet",)

Floats = NDArray[np.float64]
Order = Callable[
    [str, str], Floats | None
]  # the number of each word of both sentences, those of the first first


def pairs_of(data: Path, count: int) -> list[tuple[str, str]]:
    """So many pairs of STS Benchmark test whose sentences have 5 to 15 words, drawn with a fixed
    seed.
    """
    from embedlab.data.source import Source
    from embedlab.data.words import shown_words

    frame = Source(folder=data, allow_partial=True).open("sts-benchmark", "test").frame
    both = zip(frame["sentence1"].to_list(), frame["sentence2"].to_list(), strict=True)
    fitting = [pair for pair in both if all(5 <= len(shown_words(one)) <= 15 for one in pair)]
    chosen = np.random.default_rng(0).permutation(len(fitting))[:count]
    return [fitting[place] for place in chosen]


@dataclass(frozen=True, kw_only=True)
class Orders:
    """The methods for one model."""

    score: Callable[[Sequence[str], Sequence[str]], Floats]
    methods: Mapping[str, Order]


def orders_of(name: str, threads: int) -> Orders:
    """The methods that a model has."""
    from embedlab.core.settings import Settings
    from embedlab.encoders.loading import scorer_for, token_vectors_of
    from embedlab.models.catalog import resolve

    settings = Settings(device="cpu", threads=threads)
    spec = resolve(name, Path("none")).members[0]
    scorer, tokens_of = scorer_for(spec, settings), token_vectors_of(spec, settings)

    def score(first: Sequence[str], second: Sequence[str]) -> Floats:
        return scorer.score(first, second).astype(np.float64)

    methods: dict[str, Order] = {
        "words left out": lambda first, second: _left_out(scorer, first, second),
        "token pairs": lambda first, second: _token_parts(tokens_of, first, second),
        "random": _random_order,
    }
    gradients = None if spec.is_prefixed else Gradients(_folder(spec), threads)
    if gradients is not None:
        methods["gradient x input"] = lambda first, second: gradients.words(
            first, second, "product"
        )
        methods["integrated gradients from zero"] = lambda first, second: gradients.words(
            first, second, "zero"
        )
        methods["integrated gradients from [MASK]"] = lambda first, second: gradients.words(
            first, second, "mask"
        )
        _check(gradients, score)
    return Orders(score=score, methods={one: methods[one] for one in METHODS if one in methods})


def model_folder_of(name: str) -> Path:
    """The folder of a model that a user names."""
    from embedlab.models.catalog import resolve

    return _folder(resolve(name, Path("none")).members[0])


def _folder(spec: Any) -> Path:
    from embedlab.models.location import model_folder

    return Path(spec.location) if spec.kind == "folder" else model_folder(spec, offline=True)


def _check(gradients: "Gradients", score: Callable[[Sequence[str], Sequence[str]], Floats]) -> None:
    """The model whose gradients are taken is the one that is explained, and integrated gradients
    add up.
    """
    first, second = "A man is playing a guitar.", "Two dogs run in the snow."
    assert abs(gradients.cosine(first, second) - score([first], [second])[0]) < 1e-4


def _counts(first: str, second: str) -> tuple[int, int]:
    from embedlab.data.words import shown_words

    return len(shown_words(first)), len(shown_words(second))


def _random_order(first: str, second: str) -> Floats:
    return np.random.default_rng(zlib.crc32(f"{first}\n{second}".encode())).random(
        sum(_counts(first, second))
    )


def _left_out(scorer: Any, first: str, second: str) -> Floats:
    from embedlab.analysis.word_effects import effects_of
    from embedlab.commands.explain import Variants, similarities_of

    table, _ = similarities_of(scorer, Variants.of(first, second))
    return effects_of(table.astype(np.float64))


def _token_parts(tokens_of: Any, first: str, second: str) -> Floats:
    from embedlab.analysis.word_effects import sum_by_word, token_pair_sum, words_of_tokens
    from embedlab.data.words import shown_words

    words = [[word.span for word in shown_words(one)] for one in (first, second)]
    tokens = [tokens_of(one) for one in (first, second)]
    places = [words_of_tokens(one.spans, own) for one, own in zip(tokens, words, strict=True)]
    table = sum_by_word(
        token_pair_sum(*tokens), places[0], places[1], (len(words[0]), len(words[1]))
    )
    return np.concatenate([table.sum(axis=1)[:-1], table.sum(axis=0)[:-1]])


class Gradients:
    """A transformer whose mean vector is differentiated by its word embeddings."""

    def __init__(self, folder: Path, threads: int) -> None:
        import torch
        from transformers import AutoModel, AutoTokenizer

        torch.set_num_threads(threads)
        self._torch = torch
        self._model = AutoModel.from_pretrained(
            folder, attn_implementation="eager", trust_remote_code=False
        ).eval()
        self._tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=False)
        for parameter in self._model.parameters():
            parameter.requires_grad_(False)
        self._table = self._model.get_input_embeddings()

    def _tokens(self, sentence: str) -> tuple[Any, list[tuple[int, int] | None]]:
        encoded = self._tokenizer(
            sentence, return_offsets_mapping=True, return_special_tokens_mask=True
        )
        offsets = zip(encoded["offset_mapping"], encoded["special_tokens_mask"], strict=True)
        spans = [
            None if is_special else (int(start), int(end)) for (start, end), is_special in offsets
        ]
        return self._torch.tensor(encoded["input_ids"]), spans

    def _vectors(self, embedded: Any) -> Any:
        """Mean vectors of word embeddings, (batch, tokens, dim) in."""
        return self._model(inputs_embeds=embedded).last_hidden_state.mean(dim=1)

    def cosine(self, first: str, second: str) -> float:
        """As the explained model gives it."""
        with self._torch.no_grad():
            vectors = [
                self._vectors(self._table(self._tokens(one)[0])[None])[0] for one in (first, second)
            ]
        return float(self._torch.nn.functional.cosine_similarity(*vectors, dim=0))

    def words(self, first: str, second: str, method: str) -> Floats:
        """The attribution of each word of both sentences, each sentence's with the other one
        held.
        """
        found = []
        for own, other in ((first, second), (second, first)):
            with self._torch.no_grad():
                held = self._vectors(self._table(self._tokens(other)[0])[None])
            found.append(self._of_words(own, held, method))
        return np.concatenate(found)

    def _of_words(self, sentence: str, held: Any, method: str) -> Floats:
        from embedlab.analysis.word_effects import words_of_tokens
        from embedlab.data.words import shown_words

        torch = self._torch
        ids, spans = self._tokens(sentence)
        embedded = self._table(ids)
        base = torch.zeros_like(embedded)
        if method == "mask":
            is_word = torch.tensor([span is not None for span in spans])
            base = torch.where(
                is_word[:, None], self._table(torch.tensor(self._tokenizer.mask_token_id)), embedded
            )
        at = torch.tensor([1.0]) if method == "product" else (torch.arange(STEPS) + 0.5) / STEPS
        inputs = (base + at[:, None, None] * (embedded - base)).requires_grad_()
        cosines = torch.nn.functional.cosine_similarity(self._vectors(inputs), held)
        (gradient,) = torch.autograd.grad(cosines.sum(), inputs)
        tokens = (gradient.mean(dim=0) * (embedded - base)).sum(dim=-1).double().numpy()
        words = [word.span for word in shown_words(sentence)]
        return np.bincount(words_of_tokens(spans, words), weights=tokens, minlength=len(words) + 1)[
            :-1
        ]


def deleted(first: str, second: str, order: NDArray[np.intp]) -> tuple[str, str]:
    """The two sentences without the words of these numbers, those of the first counted first."""
    from embedlab.data.words import shown_words, without_word

    texts = []
    start = 0
    for sentence in (first, second):
        words = shown_words(sentence)
        own = sorted(
            (place - start for place in order if start <= place < start + len(words)), reverse=True
        )
        for place in own:  # from the end, so that the places of the others stay
            sentence = without_word(sentence, words[place])
        texts.append(sentence)
        start += len(words)
    return texts[0], texts[1]


def curves(
    name: str, load: Callable[[], Orders], pairs: Sequence[tuple[str, str]], known: Batches
) -> dict[str, Floats]:
    """The cosine that each method loses by deleting its first k words, (pairs, MOST); KNOWN has
    what is measured, and gets the rest.
    """
    orders = None
    for start in range(0, len(pairs), AT_ONCE):
        some = pairs[start : start + AT_ONCE]
        if known.runs(name) >= start + len(some):
            continue
        orders = orders or load()
        known.add(
            name,
            len(some),
            {
                method: _lost(orders, order, some).tolist()
                for method, order in orders.methods.items()
            },
        )
        print(f"  {name}: {start + len(some)} of {len(pairs)} pairs", file=sys.stderr, flush=True)
    found = known.found(name)
    return {
        method: np.concatenate([batch[method] for batch in found])[: len(pairs)]
        for method in found[0]
    }


def _lost(orders: Orders, order: Order, pairs: Sequence[tuple[str, str]]) -> Floats:
    first, second = [list(side) for side in zip(*pairs, strict=True)]
    ranked = [np.argsort(-order(*pair), kind="stable") for pair in pairs]  # type: ignore[operator]
    rows = [
        deleted(*pair, own[:count])
        for pair, own in zip(pairs, ranked, strict=True)
        for count in range(1, MOST + 1)
    ]
    scores = orders.score([one for one, _ in rows], [other for _, other in rows]).reshape(
        len(pairs), MOST
    )
    lost: Floats = orders.score(first, second)[:, None] - scores
    return lost


def faithfulness(options: argparse.Namespace) -> None:
    """Write the table of all methods and models."""
    columns, lost, notes, known = [], {}, [], Batches(file=options.resume)
    for name in options.model:
        count = options.slow_pairs if name in SLOW else options.pairs
        pairs = pairs_of(options.data, count)
        print(f"{name}, {len(pairs)} pairs", file=sys.stderr, flush=True)
        title = Path(name.partition("?")[0]).name
        found = curves(name, partial(orders_of, name, options.threads), pairs, known)
        columns.append(f"{title} ({len(pairs)} pairs)")
        lost[columns[-1]] = found
        ours, at = found["words left out"], SHOWN.index(3)
        others = [one for one in found if one not in {"words left out", "random"}]
        best = max(others, key=lambda one: float(found[one][:, SHOWN[at] - 1].mean()))
        for words in SHOWN[1:]:
            low, mean, high = bounds([*(ours[:, words - 1] - found[best][:, words - 1])])
            notes.append(
                f"{title}: words left out - {best}, {words} words: {mean:+.3f} (95%: "
                f"{low:+.3f} to {high:+.3f})"
            )
    rows = [
        [method, *(_cell(lost[column].get(method)) for column in columns)] for method in METHODS
    ]
    write_table(
        "explain-faithfulness",
        "Cosine lost by deleting the words that a method puts first",
        ["order of words", *columns],
        rows,
        packages=("embedlab", "torch", "transformers"),
        notes=[
            f"mean cosine lost without the first {', '.join(map(str, SHOWN[:-1]))} and "
            f"{SHOWN[-1]} words; pairs of STS-B test",
            *notes,
        ],
    )


def _cell(lost: Floats | None) -> str:
    return (
        "–" if lost is None else " / ".join(f"{lost[:, words - 1].mean():.3f}" for words in SHOWN)
    )


def duration(options: argparse.Namespace) -> None:
    """Write how long two sentences of 15 words take."""
    from embedlab.api import NotebookSession
    from embedlab.commands.explain import ExplainOptions, Variants, explain
    from embedlab.core.settings import Settings
    from embedlab.encoders.loading import load_plain
    from embedlab.evaluation import load_members
    from embedlab.models.catalog import resolve

    words = (
        (Path(__file__).parents[1] / "embedlab/data/starter/STS/STSBenchmark/sts-test.csv")
        .read_text(encoding="utf-8")
        .split()
    )
    words = [word for word in words if word.isalpha()]
    rng = np.random.default_rng(0)
    sentences = [" ".join(rng.choice(words, 15)) for _ in range(4 * options.repeats + 4)]
    with tempfile.TemporaryDirectory() as cache:
        settings = Settings(
            device="cpu", threads=options.threads, data=options.data, cache=Path(cache)
        )
        session = NotebookSession(settings=settings)

        plain = load_plain(resolve("minilm", Path("none")).members[0], settings)
        loaded: dict[str, Any] = {}

        def members(model: Any, _session: Any, *, cached: bool) -> Any:
            return loaded.setdefault(model.name, load_members(model, session, cached=cached))

        with _replaced(
            "embedlab.evaluation.load_members", members
        ):  # a loaded model, as the dashboard and notebooks have it
            ours, theirs = [], []
            for place in range(0, len(sentences), 4):
                explained, encoded = sentences[place : place + 2], sentences[place + 2 : place + 4]
                started = time.perf_counter()
                explain(
                    ExplainOptions(
                        first=explained[0],
                        second=explained[1],
                        models=["minilm"],
                        reference="starter",
                    ),
                    session,
                )
                ours.append(time.perf_counter() - started)
                variants = Variants.of(*encoded).sentences
                started = time.perf_counter()
                plain.encode(variants)
                theirs.append(time.perf_counter() - started)
    ours, theirs = ours[1:], theirs[1:]  # the first computes the vectors of the reference
    write(
        "explain",
        "Explaining two sentences of 15 words",
        [
            Measured(
                what="explain, next to encoding 32 sentences",
                ours=median(ours),
                unit="s",
                peer=median(theirs),
                limit="< 0.3 s",
                runs=len(ours),
            ),
            Measured(
                what="times the time of encoding alone",
                ours=median(np.divide(ours, theirs)),
                unit="x",
                limit="≤ 3 x",
                runs=len(ours),
            ),
        ],
        packages=("embedlab", "torch", "transformers"),
        notes=[
            "MiniLM, the vectors of the reference's 1,750 pairs cached; loading is not counted",
            f"explain: {_seconds(ours)}",
            f"encode: {_seconds(theirs)}",
        ],
    )


def _seconds(times: Sequence[float]) -> str:
    return ", ".join(f"{one:.3f}" for one in times)


class _replaced:  # noqa: N801 - read as a phrase
    """Replace what a dotted name means for the block."""

    def __init__(self, name: str, value: Any) -> None:
        module, _, self._name = name.rpartition(".")
        self._module, self._value = sys.modules[module], value

    def __enter__(self) -> None:
        self._before = getattr(self._module, self._name)
        setattr(self._module, self._name, self._value)

    def __exit__(self, *_: object) -> None:
        setattr(self._module, self._name, self._before)


def main() -> None:
    """Measure."""
    typed = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    typed.add_argument("what", choices=("time", "faithfulness"))
    typed.add_argument("--data", type=Path, required=True)
    typed.add_argument("--model", action="append", default=[])
    typed.add_argument("--pairs", type=int, default=1000)
    typed.add_argument("--slow-pairs", type=int, default=300)
    typed.add_argument("--resume", type=Path, help="a file of what is measured; it is continued")
    typed.add_argument("--repeats", type=int, default=9)
    typed.add_argument("--threads", type=int, default=2)
    options = typed.parse_args()
    with suppress(KeyboardInterrupt):
        duration(options) if options.what == "time" else faithfulness(options)


if __name__ == "__main__":
    main()
