"""Kinds of faults in files of one's own, each with several instances: what is read, or refused with
a hint that works when it is typed.
"""

import json
import re
from collections.abc import Sequence
from pathlib import Path

import polars as pl
import pytest

from embedlab.core.errors import EmbedlabError
from embedlab.data.own_columns import own_data

ROWS = 24
FIRST = [f"the {('cat', 'dog', 'cow')[row % 3]} number {row} sat on a mat" for row in range(ROWS)]
SECOND = [f"a {('feline', 'hound', 'ox')[row % 3]} of {row} was resting" for row in range(ROWS)]
NLI = [("entailment", "neutral", "contradiction")[row % 3] for row in range(ROWS)]
TYPED = re.compile(r"'(own\.\w+\?[^']+)'")


def _cycled(*values: object) -> list[object]:
    return [values[row % len(values)] for row in range(ROWS)]


def _table(
    header: Sequence[str], *columns: Sequence[object], sep: str = ",", ending: str = "csv"
) -> tuple[str, str]:
    lines = [sep.join(header), *(sep.join(map(str, row)) for row in zip(*columns, strict=True))]
    return f"own.{ending}", "\n".join(lines) + "\n"


def _lines(**columns: Sequence[object]) -> tuple[str, str]:
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    return "own.jsonl", "".join(json.dumps(row) + "\n" for row in rows)


def _parquet(**columns: object) -> tuple[str, pl.DataFrame]:
    return "own.parquet", pl.DataFrame(columns)


def _nli(label: Sequence[object], name: str = "label") -> tuple[str, str]:
    return _table(["premise", "hypothesis", name], FIRST, SECOND, label)


def _pairs(third: str, values: Sequence[object]) -> tuple[str, str]:
    return _table(["sentence1", "sentence2", third], FIRST, SECOND, values)


READ = {
    "names in Japanese": (_table(["質問", "回答"], FIRST, SECOND), "pairs of anchor"),
    "names in Hindi": (_table(["प्रश्न", "उत्तर"], FIRST, SECOND), "pairs of anchor"),
    "Excel says the separator": (
        ("own.csv", f"sep=|\n{_table(['s1', 's2', 'score'], FIRST, SECOND, range(ROWS), sep='|')[1]}"),
        "scored pairs",
    ),
    "bars": (_table(["premise", "hypothesis", "label"], FIRST, SECOND, NLI, sep="|"), "labelled"),
    "semicolons": (_table(["premise", "hypothesis", "label"], FIRST, SECOND, NLI, sep=";"), "labelled"),
    "bytes that are UTF-8": (
        _parquet(anchor=FIRST, positive=[text.encode() for text in SECOND]),
        "pairs of anchor",
    ),
    "categories": (
        _parquet(premise=FIRST, hypothesis=SECOND, label=pl.Series(NLI, dtype=pl.Categorical)),
        "labelled",
    ),
    "decimals": (
        _parquet(s1=FIRST, s2=SECOND, score=pl.Series(range(ROWS)).cast(pl.Decimal(9, 2))),
        "scored pairs",
    ),
    "a list of answers": (_lines(question=FIRST, answers=[[t, t + "!"] for t in SECOND]), "48 pairs"),
    "lists of a fixed length": (
        _parquet(
            anchor=FIRST,
            positive=[[text] for text in SECOND],
            negative=pl.Series([[t + "?", t + "!"] for t in SECOND], dtype=pl.Array(pl.String, 2)),
        ),
        "48 triplets",
    ),
    "lists that lack some": (
        _lines(anchor=FIRST, positive=_cycled(None, ["one"], ["two"])),
        "16 pairs",
    ),
    "labels in capitals": (_nli([label.upper() for label in NLI]), "labelled"),
    "blank labels": (_nli(_cycled("entailment", "neutral", "contradiction", "")), "18 labelled"),
}  # fmt: skip


