"""mteb's STS tasks through the adapter, next to embedlab's own numbers on the same rows, which mteb
is given as local datasets.

    python benchmarks/mteb_tasks.py --data DIR --model DIR [--rows N]

mteb's SICK-R has all 9,927 pairs: those of embedlab's three splits together. Sentences are encoded
once and cached, so that both sides have the same vectors, and what is compared is all that comes
after them. Needs the extra `mteb`. Nothing touches the network.
"""

import argparse
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import polars as pl
from record import write_table

import embedlab
from embedlab.core.errors import EmbedlabError
from embedlab.data.source import Source

TASKS = {
    **{f"STS{year}": f"sts{year}" for year in range(12, 17)},
    "STSBenchmark": "sts-benchmark",
    "SICK-R": "sick-r",
}
ALLOWED = 0.005  # 0.00 with two digits


def rows_of(source: Source, name: str) -> pl.DataFrame:
    """Return the pairs of a dataset as mteb names their columns; of SICK-R those of all splits."""
    splits = ("train", "dev", "test") if name == "sick-r" else ("test",)
    return pl.concat(source.open(name, split).frame for split in splits).select(
        "sentence1", "sentence2", score="gold"
    )


def measure(
    source: Source, folder: Path, model: str, rows: int | None
) -> Iterator[tuple[str, int, float, float]]:
    """Yield task, number of pairs, and Spearman x 100 by embedlab and by mteb."""
    for task, name in TASKS.items():
        frame = rows_of(source, name)
        frame = frame.head(rows) if rows else frame
        place = folder / "data" / "mteb" / task
        place.mkdir(parents=True)
        frame.write_parquet(place / "test.parquet")
        frame.write_parquet(own := folder / f"{task}.parquet")
        settings = {"runs": folder / "runs", "cache": folder / "cache"}
        ours = embedlab.evaluate([model], tasks=[str(own)], aggregate="all", **settings).frame
        theirs = embedlab.evaluate(
            [model], tasks=[f"mteb:{task}"], data=folder / "data", offline=True, **settings
        ).frame
        yield (
            task,
            frame.height,
            ours.filter(by="dataset", metric="spearman")["score"][0],
            theirs["score"][0],
        )


def main() -> None:
    """Measure both sides and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--model", required=True, help="a folder of an encoder")
    parser.add_argument(
        "--rows", type=int, help="only so many pairs of each task, to try the program"
    )
    arguments = parser.parse_args()
    source = Source(folder=arguments.data, offline=True)
    try:
        with tempfile.TemporaryDirectory() as folder:
            found = list(measure(source, Path(folder), arguments.model, arguments.rows))
    except EmbedlabError as error:
        sys.exit(f"mteb_tasks: {error.message}")
    largest = max(abs(ours - theirs) for _, _, ours, theirs in found)
    rows = [
        (task, f"{pairs:,}", f"{ours:.2f}", f"{theirs:.2f}", f"{ours - theirs:+.6f}")
        for task, pairs, ours, theirs in found
    ]
    write_table(
        "mteb_tasks",
        "mteb's STS tasks through the adapter",
        ("task", "pairs", "embedlab", "mteb", "difference"),
        rows,
        packages=("embedlab", "mteb", "torch", "transformers"),
        notes=(
            f"Spearman x 100, cosine; model {Path(arguments.model).name}",
            f"largest difference {largest:.6f}, allowed {ALLOWED}",
        ),
    )
    if largest > ALLOWED:
        sys.exit(1)


if __name__ == "__main__":
    main()
