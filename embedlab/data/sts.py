"""Semantic textual similarity: STS12–16, STS Benchmark and SICK relatedness.

Columns: sentence1, sentence2, gold, source. The row is the pair's id. A pair with a blank gold score was not scored; it is skipped
and counted. STS12–16 pairs are in the order of their sources below, and within a source in the order of the file.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import polars as pl

from embedlab.core.errors import MissingError
from embedlab.data.dataset import Dataset, Expected, FileLayout, HubSource, ParsedRows, Split
from embedlab.data.text_file import bad_line, read_fields, read_lines, read_numbers

_COLUMNS = ("sentence1", "sentence2", "gold", "source")
_BLANK = "blank gold score"

STS_YEARS = ("sts12", "sts13", "sts14", "sts15", "sts16")
STS_AVERAGES: Mapping[str, tuple[str, ...]] = {"sts12-16": STS_YEARS, "average of seven": (*STS_YEARS, "sts-benchmark", "sick-r")}


def read_year(paths: Sequence[Path], *, sources: Sequence[str | None], fields: Sequence[int] = (2,)) -> ParsedRows:
    """Return the pairs of a year's STS.input and STS.gs files, two per source, in the order of SOURCES; a source None is unknown.

    FIELDS are the numbers of fields that a pair may have: the official text of 2016 names the origins of both sentences too.
    """
    parts = [_read_source(paths[2 * at], paths[2 * at + 1], source, fields) for at, source in enumerate(sources)]
    return _scored(pl.concat(parts))


def write_year(frame: pl.DataFrame) -> tuple[str, ...]:
    """Return the text of one STS.input and one STS.gs file for pairs of unknown sources."""
    return _tsv(frame.select("sentence1", "sentence2")), _tsv(frame.select("gold"))


def _read_source(input_path: Path, gold_path: Path, source: str | None, fields: Sequence[int]) -> pl.DataFrame:
    pairs = read_fields(input_path, (0, 1), line_shape="two sentences", fields=fields).rename({"0": "sentence1", "1": "sentence2"})
    gold = pl.Series(read_lines(gold_path))
    if len(pairs) != len(gold):
        raise MissingError(
            f"{input_path} has {len(pairs):,} pairs but {gold_path} has {len(gold):,} scores",
            hint="get both files again: they belong together",
        )
    return pairs.with_columns(
        read_numbers(gold_path, gold, pairs["line"], 0, 5, "gold score").alias("gold"), pl.lit(source, pl.String).alias("source")
    )


def read_benchmark(paths: Sequence[Path]) -> ParsedRows:
    """Return pairs of an STS Benchmark file: genre, file, year, id, score, two sentences and optional licences; the source is the file."""
    (path,) = paths
    names = {"1": "source", "4": "gold", "5": "sentence1", "6": "sentence2"}
    frame = read_fields(path, (1, 4, 5, 6), line_shape="a pair", fields=(7, 9)).rename(names)
    for number, line in enumerate(read_lines(path), 1):
        if any("http" not in licence for licence in line.split("\t")[7:]):  # two tabs within sentences make nine fields too
            raise bad_line(path, number, "its last two of 9 fields are not licences with their addresses")
    return _scored(frame.with_columns(read_numbers(path, frame["gold"], frame["line"], 0, 5, "gold score").alias("gold")))


def read_glue_benchmark(paths: Sequence[Path]) -> ParsedRows:
    """Return the pairs of STS Benchmark in GLUE's format: with a header; the test file without scores is not read."""
    (path,) = paths
    columns = ("filename", "score", "sentence1", "sentence2")
    frame = read_fields(path, columns, line_shape=", ".join(columns)).rename({"filename": "source"})
    return _scored(frame.with_columns(read_numbers(path, frame["score"], frame["line"], 0, 5, "gold score").alias("gold")))


def write_benchmark(frame: pl.DataFrame) -> tuple[str, ...]:
    """Return the text of a file that `read_benchmark` reads back; genre, year and id are not saved."""
    blank = pl.lit("")
    return (_tsv(frame.select(blank.alias("genre"), "source", blank.alias("year"), blank.alias("id"), "gold", "sentence1", "sentence2")),)


def read_sick(paths: Sequence[Path]) -> ParsedRows:
    """Return the pairs of a SICK file with their relatedness from 1 to 5; SICK has no sources."""
    (path,) = paths
    header = {"sentence_A": "sentence1", "sentence_B": "sentence2", "relatedness_score": "gold"}
    frame = read_fields(path, list(header), line_shape="pair_ID, sentence_A, sentence_B, relatedness_score, entailment_judgment").rename(
        header
    )
    gold = read_numbers(path, frame["gold"], frame["line"], 1, 5, "relatedness score").alias("gold")
    return _scored(frame.with_columns(gold, pl.lit("SICK").alias("source")))


def _scored(frame: pl.DataFrame) -> ParsedRows:
    scored = frame.select(_COLUMNS).drop_nulls("gold")
    blank = len(frame) - len(scored)
    return ParsedRows(frame=scored, skipped={_BLANK: blank} if blank else {})


def _tsv(frame: pl.DataFrame) -> str:
    """Return lines of tab-separated fields without quoting, as in the corpora: a tab or line end inside a sentence becomes a blank."""
    plain = frame.with_columns(pl.col(pl.String).str.replace_all(r"[\t\r\n]+", " "))
    return plain.write_csv(separator="\t", include_header=False, quote_style="never")


