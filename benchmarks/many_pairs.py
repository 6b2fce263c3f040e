"""Memory and processor time of a comparison of two score files over very many made pairs.

    python benchmarks/many_pairs.py [--pairs 1000000] [--before CHECKOUT] [--form parquet|tsv]

Each pair has two sentences of made words that are as frequent as Zipf's law says; four premises
have three pairs each with four other sentences, so that a third of the sentences are premises, as
in NLI, and topics have twelve pairs. The scores follow the gold score with noise. The first command
of each side finds nothing stored; the second finds the scores and the similar sentences. Peak
memory is the resident size of the process as the system counts it. CHECKOUT is another commit,
measured in the same run on the same files.
"""

import argparse
import os
import shlex
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from record import write_table

WORDS, AT_ONCE = 30_000, 600_000
ROOT = Path(__file__).parents[1]
MODELS = {"one": 0.15, "two": 0.2}  # the noise of each


@dataclass(frozen=True, kw_only=True)
class Used:
    """What one command used."""

    peak_mib: float
    processor_s: float
    wall_s: float
    output: str


def sentences(count: int) -> pl.Series:
    """So many distinct sentences of made words."""
    rng = np.random.default_rng(0)
    weights = 1 / np.arange(1, WORDS + 1)
    ends = np.cumsum(weights / weights.sum())
    words = pl.Series([f"w{number:x}ing"[:9] for number in range(WORDS)])
    parts = []
    for start in range(0, count, AT_ONCE // 10):
        own = min(AT_ONCE // 10, count - start)
        sizes = np.clip(np.rint(rng.lognormal(np.log(10), 0.45, own)), 4, 40).astype(np.int64)
        drawn = words.gather(np.searchsorted(ends, rng.random(int(sizes.sum()))).clip(0, WORDS - 1))
        rows = pl.DataFrame({"row": np.repeat(np.arange(own), sizes), "word": drawn})
        texts = rows.group_by("row", maintain_order=True).agg(pl.col("word").str.join(" "))["word"]
        numbers = pl.Series(np.arange(start, start + own)).cast(pl.String)
        parts.append(texts + " n" + numbers)
    return pl.concat(parts)


def make(folder: Path, count: int, form: str) -> None:
    """Write the pairs, and a file of scores a model."""
    rng, number = np.random.default_rng(1), np.arange(count)
    texts = sentences(2 * (-(-count // 12) * 4))
    first = number // 3
    second = (
        len(texts) // 2 + number // 12 * 4 + (rng.integers(4, size=count)[first] + number) % 4
    )  # no pair twice
    gold = np.round(rng.random(count) * 50) / 10
    pairs = pl.DataFrame(
        {"sentence1": texts.gather(first), "sentence2": texts.gather(second), "score": gold}
    )
    save(pairs, folder / f"pairs.{form}", form)
    for name, noise in MODELS.items():
        scores = (pairs["score"].to_numpy() / 5 + rng.normal(scale=noise, size=len(pairs))).astype(
            np.float32
        )
        save(
            pairs.select("sentence1", "sentence2", similarity=pl.Series(scores)),
            folder / f"{name}.{form}",
            form,
        )
    distinct = pl.concat([pairs["sentence1"], pairs["sentence2"]]).n_unique()
    print(f"{len(pairs):,} pairs, {distinct:,} sentences")


def save(frame: pl.DataFrame, path: Path, form: str) -> None:
    """Write a table as parquet or as TSV."""
    if form == "parquet":
        frame.write_parquet(path)
    else:
        frame.write_csv(path, separator="\t", quote_style="never")


def run(checkout: Path, folder: Path, home: Path, form: str) -> Used:
    """Compare the files in FOLDER with the package of CHECKOUT, whose caches are in HOME."""
    words = [
        "compare",
        *(f"scores:{folder / name}.{form}" for name in MODELS),
        "--task",
        str(folder / f"pairs.{form}"),
        "--json",
    ]
    homes = {f"XDG_{kind}_HOME": str(home) for kind in ("CACHE", "STATE", "CONFIG", "DATA")}
    environment = {
        **os.environ,
        **homes,
        "EMBEDLAB_CACHE": str(home / "cache"),
        "PYTHONPATH": str(checkout),
    }
    started = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "embedlab", *words],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    output, errors = process.stdout.read(), process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{shlex.join(words)} failed:\n{errors[-2000:]}")
    return Used(
        peak_mib=usage.ru_maxrss / 1024,
        processor_s=usage.ru_utime + usage.ru_stime,
        wall_s=time.perf_counter() - started,
        output=output,
    )


def main() -> None:
    """Make the files and measure each side twice."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pairs", type=int, default=1_000_000)
    parser.add_argument("--before", type=Path)
    parser.add_argument("--form", choices=("parquet", "tsv"), default="parquet")
    parser.add_argument("--name", default="many-pairs", help="of the file in results/")
    options = parser.parse_args()
    sides = {**({"before": options.before.absolute()} if options.before else {}), "today": ROOT}
    rows, outputs = [], {}
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        make(folder, options.pairs, options.form)
        for side, checkout in sides.items():
            for turn in ("nothing stored", "scores stored"):
                used = run(checkout, folder, folder / side, options.form)
                rows.append(
                    [
                        side,
                        turn,
                        f"{used.peak_mib:,.0f} MiB",
                        f"{used.processor_s:.1f} s",
                        f"{used.wall_s:.1f} s",
                    ]
                )
                outputs[side] = used.output
                print(*rows[-1], flush=True)
    notes = [f"{options.pairs:,} made pairs, two score files, {options.form}"]
    if len(outputs) > 1:
        notes.append(
            "the JSON of both sides is equal"
            if outputs["before"] == outputs["today"]
            else "the JSON of both sides differs"
        )
    columns = ("commit", "found", "peak memory", "processor time", "wall time")
    write_table(
        options.name,
        "Comparing two score files over very many pairs",
        columns,
        rows,
        packages=["embedlab", "numpy", "polars", "scipy"],
        notes=notes,
    )


if __name__ == "__main__":
    main()
