"""Which triples of SICK are counted, and what that does to the share of entailed sentences that are
closer.

    python research/programs/contrast_counts.py --data DIR [--model dice --model minilm …]

SICK's pairs with a negation in the contradicted sentence alone, by triple and by anchor, ties half:
of all entailed sentences or of those that people score 4.5 of 5 or more, each different triple once
or as often as a pair is in the corpus in both orders.
"""

import argparse
import sys
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from record import write_table

Pair = tuple[str, str]
Triple = tuple[str, str, str]
LEAST = 4.5


def labelled(data: Path) -> list[tuple[str, str, str, float]]:
    """The pairs of SICK with label and score, each in both orders."""
    found = []
    for split in ("train", "trial", "test_annotated"):
        lines = (data / "SICK" / f"SICK_{split}.txt").read_text(encoding="utf-8").splitlines()
        rows = [
            dict(zip(lines[0].split("\t"), line.split("\t"), strict=True)) for line in lines[1:]
        ]
        for row in rows:
            first, second = row["sentence_A"].strip(), row["sentence_B"].strip()
            facts = row["entailment_judgment"].strip().lower(), float(row["relatedness_score"])
            found += [(first, second, *facts), (second, first, *facts)]
    return found


def triples(pairs: Sequence[tuple[str, str, str, float]], least: float) -> Counter[Triple]:
    """How often each triple of three different sentences is in the corpus, entailed ones with at
    least this score.
    """
    by_anchor: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for anchor, other, label, score in pairs:
        if label == "contradiction" or (label == "entailment" and score >= least):
            by_anchor[anchor][label].append(other)
    every = (
        (anchor, one, other)
        for anchor, own in by_anchor.items()
        for one in own["entailment"]
        for other in own["contradiction"]
    )
    return Counter(triple for triple in every if len({*triple}) == 3)


def negated(found: Counter[Triple]) -> Counter[Triple]:
    """Those whose contradicted sentence has a negating word, and whose entailed one has none."""
    from embedlab.data.words import negating_words

    rows = list(found)
    has = [
        (negating_words(pl.Series([row[side] for row in rows])) != "").to_list() for side in (1, 2)
    ]
    return Counter(
        {
            row: found[row]
            for row, entailed, contradicted in zip(rows, *has, strict=True)
            if contradicted and not entailed
        }
    )


def shares(model: str, found: Counter[Triple]) -> tuple[float, float, float]:
    """The share of closer entailed sentences with repetitions, without, and by anchor."""
    import embedlab

    rows = list(found)
    anchors, entailed, contradicted = zip(*rows, strict=True)
    scores = embedlab.score_pairs(model, [*anchors, *anchors], [*entailed, *contradicted])
    right = (np.sign(np.subtract(*np.split(scores.astype(np.float64), 2))) + 1) / 2
    own: dict[str, list[float]] = defaultdict(list)
    for anchor, one in zip(anchors, right, strict=True):
        own[anchor].append(one)
    by_anchor = [float(np.mean(values)) for values in own.values()]
    return (
        float(np.average(right, weights=[found[row] for row in rows])),
        float(right.mean()),
        float(np.mean(by_anchor)),
    )


def main() -> None:
    """Write the table."""
    typed = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    typed.add_argument("--data", type=Path, required=True)
    typed.add_argument("--model", action="append", default=[])
    options = typed.parse_args()
    models = options.model or ["dice"]
    pairs, rows = labelled(options.data), []
    for title, least in (("all entailed sentences", 0.0), (f"scored {LEAST} or more", LEAST)):
        every = triples(pairs, least)
        chosen = negated(every)
        found = {model: shares(model, chosen) for model in models}
        counts = {
            "with repetitions": (sum(every.values()), sum(chosen.values())),
            "each triple once": (len(every), len(chosen)),
            "by anchor": (len({row[0] for row in every}), len({row[0] for row in chosen})),
        }
        for place, (how, (whole, own)) in enumerate(counts.items()):
            rows.append(
                [
                    f"{title}, {how}",
                    str(whole),
                    str(own),
                    *(f"{100 * found[model][place]:.1f}" for model in models),
                ]
            )
    names = [Path(model.partition("?")[0]).name for model in models]
    write_table(
        "contrast-counts",
        "Entailed closer than contradicted on SICK's negations, by what is counted",
        ["triples", "all", "negation", *names],
        rows,
        packages=("embedlab", "torch", "transformers"),
        notes=[
            "counts are of triples, in rows by anchor of anchors; shares x 100, ties half; "
            "`contrast-sick` is the last row"
        ],
    )


if __name__ == "__main__":
    main()