OFFICIAL_FOLDER = "STS"
# The official text comes first; SentEval's copy is tokenised and lower-cased. Its STS16 files lack the prefix of the official ones.
_STS_FOLDERS = (OFFICIAL_FOLDER, "SentEval/downstream/STS")
_YEARS: Mapping[str, Mapping[str, int]] = {
    "12": {"MSRpar": 750, "MSRvid": 750, "SMTeuroparl": 459, "surprise.OnWN": 750, "surprise.SMTnews": 399},
    "13": {"FNWN": 189, "headlines": 750, "OnWN": 561},  # SMT may not be redistributed, and no paper's STS13 includes it
    "14": {"deft-forum": 450, "deft-news": 300, "headlines": 750, "images": 750, "OnWN": 750, "tweet-news": 750},
    "15": {"answers-forums": 375, "answers-students": 750, "belief": 375, "headlines": 750, "images": 750},
    "16": {"answer-answer": 254, "headlines": 249, "plagiarism": 230, "postediting": 244, "question-question": 209},
}
_YEAR_REVISIONS = {
    "12": "a0d554a64d88156834ff5ae9920b964011b16384",
    "13": "7e90230a92c190f1bf69ae9002b8cea547a64cca",
    "14": "6031580fec1f6af667f0bd2da0a551cf4f0b2375",
    "15": "ae752c7c21bf194d8b67fd573edf7ae58183cbe3",
    "16": "4d8694f8f0e0100860b497b999b3dbed754a0513",
}
_PAIR_COLUMNS = {"sentence1": "sentence1", "sentence2": "sentence2", "gold": "score"}


def _year_files(folder: str, prefix: str, sources: Sequence[str]) -> tuple[str, ...]:
    return tuple(f"{folder}/{prefix}.{kind}.{source}.txt" for source in sources for kind in ("input", "gs"))


def _year(year: str) -> Dataset:
    sources = list(_YEARS[year])
    prefixes = ("STS2016", "STS") if year == "16" else ("STS",)
    places = [(f"{folder}/STS{year}-en-test", prefix) for folder in _STS_FOLDERS for prefix in prefixes]
    known = [
        FileLayout(
            files=_year_files(*location, sources), read=partial(read_year, sources=sources, fields=(4,) if "2016" in location[1] else (2,))
        )
        for location in places
    ]
    # What `data get` writes: the hub's copies do not name the sources.
    unknown = FileLayout(
        files=_year_files(f"{OFFICIAL_FOLDER}/STS{year}-en-test", "STS", ["ALL"]), read=partial(read_year, sources=[None]), write=write_year
    )
    split = Split(
        layouts=(*known, unknown),
        expected=Expected(rows=sum(_YEARS[year].values()), classes=_YEARS[year]),
        hub=HubSource(repository=f"mteb/sts{year}-sts", revision=_YEAR_REVISIONS[year], split="test", columns=_PAIR_COLUMNS),
    )
    return Dataset(
        name=f"sts{year}",
        kind="sts",
        summary=f"SemEval 20{year} semantic textual similarity: {', '.join(sources)}",
        home="http://ixa2.si.ehu.eus/stswiki",
        mteb=f"STS{year}",
        splits={"test": split},
    )


def _benchmark(split: str, hub_split: str, classes: Mapping[str, int]) -> Split:
    hub = HubSource(
        repository="mteb/stsbenchmark-sts",
        revision="b0fddb56ed78048fa8b90373c8a3cfc37b684831",
        split=hub_split,
        columns={**_PAIR_COLUMNS, "source": "dataset"},
    )
    layouts = [
        FileLayout(files=(f"{folder}/STSBenchmark/sts-{split}.csv",), read=read_benchmark, write=write_benchmark) for folder in _STS_FOLDERS
    ]
    if split != "test":
        layouts.append(FileLayout(files=(f"GLUE/STS-B/{split}.tsv",), read=read_glue_benchmark))
    return Split(layouts=tuple(layouts), expected=Expected(rows=sum(classes.values()), classes=classes), hub=hub)


def _sick(file: str, rows: int) -> Split:
    layouts = tuple(FileLayout(files=(f"{folder}/{file}",), read=read_sick) for folder in ("SICK", "SentEval/downstream/SICK"))
    return Split(layouts=layouts, expected=Expected(rows=rows, classes={"SICK": rows}))


_BENCHMARK_TRAIN = {"MSRpar": 1000, "MSRvid": 1000, "deft-forum": 450, "deft-news": 300, "headlines": 1999, "images": 1000}
_BENCHMARK_DEV = {"MSRpar": 250, "MSRvid": 250, "answers-forums": 375, "headlines": 250, "images": 250, "track5.en-en": 125}
_BENCHMARK_TEST = {"MSRpar": 250, "MSRvid": 250, "answer-answer": 254, "headlines": 250, "images": 250, "track5.en-en": 125}

DATASETS = (
    *(_year(year) for year in _YEARS),
    Dataset(
        name="sts-benchmark",
        kind="sts",
        summary="STS Benchmark: a selection of SemEval pairs 2012–17 in three splits (Cer 2017)",
        home="http://ixa2.si.ehu.eus/stswiki",
        mteb="STSBenchmark",
        splits={
            "train": _benchmark("train", "train", _BENCHMARK_TRAIN),
            "dev": _benchmark("dev", "validation", _BENCHMARK_DEV),
            "test": _benchmark("test", "test", _BENCHMARK_TEST),
        },
    ),
    Dataset(
        name="sick-r",
        kind="sts",
        summary="SICK relatedness: sentences involving compositional knowledge, gold from 1 to 5 (Marelli 2014)",
        home="https://zenodo.org/records/2787612",
        gold_range=(1.0, 5.0),
        # No hub: MTEB's copy is all 9,927 pairs in one split, which is not the test split of 4,927 that the papers score.
        splits={
            "train": _sick("SICK_train.txt", 4_500),
            "dev": _sick("SICK_trial.txt", 500),
            "test": _sick("SICK_test_annotated.txt", 4_927),
        },
    ),
)
