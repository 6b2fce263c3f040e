"""Damaged files of a user: pairs, triplets, definitions and sentences as TSV, CSV, JSONL, parquet
and plain text, mutated.

    python benchmarks/fuzz/own_files.py [--cases 8000] [--seed 21] [--write]

Pairs are scored by word overlap and correlated as `evaluate dice --task FILE` does, tables with
other columns are detected as `train FILE` does, sentences are read as `encode` reads them, what
other programs computed (scores, vectors, items, files of mteb) as models of a comparison, the
others as training reads them. Parquet files are damaged in their bytes, or written with columns of
other types.
"""

import datetime
import io
import json
import random
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

sys.path[:0] = []
sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parent))

import numpy as np
import polars as pl
from campaign import Case, arguments, generator, report, timed
from damage import MUTATIONS, VALUES
from pair_frames import pair_outcomes, pair_table

from embedlab.commands.training_plan import own_training, recipe_of
from embedlab.comparison.evidence import outcome_evidence
from embedlab.data.dataset import COLUMNS, DatasetKind
from embedlab.data.mteb_files import read_figures, read_predictions
from embedlab.data.own_files import open_evaluated_file, open_own_file, sentences
from embedlab.encoders.kinds.brought import open_scores, open_vectors, read_items
from embedlab.encoders.loading import DiceScorer
from embedlab.encoders.transformed import read_vectors

ROWS = 12
_WORDS = (
    "a cat sleeps",
    "the dog runs",
    'she said "no"',
    "it rains, again",
    "ein Über-Satz",
    "two men play",
    "𝛼 and β",
    "x",
)
_PAIRS = ("sentence1", "sentence2", "score", "source")
_ITEMS = ("dataset", "item", "prediction")
_VECTORS = ("sentence", "vector")
_TRIPLETS = ("sent0", "sent1", "hard_neg")


@dataclass(frozen=True, kw_only=True)
class Target:
    """One kind of file and what reads it."""

    name: str
    make: Callable[[random.Random], bytes]
    read: Callable[[Path], object]

    @property
    def suffix(self) -> str:
        """How the file's name ends."""
        return f".{self.name.rpartition(' ')[2]}"


def rows(names: Sequence[str], rng: random.Random) -> list[dict[str, object]]:
    """Rows of sentences; a score from 0 to 5."""
    numbered = {
        "score": lambda number: f"{number % 6}",
        "item": lambda number: number,
        "vector": lambda number: [float(number), 1.0],
    }
    numbered |= {
        "rating": numbered["score"],
        "label": lambda number: ("entailment", "neutral", "contradiction")[number % 3],
    }
    numbered["sentence"] = lambda number: f"{rng.choice(_WORDS)} {number}"
    return [
        {name: numbered[name](number) if name in numbered else rng.choice(_WORDS) for name in names}
        for number in range(ROWS)
    ]


def tsv(names: Sequence[str]) -> Callable[[random.Random], bytes]:
    """Makes a tab-separated file with a header."""
    return lambda rng: "\n".join(
        ["\t".join(names), *("\t".join(map(str, row.values())) for row in rows(names, rng)), ""]
    ).encode()


def csv(names: Sequence[str]) -> Callable[[random.Random], bytes]:
    """Makes a CSV file with quotes where they are needed."""
    return lambda rng: pl.DataFrame(rows(names, rng)).write_csv().encode()


def jsonl(names: Sequence[str]) -> Callable[[random.Random], bytes]:
    """Makes a file of one JSON object a line, its scores numbers."""

    def make(rng: random.Random) -> bytes:
        found = [
            {**row, **({"score": float(str(row["score"]))} if "score" in row else {})}
            for row in rows(names, rng)
        ]
        return "".join(
            json.dumps(row, ensure_ascii=rng.random() < 0.5) + "\n" for row in found
        ).encode()

    return make