@pytest.mark.parametrize("name", READ)
def test_a_column_of_any_script_and_type_is_read_as_what_it_is(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (file, content), says = READ[name]
    assert says in _said(file, content, tmp_path, monkeypatch)


REFUSED = {
    "labels in Japanese": (_table(["前提", "仮説", "ラベル"], FIRST, SECOND, NLI), "may be their label"),
    "labels in Arabic": (_nli(NLI, "تصنيف"), "may be their label"),
    "a sign as a name": (_nli(NLI, "✅"), "may be their label"),
    "labels called topic": (_nli(NLI, "topic"), "may be their label"),
    "labels called category": (_nli(NLI, "category"), "may be their label"),
    "carets": (_table(["premise", "hypothesis", "label"], FIRST, SECOND, NLI, sep="^"), "separated by '^'"),
    "tildes": (_table(["premise", "hypothesis", "label"], FIRST, SECOND, NLI, sep="~"), "separated by '~'"),
    "unit separators": (_table(["a", "b", "c"], FIRST, SECOND, NLI, sep="\x1f"), "separated by"),
    "blanks": (
        _table(["s1", "s2", "label"], *([t.replace(" ", "_") for t in c] for c in (FIRST, SECOND, NLI)), sep=" "),
        "separated by ' '",
    ),
    "two bars": (_table(["s1", "s2", "label"], FIRST, SECOND, NLI, sep="||"), "line 1"),
    "semicolons in a .tsv": (_table(["a", "b"], FIRST, SECOND, sep=";", ending="tsv"), "separated by"),
    "commas in a .txt": (_table(["s1", "s2"], FIRST, SECOND, ending="txt"), "2 fields"),
    "UTF-16": (("own.csv", _nli(NLI)[1].encode("utf-16")), "UTF-16"),
    "Latin-1": (("own.csv", _nli(NLI, "étiquette")[1].encode("latin-1")), "not UTF-8"),
    "is_test": (_table(["anchor", "positive", "is_test"], FIRST, SECOND, _cycled(0, 0, 1)), "which split"),
    "is_train in words": (_pairs("is_train", _cycled("True", "False")), "which split"),
    "folds": (_pairs("fold", _cycled(0, 1, 2)), "which split"),
    "splits by any name": (_pairs("Datenteil", _cycled("train", "TEST")), "which split"),
    "lists in a CSV": (
        ("own.csv", "anchor,positive\n" + "".join(f"{a},\"['{b}', 'x']\"\n" for a, b in zip(FIRST, SECOND, strict=True))),
        "lists written as text",
    ),
    "JSON in a CSV": (
        ("own.csv", "anchor,positive\n" + "".join(f'{a},"[""{b}""]"\n' for a, b in zip(FIRST, SECOND, strict=True))),
        "lists written as text",
    ),
    "tables as positives": (_lines(query=FIRST, positive=[{"text": t} for t in SECOND]), "not a text"),
    "numbers as positives": (_lines(anchor=FIRST, positive=list(range(ROWS))), "not a text"),
    "labels in lists": (_parquet(premise=FIRST, hypothesis=SECOND, label=[[n] for n in NLI]), "holds lists"),
    "bytes that are not text": (
        _parquet(anchor=FIRST, positive=[t.encode("utf-16") for t in SECOND]),
        "positive holds lists, tables or bytes",
    ),
    "a column without values": (_parquet(anchor=FIRST, positive=SECOND, negative=[None] * ROWS), "empty in every"),
    "labels of one's own": (_nli(_cycled("Folgerung", "neutral", "Widerspruch")), "none of entailment"),
    "support and refute": (_nli(_cycled("SUPPORTS", "REFUTES", "NEI")), "none of entailment"),
    "related or not": (_nli(_cycled("related", "unrelated")), "none of entailment"),
    "not as a word": (_nli(_cycled("same", "not same")), "none of entailment"),
    "letters": (_nli(_cycled("E", "N", "C")), "C:contradiction,E:entailment,N:neutral"),
    "hub's NLI with NaN": (_nli(_cycled("0", "1", "2", "NaN")), "2:contradiction&drop=label:NaN"),
    "None as a label": (_nli(_cycled(*NLI[:3], "None")), "drop=label:None"),
    "99 as a label": (_nli(_cycled(0, 1, 2, 99)), "99:MEANING"),
    "one and minus one": (_nli(_cycled(1, -1)), "labels=-1:MEANING,1:MEANING"),
    "one to three": (_nli(_cycled(1, 2, 3)), "labels=1:MEANING,2:MEANING,3:MEANING"),
    "yes and no": (_nli(_cycled("yes", "no")), "labels=no:contradiction,yes:entailment"),
    "the opposite of a score": (_pairs("is_different", _cycled(0, 1)), "labels=0:MEANING,1:MEANING"),
    "a distance": (_pairs("distance", [row / ROWS for row in range(ROWS)]), "opposite of their score"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_may_mean_something_else_is_refused_and_no_hint_ends_so_again(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (file, content), says = REFUSED[name]
    said = _said(file, content, tmp_path, monkeypatch)
    assert says in said
    assert said.startswith("refused: ")
    for typed in TYPED.findall(said):
        if "NAME" not in typed and "MEANING" not in typed:
            assert _detected(typed).partition(" | ")[0] != said.partition(" | ")[0], typed


def _said(
    file: str, content: str | bytes | pl.DataFrame, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> str:
    monkeypatch.chdir(folder)
    if isinstance(content, pl.DataFrame):
        content.write_parquet(file)
    else:
        Path(file).write_bytes(content.encode() if isinstance(content, str) else content)
    return _detected(file)


def _detected(name: str) -> str:
    """Return what a file holds as it is shown, or the error with its hint."""
    try:
        return "\n".join(own_data(name).lines())
    except EmbedlabError as error:
        return f"refused: {error.message} | {error.hint}"
