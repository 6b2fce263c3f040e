"""Gradient views of word effects next to those of xplainsim, which computes in an environment of
its own (it pins older versions).

    python -m venv oracle && oracle/bin/pip install xplainsim matplotlib  # which it imports and
    does not name
    python benchmarks/explain_oracle.py --data DIR --python oracle/bin/python [--model minilm]
    [--pairs 20] [--steps 20] [--write]

Of each of some STS-B pairs xplainsim gives two tables of token pairs: the products of token
vectors, which `--view tokens` shows too, and integrated Jacobians of the last two layers, from a
sentence of padding. A word's attribution is the sum of its row or column. Compared are the numbers
of the first table, and in what order each method puts the words: the median rank correlation with
what leaving each word out does, how often the first word is the same, and how much cosine is lost
by deleting the first words.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import spearmanr

sys.path.insert(0, str(Path(__file__).parent))

from explain import SHOWN, Floats, Gradients, deleted, model_folder_of, orders_of, pairs_of
from record import write_table

LEFT_OUT, PRODUCTS, JACOBIANS = "words left out", "token pairs", "xplainsim: integrated Jacobians"
_PROGRAM = """
import json, sys
import torch
from xplain.attribution import ModelFactory
given = json.load(sys.stdin)
torch.set_num_threads(given["threads"])
model = ModelFactory.build(given["folder"], N_steps=given["steps"])
model.eval()
def tokens(sentence):
    encoded = model[0].tokenizer(sentence, return_offsets_mapping=True, return_special_tokens_mask=True)
    marked = zip(encoded["offset_mapping"], encoded["special_tokens_mask"])
    vectors = model.forward(model[0].tokenize([sentence]))["token_embeddings"][0].detach()
    return [None if special else list(span) for span, special in marked], vectors
for first, second in given["pairs"]:
    jacobians, _, _ = model.explain_similarity(first, second, sim_measure="cosine", move_to_cpu=True, verbose=False)
    products, _, _ = model.explain_by_decomposition(first, second)
    (spans, vectors), (others, other_vectors) = tokens(first), tokens(second)
    lengths = float(vectors.mean(dim=0).norm() * other_vectors.mean(dim=0).norm())
    found = {"spans": [spans, others], "jacobians": jacobians.tolist(), "products": (products / lengths).tolist()}
    print(json.dumps(found), flush=True)
"""


def explained_there(
    python: str, folder: Path, pairs: Sequence[tuple[str, str]], steps: int
) -> list[dict[str, Any]]:
    """Return what xplainsim says of each pair."""
    given = {
        "folder": str(folder),
        "pairs": [list(pair) for pair in pairs],
        "steps": steps,
        "threads": 1,
    }
    ran = subprocess.run(
        [python, "-c", _PROGRAM],
        input=json.dumps(given),
        capture_output=True,
        text=True,
        check=False,
    )
    if ran.returncode:
        raise SystemExit(ran.stderr)
    return [json.loads(line) for line in ran.stdout.splitlines() if line.startswith("{")]


def attributions(found: dict[str, Any], name: str, pair: tuple[str, str]) -> Floats:
    """Return the attribution of each word of both sentences, those of the first first."""
    from embedlab.analysis.word_effects import sum_by_word, words_of_tokens
    from embedlab.data.words import shown_words

    words = [[word.span for word in shown_words(sentence)] for sentence in pair]
    spans = [
        [None if span is None else (span[0], span[1]) for span in of_sentence]
        for of_sentence in found["spans"]
    ]
    places = [
        words_of_tokens(of_tokens, of_words)
        for of_tokens, of_words in zip(spans, words, strict=True)
    ]
    table = sum_by_word(np.array(found[name]), places[0], places[1], (len(words[0]), len(words[1])))
    return np.concatenate([table.sum(axis=1)[:-1], table.sum(axis=0)[:-1]])


def main() -> None:
    """Compare and print, or write the table of results."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--python", required=True, help="of an environment that has xplainsim")
    parser.add_argument("--model", default="minilm")
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--steps", type=int, default=20, help="of the integrals, on both sides")
    parser.add_argument(
        "--write", action="store_true", help="write the table to benchmarks/results"
    )
    options = parser.parse_args()
    pairs = pairs_of(options.data, options.pairs)
    folder = model_folder_of(options.model)
    there = explained_there(options.python, folder, pairs, options.steps)
    orders, gradients = orders_of(options.model, 1), Gradients(folder, 1)
    of = {
        LEFT_OUT: [orders.methods[LEFT_OUT](*pair) for pair in pairs],
        JACOBIANS: [
            attributions(found, "jacobians", pair) for found, pair in zip(there, pairs, strict=True)
        ],
        "integrated gradients from zero": [gradients.words(*pair, "zero") for pair in pairs],
        PRODUCTS: [orders.methods[PRODUCTS](*pair) for pair in pairs],
    }
    theirs = [
        attributions(found, "products", pair) for found, pair in zip(there, pairs, strict=True)
    ]
    apart = max(
        float(np.abs(ours - other).max()) for ours, other in zip(of[PRODUCTS], theirs, strict=True)
    )
    rows = [
        [name, *cells(orders.score, pairs, numbers, of[LEFT_OUT])] for name, numbers in of.items()
    ]
    columns = ("order of words", "median rank correlation", "same first word", "cosine lost")
    code = "from importlib.metadata import version; print(version('xplainsim'))"
    version = subprocess.run(
        [options.python, "-c", code], capture_output=True, text=True, check=True
    ).stdout.strip()
    notes = [
        f"xplainsim {version}, {options.model}, {len(pairs)} pairs of STS-B test of 5 to 15 "
        f"words; {options.steps} steps",
        f"token pairs: its products of token vectors, summed by word, are those of --view "
        f"tokens to {apart:.1e}",
        "rank correlation and first word: with words left out",
        f"cosine lost: in the mean, without the first {', '.join(map(str, SHOWN[:-1]))} and "
        f"{SHOWN[-1]} words",
    ]
    if options.write:
        title = "Word effects next to the gradient views of xplainsim"
        write_table(
            "explain-oracle",
            title,
            columns,
            rows,
            packages=("embedlab", "torch", "transformers"),
            notes=notes,
        )
    else:
        for row in (columns, *rows, *([note] for note in notes)):
            print(*row, sep="\t")


def cells(
    score: Any,
    pairs: Sequence[tuple[str, str]],
    numbers: Sequence[Floats],
    left_out: Sequence[Floats],
) -> list[str]:
    """Return what one order of words is like."""
    alike = [spearmanr(own, other)[0] for own, other in zip(numbers, left_out, strict=True)]
    same = [
        int(own.argmax() == other.argmax()) for own, other in zip(numbers, left_out, strict=True)
    ]
    ranked = [np.argsort(-own, kind="stable") for own in numbers]
    shortened = [
        deleted(*pair, order[:count])
        for pair, order in zip(pairs, ranked, strict=True)
        for count in SHOWN
    ]
    whole = score([first for first, _ in pairs], [second for _, second in pairs])
    rest = score([first for first, _ in shortened], [second for _, second in shortened]).reshape(
        len(pairs), len(SHOWN)
    )
    lost = (whole[:, None] - rest).mean(axis=0)
    return [
        f"{np.nanmedian(alike):.2f}",
        f"{100 * np.mean(same):.0f}%",
        " / ".join(f"{each:.3f}" for each in lost),
    ]


if __name__ == "__main__":
    main()
