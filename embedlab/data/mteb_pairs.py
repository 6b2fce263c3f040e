"""Scored pairs that mteb publishes on the hub: STS Benchmark without its leaks, STS17, STS22, SemRel24 and BIOSSES.

Columns: sentence1, sentence2, gold, source: the languages of STS17 and STS22, otherwise unknown. Repositories, revisions, configurations
and counts are those that mteb 2.26 states in its tasks and descriptive statistics; none of these files was at hand when this was written.
A data folder has one JSON object a line, with sentence1, sentence2, score and source: what `data get` writes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import polars as pl

from embedlab.data.dataset import Dataset, Expected, FileLayout, HubSource, ParsedRows, Split
from embedlab.data.pair_file import scored_pairs
from embedlab.data.row_file import read_rows

_COLUMNS = {"sentence1": "sentence1", "sentence2": "sentence2", "gold": "score"}
_LANGUAGE = "lang"  # column of repositories with rows in several languages

# Pairs of each language, or of two.
_STS17: Mapping[str, int] = {
    **{"ar-ar": 250, "en-ar": 250, "en-de": 250, "en-en": 250, "en-tr": 250, "es-en": 250, "es-es": 250, "fr-en": 250},
    **{"it-en": 250, "ko-ko": 2846, "nl-en": 250},
}
_STS22: Mapping[str, int] = {
    **{"ar": 193, "de": 514, "de-en": 158, "de-fr": 74, "de-pl": 28, "en": 197, "es": 200, "es-en": 365, "es-it": 212, "fr": 101},
    **{"fr-pl": 8, "it": 407, "pl": 182, "pl-en": 48, "ru": 265, "tr": 208, "zh": 637, "zh-en": 161},
}


def read_json_pairs(paths: Sequence[Path], *, scale: tuple[float, float], language: str | None = None) -> ParsedRows:
    """Return the pairs of a file of JSON lines, those of one LANGUAGE where it is named; a score outside SCALE is an error at its line."""
    (path,) = paths
    rows = scored_pairs(path, read_rows(path), scale=scale)
    return rows if language is None else ParsedRows(frame=rows.frame.filter(pl.col("source") == language), skipped=rows.skipped)


def write_pairs(frame: pl.DataFrame) -> tuple[str, ...]:
    """Return the text of a file that `read_pairs` reads back."""
    return (frame.rename({"gold": "score"}).write_ndjson(),)


def _split(
    folder: str,
    hub: HubSource,
    split: str,
    rows: int,
    scale: tuple[float, float],
    *,
    languages: Mapping[str, int] | None = None,
    whole: str | None = None,
) -> Split:
    """Return a split in a FOLDER, or in the folder WHOLE that has it among other languages."""
    layout = FileLayout(files=(f"{folder}/{split}.jsonl",), read=partial(read_json_pairs, scale=scale), write=write_pairs)
    language = next(iter(languages or {}), None)
    file_layout = FileLayout(files=(f"{whole}/{split}.jsonl",), read=partial(read_json_pairs, scale=scale, language=language))
    layouts = (layout,) if whole is None else (layout, file_layout)
    return Split(layouts=layouts, expected=Expected(rows=rows, classes=languages, empty=None), hub=hub)


def _hub(repository: str, revision: str, split: str = "test", *, config: str | None = None) -> HubSource:
    return HubSource(repository=f"mteb/{repository}", revision=revision, split=split, columns=_COLUMNS, config=config)


def _by_language(
    name: str,
    folder: str,
    summary: str,
    repository: str,
    revision: str,
    counts: Mapping[str, int],
    scale: tuple[float, float],
    english: str,
) -> tuple[Dataset, Dataset]:
    """Return a dataset whose sources are languages, and its ENGLISH pairs alone."""
    home = f"https://huggingface.co/datasets/mteb/{repository}"
    every = replace(_hub(repository, revision), columns={**_COLUMNS, "source": _LANGUAGE})
    hub_source = replace(every, where={_LANGUAGE: english})
    rows = counts[english]
    whole = _split(folder, every, "test", sum(counts.values()), scale, languages=counts)
    alone = _split(f"{folder}-en", hub_source, "test", rows, scale, languages={english: rows}, whole=folder)
    return (
        Dataset(name=name, kind="sts", summary=summary, home=home, gold_range=scale, splits={"test": whole}),
        Dataset(name=f"{name}-en", kind="sts", summary=f"the English pairs of {name}", home=home, gold_range=scale, splits={"test": alone}),
    )


def _alone(name: str, folder: str, summary: str, scale: tuple[float, float], rows: int, hub: HubSource) -> Dataset:
    home = f"https://huggingface.co/datasets/{hub.repository}"
    return Dataset(
        name=name, kind="sts", summary=summary, home=home, gold_range=scale, splits={"test": _split(folder, hub, "test", rows, scale)}
    )


_BENCHMARK = ("STSBenchmarkv2", "93b628c3969a75e76727db2b7ee252e53e96268d")

DATASETS = (
    Dataset(
        name="sts-benchmark-v2",
        kind="sts",
        summary="STS Benchmark without the pairs of dev and test that occur twice or in another split (mteb's STSBenchmark.v2)",
        home=f"https://huggingface.co/datasets/mteb/{_BENCHMARK[0]}",
        splits={
            "dev": _split("STSBenchmark.v2", _hub(*_BENCHMARK, "validation"), "dev", 1_485, (0.0, 5.0)),
            "test": _split("STSBenchmark.v2", _hub(*_BENCHMARK), "test", 1_362, (0.0, 5.0)),
        },
    ),
    *_by_language(
        "sts17",
        "STS17",
        "SemEval 2017 pairs in one language or two, the source (Cer 2017)",
        "sts17-crosslingual-sts",
        "faeb762787bd10488a50c8b5be4a3b82e411949c",
        _STS17,
        (0.0, 5.0),
        "en-en",
    ),
    *_by_language(
        "sts22-v2",
        "STS22.v2",
        "SemEval 2022 news articles in one language or two, the source; no empty texts (mteb's STS22.v2; Chen 2022)",
        "sts22-crosslingual-sts",
        "d31f33a128469b20e357535c39b82fb3c3f6f2bd",
        _STS22,
        (1.0, 4.0),
        "en",
    ),
    _alone(
        "semrel24-en",
        "SemRel24-en",
        "SemRel 2024 relatedness of English sentences, gold from 0 to 1 (Ousidhoum 2024)",
        (0.0, 1.0),
        2_600,
        _hub("SemRel24STS", "f5146bf724c55899ca20502851dc98c5405b67f9", config="eng"),
    ),
    _alone(
        "biosses",
        "BIOSSES",
        "biomedical sentences, gold from 0 to 4 (Soğancıoğlu 2017)",
        (0.0, 4.0),
        100,
        _hub("biosses-sts", "d3fb88f8f02e40887cd149695127462bbcf29b4a"),
    ),
)