def parquet(names: Sequence[str]) -> Callable[[random.Random], bytes]:
    """Makes a parquet file, half of them with a column of another type."""
    odd = (
        [None] * ROWS,
        list(range(ROWS)),
        [number / 3 for number in range(ROWS)],
        [float("nan")] * ROWS,
        [float("inf")] * ROWS,
        [b"\xff\x00"] * ROWS,
        [["a", "b"]] * ROWS,
        [{"a": 1}] * ROWS,
        [True] * ROWS,
        ["\0"] * ROWS,
        [""] * ROWS,
        [10**18] * ROWS,
        [datetime.timedelta(1)] * ROWS,
        [datetime.date(2020, 2, 29)] * ROWS,
        [Decimal("1.5")] * ROWS,
        [[float(number), 1.0] for number in range(ROWS)],
        [[None, 1.0]] * ROWS,
        [[1.0] * (number % 2 + 1) for number in range(ROWS)],
    )

    def make(rng: random.Random) -> bytes:
        frame = pl.DataFrame(rows(names, rng))
        if rng.random() < 0.5:
            frame = frame.with_columns(pl.Series(rng.choice(names), rng.choice(odd)))
        match rng.randrange(6):
            case 0:
                frame = frame.clear()
            case 1:
                frame = frame.drop(rng.choice(names))
            case 2:
                frame = frame.with_columns(pl.col(pl.String).cast(pl.Categorical))
            case _:
                pass
        target = io.BytesIO()
        frame.write_parquet(target)
        return target.getvalue()

    return make


def lines(rng: random.Random) -> bytes:
    """Plain sentences."""
    return "".join(f"{rng.choice(_WORDS)}\n" for _ in range(ROWS)).encode()


def definitions(rng: random.Random) -> bytes:
    """A word, a tab and its definition on each line."""
    return "".join(f"word{number}\t{rng.choice(_WORDS)}\n" for number in range(ROWS)).encode()


def npy(rng: random.Random) -> bytes:
    """An array of one vector a sentence."""
    target = io.BytesIO()
    np.save(
        target,
        np.array(
            [[number, rng.random()] for number in range(ROWS)],
            rng.choice(("<f4", "<f8", ">f2", "<i4")),
        ),
    )
    return target.getvalue()


def mteb_predictions(rng: random.Random) -> bytes:
    """What mteb predicts of one task."""
    values = {"cosine_scores": [rng.random() for _ in range(ROWS)]}
    return json.dumps(
        {
            "mteb_model_meta": {"model_name": "a/b", "revision": "0" * 40},
            "default": {"test": values},
        }
    ).encode()


def mteb_results(rng: random.Random) -> bytes:
    """What mteb states of one task."""
    own = {"main_score": rng.random(), "cosine_spearman": rng.random(), "hf_subset": "default"}
    return json.dumps(
        {
            "task_name": "STS16",
            "dataset_revision": "0" * 40,
            "mteb_version": "2.26.24",
            "scores": {"test": [own]},
        }
    ).encode()


def score_by(path: Path) -> None:
    """What `compare scores:FILE` reads."""
    found = open_scores(str(path)).score([*_WORDS], [*_WORDS])
    assert found.dtype == np.float64


def vectors(path: Path) -> None:
    """What `compare vectors:FILE` reads."""
    path.with_suffix(".txt").write_text("".join(f"sentence {number}\n" for number in range(ROWS)))
    found = open_vectors(str(path))
    assert found.dim
    read_vectors(path)


def predictions(path: Path) -> None:
    """What `compare mteb:FILE` reads of similarities."""
    named = path.rename(path.with_name("STS16_predictions.json"))
    found = read_predictions(named, "test")
    assert found is None or np.isfinite(np.array(found.values, np.float64)).all()


def score(path: Path) -> None:
    """What `evaluate dice --task FILE` computes."""
    part = open_own_file(str(path))
    assert dict(part.frame.schema) == dict(COLUMNS["sts"])
    assert (
        not part.frame.select("sentence1", "sentence2", "gold").null_count().sum_horizontal().item()
    )
    first, second = part.frame["sentence1"].to_list(), part.frame["sentence2"].to_list()
    table = pair_table([part]).with_columns(
        pl.Series("dice", DiceScorer().score(first, second), dtype=pl.Float64)
    )
    outcome_evidence(
        pair_outcomes(table, ["dice"], task="sts", averages={}), ["dice"], is_tested=False
    )
    encodable([*first, *second])


def encode(path: Path) -> None:
    """What `encode FILE` reads."""
    encodable(list(sentences(path)))


def read_as(kind: DatasetKind) -> Callable[[Path], None]:
    """What training reads of a file of that KIND."""

    def read(path: Path) -> None:
        frame = open_own_file(str(path), kind).frame
        assert not frame.null_count().sum_horizontal().item()
        encodable([text for name in frame.columns for text in frame[name].to_list()])

    return read


