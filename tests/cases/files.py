"""Inputs about data of one's own and corpora."""

import shlex

from tests.cases.runner import Case


def _trained(name: str, typed: str, *says: str, code: int = 0, never: tuple[str, ...] = ()) -> Case:
    """Return the row of a file that is planned to be trained on."""
    return Case(
        name=name,
        command=f"embedlab train {shlex.quote(typed)} --encoder minilm --dry-run",
        code=code,
        says=says,
        never=never,
    )


_LABELS = "labels=0:entailment,1:neutral,2:contradiction"
_DAMAGE = """
import gzip, pathlib
folder = pathlib.Path("dd/multi30k_captions")
folder.mkdir(parents=True)
content = bytearray(gzip.compress(b"a cat sleeps\\n" * 900))
content[12] ^= 255
for number in range(1, 6):
    (folder / f"test_2016.{number}.en.gz").write_bytes(content)
"""
CASES = (
    _trained("binary-anchor", "p12_binary.parquet", "60 pairs of anchor and positive"),
    _trained("list-positive", "q09_poslist.jsonl", "60 pairs of anchor", "a row for each text of"),
    _trained("list-positive", "j01_intern.jsonl", "60 triplets: anchor = query, positive = pos"),
    _trained("list-positive", "p04_list.parquet", "120 triplets", "each text of pos and of neg"),
    _trained("list-crash", "q04_neglist.parquet", "60 triplets"),
    _trained("list-crash", "q01_scorelist.parquet", "score holds lists, tables or bytes", code=3),
    _trained("non-ascii-label", "n06_label.csv", "'标签' may be their label", code=2),
    _trained("non-ascii-two", "n01_ru.csv", "60 pairs", "anchor = вопрос, positive = ответ"),
    _trained("non-ascii-two", "n03_zh.csv", "'分数' may be their score", code=2),
    _trained("pipe-csv", "q14_pipe3.csv", "60 labelled pairs"),
    _trained("pipe-csv", "t11_pipe.csv", "60 scored pairs"),
    _trained("split-column", "q29_splitcol.csv", "'q29_splitcol.csv?where=split:train'", code=2),
    _trained("split-column", "q29_splitcol.csv?where=split:train", "48 pairs of anchor"),
    _trained("reversed-hint", "c14_twoclass.csv", code=2, never=("not_entailment:entailment",)),
    _trained("reversed-hint", "q16_onehot.csv", "c:contradiction,e:entailment,n:neutral", code=2),
    _trained("minus-one-label", "c11_minus1.csv", f"&{_LABELS}&drop=label:-1'", code=2),
    _trained(
        "minus-one-label", f"c11_minus1.csv?label=label&{_LABELS}&drop=label:-1", "labelled pairs"
    ),
    _trained("minus-one-label", "c12_dash.csv", "54 labelled pairs", "6 blank label at c12_dash"),
    _trained("minus-one-label", "p05_labels.parquet", f"&{_LABELS}&drop=label:-1'", code=2),
    _trained("null-column", "q07_s2null.parquet", "sentence2 is empty in every row", code=3),
    _trained("odd-csv", "t04_cr.csv", "60 pairs of anchor and positive"),
    _trained("odd-csv", "t15_sep.csv", "60 scored pairs"),
    *(
        Case(
            name="file-kind-hint",
            command=f"embedlab evaluate dice {file}",
            code=2,
            says=["rows to evaluate on are in .tsv .csv .jsonl .parquet files"],
            never=["word-vectors:", "mteb:"],
        )
        for file in ("sick.txt", "arr.json")
    ),
    Case(
        name="file-kind-hint",
        command="embedlab evaluate dice bom.csv.gz",
        code=2,
        says=["it is compressed by gzip: unpack it"],
    ),
    *(
        Case(
            name="git-lfs-pointer",
            command=f"embedlab evaluate dice {file}",
            code=3,
            says=["is a git-lfs pointer", "git lfs pull"],
        )
        for file in ("lfs.csv", "lfs.parquet")
    ),
    Case(
        name="empty-sentence",
        command="embedlab evaluate dice emp2.tsv",
        says=["1 pair left out, empty sentence2 at emp2.tsv:2"],
    ),
    Case(
        name="empty-sentence",
        command="embedlab evaluate dice miss.tsv",
        says=["1 pair left out, blank score at miss.tsv:3"],
    ),
    Case(
        name="beir-missing-ids",
        command="embedlab evaluate dice --task ./nodoc --notes",
        says=["1 relevant document is not in corpus.jsonl and never found (test.tsv:6)"],
    ),
    Case(
        name="beir-missing-ids",
        command="embedlab evaluate dice --task ./noquery --notes",
        says=["query that is not in queries.jsonl (test.tsv:6): 1 skipped"],
    ),
    Case(
        name="beir-missing-ids",
        command="embedlab evaluate dice --task ./samelinetwice --notes",
        says=["1 repeated line, read once (test.tsv)"],
    ),
    Case(
        name="qrels-float-grade",
        command="embedlab evaluate minilm --task ./b16",
        says=["100.00"],
    ),
    Case(
        name="corpus-duplicate-text",
        command="embedlab evaluate minilm --task ./b21 --notes",
        says=["the best possible ndcg@10 is 87.70"],
    ),
    Case(
        name="corpus-duplicate-text",
        command="embedlab data check ./b21",
        says=["1 document has the text of another"],
    ),
    Case(
        name="captions-gz",
        command=f"python -c {shlex.quote(_DAMAGE)}; embedlab data check captions --data dd",
        code=3,
        says=["test_2016.1.en.gz", "is not a gzipped text"],
        in_shell=True,
    ),
    Case(
        name="dash-sentence",
        command="embedlab score '-5 degrees outside' 'It is cold.' -m dice",
        code=2,
        says=["embedlab score -m dice -- '-5 degrees outside' 'It is cold.'"],
    ),
    Case(
        name="dash-sentence",
        command="embedlab score -m dice -- '-5 degrees outside' 'It is cold.'",
    ),
)