def detect(path: Path) -> None:
    """What `train FILE` and `evaluate dice FILE` find in a file whose columns have names of other
    people.
    """
    own = own_training(str(path), (), None)
    assert own is not None
    recipe_of(str(path))
    if own.recipe != "own-sentences":
        part = open_evaluated_file(str(path))
        assert not part.frame.select("sentence1", "sentence2").null_count().sum_horizontal().item()
        encodable([*part.frame["sentence1"], *part.frame["sentence2"]])


def encodable(texts: Sequence[str]) -> None:
    """Refuse what no tokenizer takes."""
    for text in texts:
        assert isinstance(text, str)
        text.encode()


def targets() -> list[Target]:
    """Every kind of file with what reads it."""
    makers: Mapping[str, Callable[[Sequence[str]], Callable[[random.Random], bytes]]] = {
        "tsv": tsv,
        "csv": csv,
        "jsonl": jsonl,
        "parquet": parquet,
    }
    found = [
        Target(name=f"pairs {kind}", make=make(_PAIRS), read=score) for kind, make in makers.items()
    ]
    for columns in (
        ("question", "answer", "id"),
        ("text_a", "text_b", "rating"),
        ("premise", "hypothesis", "label"),
        _TRIPLETS,
    ):
        found += [
            Target(name=f"detected {columns[0]} {kind}", make=make(columns), read=detect)
            for kind, make in makers.items()
        ]
    found += [
        Target(name=f"sentences {kind}", make=make(("sentence", "id")), read=encode)
        for kind, make in makers.items()
    ]
    found += [
        Target(name=f"scores {kind}", make=make(_PAIRS[:3]), read=score_by)
        for kind, make in makers.items()
    ]
    found += [
        Target(name=f"items {kind}", make=make(_ITEMS), read=lambda path: read_items(str(path)))
        for kind, make in makers.items()
    ]
    found += [
        Target(name="vectors npy", make=npy, read=vectors),
        Target(name="vectors parquet", make=parquet(_VECTORS), read=vectors),
    ]
    found += [Target(name="predictions json", make=mteb_predictions, read=predictions)]
    found += [Target(name="figures json", make=mteb_results, read=read_figures)]
    found += [Target(name="sentences txt", make=lines, read=encode)]
    found += [Target(name="training sentences txt", make=lines, read=read_as("sentences"))]
    found += [Target(name="definitions tsv", make=definitions, read=read_as("definitions"))]
    return [*found, Target(name="triplets csv", make=csv(_TRIPLETS), read=read_as("triplets"))]


def turns() -> list[Target]:
    """The order of the targets; parquet files, for each of which a process starts that reads it
    first, in one round of four.
    """
    found = targets()
    return [*found, *[target for target in found if target.suffix != ".parquet"] * 3]


def case(number: int, seed: int, target: Target, folder: Path) -> Case:
    """One mutated file."""
    rng = generator(seed, number)
    is_parquet = target.suffix == ".parquet"
    mutation = rng.choice(
        list(MUTATIONS) if not is_parquet or rng.random() < 0.5 else ["other types"]
    )

    def read() -> None:
        content = target.make(rng)
        path = folder / f"{rng.choice(('own', 'my file', 'a[b]', 'ü', 'x*'))}{target.suffix}"
        path.write_bytes(MUTATIONS[mutation](content, rng) if mutation in MUTATIONS else content)
        target.read(path)

    return Case(target=target.name, mutation=mutation, run=read)


def main() -> int:
    """Run the campaign."""
    options = arguments(__doc__ or "", 8_000)
    found = turns()
    with tempfile.TemporaryDirectory() as folder:
        cases = [
            case(number, options.seed, found[number % len(found)], Path(folder))
            for number in range(options.cases)
        ]
        outcomes, seconds = timed(cases, limit_s=options.limit_s)
    notes = [f"files of {ROWS} rows; values of other kinds: {len(VALUES)}; seed {options.seed}"]
    return report(
        "own_files",
        "Damaged files of a user",
        outcomes,
        seconds=seconds,
        notes=notes,
        write=options.write,
    )


if __name__ == "__main__":
    sys.exit(main())
