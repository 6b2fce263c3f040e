"""What a user's own file holds, as it is detected: a line of a table is a file, its columns, and
what is said of it, or why it is refused and what to type.

L, R and N stand for columns of texts; U for names of rows; a|b repeats values; # numbers the rows
from 0; % is the number of the row by seven; a name may be quoted. A hint that is typed as it is
must not end by the same error.
"""

import ast
import re
import shlex
from datetime import date
from pathlib import Path

import polars as pl
import pytest

from embedlab.core.errors import EmbedlabError
from embedlab.data.file_name import is_row_file, parse_file_name, with_overrides
from embedlab.data.own_columns import own_data
from embedlab.data.score_scale import ScoreScale

ROWS = 24
TEXTS = {
    "L": [f"the {('cat', 'dog', 'cow')[row % 3]} number {row} sat on a mat" for row in range(ROWS)],
    "R": [f"a {('feline', 'hound', 'ox')[row % 3]} of {row} was resting" for row in range(ROWS)],
    "N": [f"no animal of {row} was there at all" for row in range(ROWS)],
    "Z": [f"第{row}只猫正在睡觉" for row in range(ROWS)],
    "U": [f"u-{row}" for row in range(ROWS)],
    "#": [*range(ROWS)],
    "%": [row % 7 / 7 for row in range(ROWS)],
}
TYPED = re.compile(r"'(own\.\w+\?[^']+)'")

DETECTED = """
# pairs of texts by names of any script, in any order
csv :: question=L answer=R :: 24 pairs of anchor and positive: anchor = question, positive = answer
csv :: answer=L question=R :: pairs of anchor and positive: anchor = question, positive = answer
csv :: 質問=L 回答=R :: pairs of anchor and positive: anchor = 質問, positive = 回答
csv :: x=L y=R :: anchor = x, positive = y
csv?positive=x :: x=L y=R :: anchor = y, positive = x
csv@positive=x :: x=L y=R :: anchor = y, positive = x
csv :: sent1=L sent0=R :: anchor = sent0, positive = sent1
csv :: question=L answer=yes|no :: anchor = question, positive = answer
csv :: ''=# sentence=L :: sentence = sentence; not read: column 1 (without a name)
tsv :: ''=# sentence=L :: sentence = sentence; not read: column 1 (without a name)
csv :: a=L b=R number=# :: 24 pairs of anchor and positive: anchor = a, positive = b; not read: number
csv :: ref=U query=L answer=R :: anchor = query, positive = answer; not read: ref
csv :: id=N a=L b=R year=2012|2013 split=train :: not read: id, year, split
csv?anchor=a&positive=b :: a=L b=R third=neutral|entailment :: pairs of anchor and positive
csv?source=third :: a=L b=R third=x|y :: 24 pairs of anchor and positive: anchor = a, positive = b
csv?where=set:train :: a=L b=R set=train|test :: pairs of anchor and positive: anchor = a, positive = b; not read: set
csv?where=genre:x&where=set:train :: a=L b=R set=train|test genre=x|y|z :: 4 pairs of anchor and positive: anchor = a, positive = b; not read: set, genre
csv?where=fold:0 :: a=L b=R fold=0|1|2 :: pairs of anchor and positive: anchor = a, positive = b; not read: fold
# scored pairs, their scale, and numbers with a comma
csv :: 'Text A'=L 'Text B'=R 'Human score'=0|2.5|5 :: scores from 0 to 5 on a scale from 0 to 5
csv :: frage=L antwort=R similarity=% :: 24 scored pairs: s1 = frage, s2 = antwort, score = similarity
csv :: s1=L s2=R label=0.5|1|2 :: scored pairs: s1 = s1, s2 = s2, score = label
csv sep=; :: s1=L s2=R score=0,5|3,5 :: scores from 0.5 to 3.5 on a scale from 0 to 5
csv?score=label :: s1=L s2=R label=0|1|2 :: scored pairs
csv :: q1=L q2=R is_duplicate=0|1 :: scored pairs: s1 = q1, s2 = q2, score = is_duplicate
csv?scale=0-2 :: s1=L s2=R label=0|1|2 :: scored pairs
csv?scale=0-5&low-scores :: s1=L s2=R score=0.1|0.9 :: scores from 0.1 to 0.9 on a scale from 0 to 5
csv?scale=0-5 :: s1=L s2=R score=0|0 :: scores from 0 to 0 on a scale from 0 to 5
csv?scale=0-5 :: s1=L s2=R score=1|4.999999|5.000001 :: scores from 1 to 5 on a scale from 0 to 5
csv?scale=-5-5 :: s1=L s2=R score=-4.5|-0.5 :: scores from -4.5 to -0.5 on a scale from -5 to 5
csv?scale=0-1e-05 :: s1=L s2=R score=0|0.00001 :: scores from 0 to 1e-05 on a scale from 0 to 1e-05
# quotes around all texts
csv :: anchor="'a cat'|'a dog'" positive='“a cat”' :: each anchor and each positive is in quotes
csv :: anchor="'a cat'|a 'dog'" positive=L :: anchor = anchor, positive = positive\n
# texts that are words for a missing one
csv :: anchor=L positive='NA|a cat|null|N/A' :: the whole positive is 'NA', 'null', 'N/A' at own.csv:2, 4, 5…; if it means that there is none, leave it out with drop=positive:NA,null,N/A
csv?drop=positive:NA :: anchor=L positive='NA|a cat' :: positive = positive\n
csv :: 'a question'=L answer='None|a cat' :: leave it out with drop=answer:None
csv :: anchor=L positive='a NA cat|nano|none of it' :: positive = positive\n
csv :: ''=# s1=L s2=R score=% :: 0.8571 on a scale from 0 to 1; not read: column 1 (without a name)
# a question as a name, of numbers or beside another name
csv :: 'Satz A'=L 'Satz B'=R 'Wie ähnlich sind die beiden Sätze?'=0|2.5|5 :: may be their score, or
csv :: q1=L q2=R 'Is this pair a duplicate of it?'=no|yes :: may be their label, or say nothing
csv :: 'Question?'=L 'Answer?'=R :: 24 pairs of anchor and positive: anchor = Question?
# labelled pairs
csv :: a=L b=R gold_label=neutral|entailment|contradiction :: 24 labelled pairs
csv :: a=L b=R label=NEUTRAL|ENTAILMENT :: labels ENTAILMENT = entailment, NEUTRAL = neutral
csv :: a=L b=R label=neutral|- :: 12 labelled pairs: s1 = a, s2 = b, label = label; left out: 12 blank
csv?label=label&labels=0:neutral,1:entailment :: a=L b=R label=0|1 :: labels 0 = neutral, 1 = entail
csv?labels=0:neutral,1:entailment&drop=label:-1 :: a=L b=R label=0|1|-1 :: 16 labelled pairs
csv?where=part:x :: a=L b=R label=neutral|entailment part=x|x|y :: 16 labelled pairs
# triplets, sentences
csv :: negative=N query=L positive=R :: 24 triplets: anchor = query, positive = positive, negative
csv :: left=L right=R hard_negative=N :: 24 triplets: anchor = left, positive = right
csv?anchor=anchor&positive=positive :: anchor=L positive=R negative=N :: pairs of anchor
csv :: words=L :: 24 sentences: sentence = words
csv :: url=U words=L :: 24 sentences: sentence = words; not read: url
csv?sentence=text :: text=L label=good|bad :: 24 sentences: sentence = text
# texts that hold nothing that is seen
csv :: anchor=L positive=\u200b|猫が寝ている :: 12 pairs of anchor and positive: anchor = anchor, positive = positive; left out: 12 empty positive at own.csv:2, 4, 6…
tsv :: s1=\u2060\u00a0|x s2=R score=% :: 12 scored pairs: s1 = s1, s2 = s2, score = score; scores from 0 to 0.8571 on a scale from 0 to 1; left out: 12 empty s1
csv :: a=L b=R label=neutral|\u200b :: 12 labelled pairs: s1 = a, s2 = b, label = label; left out: 12 blank label
# separators that are read
csv sep=; :: premise=L hypothesis=R label=neutral|entailment :: labelled pairs
csv sep=| :: premise=L hypothesis=R label=neutral|entailment :: labelled pairs
tsv :: premise=L hypothesis=R label=neutral|entailment :: labelled pairs
"""

REFUSED = """
# a column that may be a label, a score, a split or another text
csv :: premise=L hypothesis=R 标签=entailment|contradiction :: '标签' may be their label
csv :: premise=L hypothesis=R ✅=entailment|contradiction :: '✅' may be their label
csv :: premise=L hypothesis=R topic=entailment|neutral :: 'topic' may be their label
csv :: premise=L hypothesis=R category=entailment|- :: 'category' may be their label
csv :: a=L b=R state=x|y :: own.csv?label=state' or 'own.csv?anchor=a&positive=b'
csv :: a=L b=R votes=3|8|1|9 :: own.csv?score=votes' or 'own.csv?anchor=a&positive=b'
csv :: a=L b=R is_different=0|1 :: labels=0:MEANING,1:MEANING
csv :: a=L b=R edit_distance=% :: may be the opposite of their score
csv?label=is_different :: a=L b=R is_different=yes|no :: labels=no:MEANING,yes:MEANING'
csv?label=mismatch :: a=L b=R mismatch=true|false :: false:MEANING,true:MEANING'
csv?label=irrelevant :: a=L b=R irrelevant=yes|no :: no:MEANING,yes:MEANING'
csv?label=contradiction :: a=L b=R contradiction=true|false :: false:MEANING,true:MEANING'
csv :: anchor=L positive=R split=test|test| :: own.csv?where=split:test' or 'own.csv?where=split:'
csv?labels=0:neutral&where=part:x :: a=L b=R label=0|1 part=x :: own.csv?label=label&labels=0:neutral,1:MEANING&where=part:x'
csv?where=part:x :: anchor=L positive=R part=x|y|z split=train|test :: own.csv?where=part:x&where=split:train'
csv?labels=0:neutral :: a=L b=R label=0|1|2 :: labels=0:neutral,1:MEANING,2:MEANING'
csv?labels=x:neutral :: sentence1=L sentence2=R score=0.5|1|2.5 :: anchor=sentence1&positive=sentence2' to leave
csv :: anchor=L positive=R is_test=0|0|1 :: 'is_test' says which split a row is in: 0 (16), 1 (8)
csv :: anchor=L positive=R in_train=True|False :: says which split
csv :: anchor=L positive=R fold=0|1|2 :: for all rows 'own.csv?where=fold:0,1,2'
csv :: anchor=L positive=R Teil=train|TEST|Val :: 'Teil' says which split
csv :: anchor=L positive=R filename=sts-train.csv|sts-test.csv :: 'filename' says which split
csv :: a=L b=R label=neutral|entailment phase='Training set|Test set' :: 'phase' says which split
csv :: a=L b=R label=neutral|entailment split=test part=train|dev :: 'part' says which split
csv :: s1=L s2=R score=% 分割=学習|評価 :: '分割' says which split
csv :: s1=L s2=R score=% часть=обучение|тест :: 'часть' says which split
csv :: s1=L s2=R score=% train_or_test=a|b :: 'train_or_test' says which split
csv :: s1=L s2=R score=% test=yes|no :: 'test' says which split
csv :: s1=L s2=R score=% validation=True|False :: 'validation' says which split
csv :: s1=L s2=R score=% 'dev set'=0|1 :: 'dev set' says which split
csv :: s1=L s2=R score=% cv_fold=0|1|2|3|4 :: 'cv_fold' says which split
csv :: a=L b=R c=N :: 3 columns of texts (a, b, c), whose names do not say
csv :: 问题=Z 答案=Z 错误=Z :: 3 columns of texts (问题, 答案, 错误)
csv :: source=L target=R :: 'source' may be their positive :: own.csv?sentence=target'
csv :: tags=N text=L :: 'tags' may be their positive
csv :: anchor=L positive=R topic=N :: 'topic' may be their negative
csv :: question=L query=R answer=N :: 'question', 'query' may each be the anchor
csv :: anchor=L positive=R why=N :: 'why' may be their negative
csv :: wort=L stars=3|5 :: 'stars' may be their score
csv :: wort=L mood=x|y :: 'mood' may be their label
csv :: anchor=L positive=R negative=N score=% :: 'score' is called a score, and triplets have none
csv :: title=N sentence1=L sentence2=R score=% :: 'title' is called a anchor, and scored pairs have
csv :: anchor=L positive=R negative_1=N negative_2=R :: may each be the negative
csv?s1=a&s2=b :: a=L b=R rating=% grade=% :: own.csv?s1=a&s2=b&score=rating' or 'own.csv?s1=a&s2=b
csv :: s1=L s2=R label=x|y score=% :: 'score' may be their score, and 'label' their label
csv :: text=L label=good|bad :: 'label' is called a label, and sentences have none :: own.csv?sentence=text' to leave 'label' out
csv :: sentence1=L score=% :: 'score' is called a score, and sentences have none :: own.csv?sentence=sentence1' to leave
csv?score=score :: text=L score=% :: 1 column of texts (text) :: own.csv?sentence=text'
csv?s1=a&s2=b :: a=L b=R c=N :: 'c' may be their negative :: own.csv?anchor=a&positive=b'
csv :: a=# b=# :: has no column of texts: found a, b
# labels whose meaning nobody said; one is offered where all are written as people write them
csv :: a=L b=R label=0|1|2 :: labels=0:entailment,1:neutral,2:contradiction'
csv :: a=L b=R label=0|1|2|-1 :: labels=0:entailment,1:neutral,2:contradiction&drop=label:-1'
csv :: a=L b=R label=0.0|1.0|2.0|-1.0 :: labels=0.0:entailment,1.0:neutral,2.0:contradiction&drop=label:-1.0'
csv :: a=L b=R is_different=0.0|1.0 :: labels=0.0:MEANING,1.0:MEANING
csv :: a=L b=R label=0|1|2|NaN :: 2:contradiction&drop=label:NaN'
csv :: a=L b=R label=0|1 :: own.csv?label=label&labels=0:contradiction,1:entailment'
csv :: a=L b=R label=0|1|2|99 :: ; a MEANING is one of entailment, neutral, contradiction :: labels=0:MEANING,1:MEANING,2:MEANING,99:MEANING'
csv :: a=L b=R label=1|-1 :: labels=-1:MEANING,1:MEANING'
csv :: a=L b=R label=1|0|-1 :: labels=-1:MEANING,0:MEANING,1:MEANING'
csv :: q1=L q2=R is_duplicate=1|0|-1 :: labels=0:contradiction,1:entailment&drop=is_duplicate:-1'
csv :: a=L b=R label=1|2|3|4|5|6|7 :: write 'own.csv?score=label'
csv :: q1=L q2=R is_duplicate=1|-1 :: labels=-1:MEANING,1:MEANING'
csv :: a=L b=R label=e|n|c :: labels=c:contradiction,e:entailment,n:neutral'
csv :: a=L b=R label=yes|no :: labels=no:contradiction,yes:entailment'
csv :: a=L b=R label=duplicate|not_duplicate :: duplicate:entailment,not_duplicate:contradiction'
csv :: a=L b=R label=similar|dissimilar :: dissimilar:contradiction,similar:entailment'
csv :: a=L b=R label=entailment|None :: drop=label:None'
csv :: a=L b=R label=entailment|not_entailment :: labels=not_entailment:MEANING'
csv :: a=L b=R label=same|other :: labels=other:MEANING,same:MEANING'
csv :: a=L b=R label=SUPPORTS|REFUTES|NEI :: REFUTES:MEANING,SUPPORTS:MEANING'
csv :: a=L b=R label=contradiction|negative :: labels=negative:MEANING'
csv?label=label&labels=a:MEANING :: a=L b=R label=a|b :: labels is 'a:MEANING' :: for example ?labels=0:entailment,1:neutral,2:contradiction
# a scale that the scores contradict
csv?scale=0-5 :: s1=L s2=R score=0.1|0.9 :: own.csv?scale=0-5&low-scores'
csv?scale=1-5 :: s1=L s2=R score=0.5|4.5 :: state their scale: scale=0-5
csv?scale=1-5 :: s1=L s2=R score=0|0 :: state their scale: scale=0-1
csv?scale=0-1 :: s1=L s2=R score=0.01|0.02 :: state their scale: scale=0-0.02; where
csv?scale=0-5&low-scores :: s1=L s2=R score=1|3 :: not all in the lower half :: remove low-scores
csv?scale=0-5 :: question=L answer=R :: which have no scores
csv?labels=0:neutral :: question=L answer=R :: pairs of anchor and positive, which have no labels
csv?source=url :: url=U words=L :: it holds sentences, which have no source :: remove source
# what the user says of a file
csv?s1=zzz :: a=L where=R :: has no column 'zzz': found a, where
csv?source=wher :: a=L where=R :: did you mean 'where'?
csv?s1=a&anchor=b :: a=L b=R :: s1, anchor are not parts of one kind of rows
csv?s1=a&s2=b&score=b :: a=L b=R score=% :: names the column 'b' for two parts
csv?drop=label:7 :: a=L b=R label=0|1 :: no row has '7' in label :: it has 0, 1
csv?drop=part:x,y :: a=L b=R part=x|y :: all rows are left out
csv?held-out=0.001 :: a=L b=R :: cannot hold out 0.1% of its 24 rows without separating rows that share a sentence: it takes 40 :: remove held-out
csv?where=none:x :: a=L b=R :: has no column 'none'
# values that no such part has, and first lines that are rows
csv :: text=L doc=1|2 :: 'doc' is called a positive, but holds numbers
csv :: 12=L b=R :: line 1: '12' is not the name of a column :: sentence1,sentence2,score
csv :: 'a man runs very fast'=L b=R :: is not the name of a column
csv :: 'who is it?'=L 'it is Poe'=R :: line 1: 'who is it?' is not the name of a column
tsv :: 'Duplicate?'=L 'is this one a duplicate?'=R :: 'is this one a duplicate?' is not the name of
csv :: premise=L hypothesis=R ''=neutral|entailment :: may be their label :: give each column a name
# separators that are not
csv sep=^ :: premise=L hypothesis=R label=neutral|entailment :: separated by '^'
csv sep=~ :: premise=L hypothesis=R label=neutral|entailment :: separated by '~'
tsv sep=; :: premise=L hypothesis=R :: separated by ';' :: call it own.csv
csv sep=\x1f :: premise=L hypothesis=R :: separated by :: by tabs and call it own.tsv
txt sep=^ :: anchor=L positive=R :: 2 fields with '^'
txt sep=, :: sentence1=L sentence2=R :: 2 fields with ','
txt sep=| :: sentence1=L sentence2=R :: 2 fields with '|'
txt sep=\t :: x=L y=R :: 2 fields with tabs
"""


FRAMES: dict[str, tuple[dict[str, object], str]] = {
    "bytes of text": ({"anchor": TEXTS["L"], "positive": [b"a b"] * ROWS}, "24 pairs of anchor"),
    "other bytes": (
        {"anchor": [b"\xff"] * ROWS, "positive": TEXTS["R"]},
        "refused: own.parquet, row 1: anchor holds bytes that are not UTF-8",
    ),
    "categories": (
        {"s1": TEXTS["L"], "s2": TEXTS["R"], "label": pl.Series(["neutral"] * ROWS).cast(pl.Enum(["neutral"]))},
        "24 labelled pairs",
    ),
    "decimals": (
        {"s1": TEXTS["L"], "s2": TEXTS["R"], "score": pl.Series(TEXTS["#"]).cast(pl.Decimal(9, 2))},
        "scores from 0 to 23 on a scale from 0 to 100",
    ),
    "tables alone": ({"pair": [{"en": "a b", "de": "c"}] * ROWS}, "pair holds lists, tables or bytes"),
    "scores with NaN": (
        {"s1": TEXTS["L"], "s2": TEXTS["R"], "score": [float("nan"), 4.0] * 12},
        "scores from 4 to 4 on a scale from 1 to 4; left out: 12 blank score at own.parquet:1, 3, 5…",
    ),
    "labels with NaN": (
        {"s1": TEXTS["L"], "s2": TEXTS["R"], "label": [float("nan"), 0.0, 1.0, 2.0] * 6},
        "own.parquet?label=label&labels=0:entailment,1:neutral,2:contradiction'",
    ),
    "dates": ({"anchor": [date(2020, 1, 1)] * ROWS, "positive": TEXTS["R"]}, "refused: own.parquet: anchor"),
    "nothing": ({"sentence1": TEXTS["L"], "sentence2": [None] * ROWS}, "sentence2 is empty in every row"),
    "numbers": ({"question": TEXTS["L"], "answer": TEXTS["#"]}, "'answer' is called a positive, but"),
    "lists of positives": (
        {"query": TEXTS["L"], "pos": [["a b", "c d"]] * ROWS},
        "48 pairs of anchor and positive: anchor = query, positive = pos; a row for each text of pos",
    ),
    "lists with holes": ({"query": TEXTS["L"], "pos": [["a b"], None] * 12}, "left out: 12 empty pos"),
    "lists of numbers beside lists of texts": (
        {"query": TEXTS["L"], "pos": [["a b"]] * ROWS, "neg": [["c d"]] * ROWS, "pos_scores": [[0.9]] * ROWS},
        "a row for each text of pos and of neg; not read: pos_scores",
    ),
    "arrays of negatives": (
        {"query": TEXTS["L"], "pos": TEXTS["R"], "neg": pl.Series([["a b", "c d"]] * ROWS, dtype=pl.Array(pl.String, 2))},
        "48 triplets",
    ),
    "lists of ratings": (
        {"s1": TEXTS["L"], "s2": TEXTS["R"], "ratings": [[0.5]] * ROWS},
        "'ratings' may be their score, in lists or tables, or say nothing about them | write 'own.parquet?anchor=s1&positive=s2'",
    ),
    "dates beside a text": (
        {"query": TEXTS["L"], "answer": [date(2020, 1, 1)] * ROWS},
        "answer holds values of the type Date, not texts or numbers | give one text or number a row",
    ),
    "lists as text": (
        {"anchor": TEXTS["L"], "positive": ["['a b', 'c d']"] * ROWS},
        "positive holds lists written as text: ['a b', 'c d']",
    ),
    "facts of any type": (
        {"query": TEXTS["L"], "doc": TEXTS["R"], "tags": [["x"]] * ROWS, "seen": [date(2020, 1, 1)] * ROWS},
        "24 pairs of anchor and positive: anchor = query, positive = doc; not read: tags, seen",
    ),
}  # fmt: skip


def _table(text: str) -> list[str]:
    return [line for line in text.splitlines() if line and not line.startswith("# ")]


def _detected(name: str) -> str:
    """Return what a file holds as it is shown, or the error with its hint."""
    try:
        return "\n".join(own_data(name).lines())
    except EmbedlabError as error:
        return f"refused: {error.message} | {error.hint or 1 / 0}"


def _written(line: str) -> tuple[str, list[str]]:
    """Write the file of a LINE to the working folder; return its name and what is said of it."""
    kind, columns, *expected = line.split(" :: ")
    kind, *separator = kind.split(" sep=")
    ending, options = re.fullmatch(r"(\w+)(.*)", kind).groups()  # type: ignore[union-attr]
    sign = ast.literal_eval(f'"{separator[0]}"') if separator else {"tsv": "\t"}.get(ending, ",")
    rows: dict[str, list[object]] = {}
    for column in shlex.split(columns):
        name, _, values = column.rpartition("=")
        some = [ast.literal_eval(f'"{each}"') for each in values.split("|")]
        rows[name] = TEXTS.get(values, [some[row % len(some)] for row in range(ROWS)])
    lines = [[*rows], *zip(*rows.values(), strict=True)]
    text = "".join(sign.join(map(str, row)) + "\n" for row in lines)
    Path(f"own.{ending}").write_text(text, encoding="utf-8")
    return f"own.{ending}{options}", expected


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    # no process tries each parquet file first, as tests/core/test_frame_files.py has it
    monkeypatch.setattr("embedlab.core.frame_files.output_of_module", lambda *_: (0, ""))


@pytest.mark.parametrize("line", _table(DETECTED))
def test_a_file_is_read_by_what_is_said_and_by_names_and_values(line: str) -> None:
    name, (expected,) = _written(line)
    said = _detected(name)
    assert expected.replace("\\n", "\n") in said
    if "refused" not in said and not own_data(name).file.held_out:
        again = own_data(own_data(name).explicit_name.text)  # with all that was detected
        assert (again.columns, again.labels) == (own_data(name).columns, own_data(name).labels)


@pytest.mark.parametrize("line", _table(REFUSED))
def test_what_may_mean_two_things_is_refused_and_no_hint_ends_so_again(line: str) -> None:
    name, expected = _written(line)
    said = _detected(name)
    assert said.startswith("refused: ")
    assert [text for text in expected if text not in said] == [], said
    for typed in TYPED.findall(said.partition(" | ")[2]):
        if "NAME" not in typed and "MEANING" not in typed:
            assert _detected(typed).partition(" | ")[0] != said.partition(" | ")[0], typed


@pytest.mark.parametrize("kind", FRAMES)
def test_a_column_with_the_name_of_a_part_is_that_part_or_the_file_is_refused(kind: str) -> None:
    columns, expected = FRAMES[kind]
    pl.DataFrame(columns).write_parquet("own.parquet")
    said = _detected("own.parquet")
    assert expected in said
    for typed in TYPED.findall(said.partition(" | ")[2]):
        assert "NAME" not in typed
        if "MEANING" not in typed:
            assert _detected(typed).partition(" | ")[0] != said.partition(" | ")[0], typed


JSON_LINES = {
    '{"query": "a b", "pos": ["c d", "e f"]}': "2 pairs of anchor and positive",
    '{"query": "a b", "pos": ["c d"], "neg": []}': "neg is empty in every row",
    '{"query": "a b", "pos": {"text": "c"}}': "line 1: 'pos' is {'text': 'c'}, not a text",
    '{"anchor": "a b", "positive": 5.10}': "line 1: 'positive' is 5.1, not a text",
    '{"anchor": ["a b"], "positive": "c d"}': "line 1: 'anchor' is ['a b'], not a text",
    '{"s1": "a b", "s2": "c d", "score": true}': "scores from 1 to 1 on a scale from 0 to 1",
    '["a b", "c d"]': "own.jsonl, line 1: a JSON array, not a JSON object | write one object a line",
    "[\n {": "own.jsonl, line 1: a JSON array, not a JSON object | write one object a line",
    '{"s1": "a b", "s2": "c d", "score": 1, "score": 4}': "line 1: 'score' occurs twice",
    '{"anchor": "a b", "positive": "\\"anchor\\": c"}': "1 pair of anchor and positive",
    '{"anchor": "a b", "positive": "c d", "score": [1]}': "score holds lists, tables or bytes",
}


@pytest.mark.parametrize("line", JSON_LINES)
def test_values_of_json_lines_are_texts_or_lists_of_positives(line: str) -> None:
    Path("own.jsonl").write_text(line)
    assert JSON_LINES[line] in _detected("own.jsonl")


def test_rows_are_not_selected_by_lists() -> None:
    Path("own.jsonl").write_text('{"anchor": "a b", "positive": "c d", "tags": ["x"]}')
    assert "tags holds lists" in _detected("own.jsonl?where=tags:x")


def test_a_text_file_has_a_sentence_a_line_whatever_signs_are_in_it() -> None:
    for text in ("He came; he saw.\nShe ran; he sat.\n", "either | or\n", "a, b\n\nno more\n"):
        Path("own.txt").write_text(text)
        assert "2 sentences" in _detected("own.txt") or "1 sentence" in _detected("own.txt")
    assert _detected("own.txt").splitlines()[1:] == ["  sentence: a, b", "  sentence: no more"]
    Path("own.txt").write_text("a cat\n\u200b\n\u3164 \u00ad\na dog\n")
    assert _detected("own.txt").startswith("own.txt: 2 sentences")
    assert "has no column 'a': found sentence" in _detected("own.txt?sentence=a")


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        ("a cat ||| a dog\na cow ||| an ox\n", "2 fields with '|||'"),
        ("premise ### hypothesis ### label\na ### b ### c\n", "'###' between them"),
        ("a cat [SEP] a dog\na cow [SEP] an ox\n", "fields with '[SEP]'"),
        ("a cat\ta dog\nno dog\na cow\tan ox\n", "2 fields with tabs"),
        ("a cat;a dog\n" * 10, "name the columns in its first line and call it own.csv"),
    ],
)
def test_rows_in_a_text_file_are_no_sentences_whatever_is_between_them(
    lines: str, says: str
) -> None:
    Path("own.txt").write_text(lines)
    assert says in _detected("own.txt")


def test_columns_with_blanks_between_them_are_named() -> None:
    Path("own.csv").write_text("premise    label\na cat sleeps    x\na dog    y\n")
    assert "its columns are separated by '  '" in _detected("own.csv")


@pytest.mark.parametrize("name", ["score", "label"])
@pytest.mark.parametrize("score", [1e300, float("inf"), 2.0**53])
def test_scores_that_no_whole_number_can_be_are_scores_all_the_same(
    name: str, score: float
) -> None:
    columns = {"s1": TEXTS["L"], "s2": TEXTS["R"], name: [score, 0.5] * 12}
    pl.DataFrame(columns).write_parquet("own.parquet")
    assert "scored pairs" in _detected("own.parquet")


def test_what_was_found_is_shown_with_two_rows_and_how_to_correct_it() -> None:
    Path("p.csv").write_text("id,a,b,rating\n1,x y,z w,1\n2,q r,s t,5\n3,,u,2\n4,v w,x,\n")
    assert own_data("p.csv").lines() == [
        "p.csv: 2 scored pairs: s1 = a, s2 = b, score = rating; scores from 1 to 5 on a scale from "
        "1 to 5; left out: 1 empty a at p.csv:4; left out: 1 blank rating at p.csv:5; not read: id",
        "  a: x y; b: z w; rating: 1",
        "  a: q r; b: s t; rating: 5",
        "  to read it otherwise: 'p.csv?s1=NAME&s2=NAME&score=NAME&scale=LOW-HIGH'",
    ]
    Path("p.csv").write_text("question,answer\na b,c d\n")  # it is read again
    assert "1 pair of anchor and positive" in _detected("p.csv")


def test_what_is_no_file_of_rows_is_refused() -> None:
    Path("folder.csv").mkdir()
    assert "folder.csv' is a folder, not a file of rows" in _detected("folder.csv")
    assert "no file 'gone.txt'" in _detected("gone.txt")
    Path("own.csv").write_text("a,b\n")
    assert "has no rows below its header" in _detected("own.csv")


SUGGESTED = {  # scores → the scale that they suggest
    (0, 4): (0, 4), (1, 4): (1, 4), (1, 7): (1, 7), (0, 10): (0, 10), (0, 11): (0, 100),
    (1, 1): (0, 1), (0, 0): (0, 1), (0.2, 0.9): (0, 1), (1.2, 4.6): (1, 5), (0.4, 4.6): (0, 5),
    (2.5, 130.5): (0, 130.5), (-0.9, 0.8): (-1, 1), (-1, 1): (-1, 1), (-3, 2): (-3, 3),
    (-3.5, 2): (-5, 5), (3, 97): (0, 100), (0, 101.5): (0, 101.5), (0.5, 8.5): (0, 10),
    (0.2, 5.00001): (0, 5), (0.99999, 4.99999): (1, 5), (-1e-7, 1.0000001): (0, 1),
}  # fmt: skip


@pytest.mark.parametrize("scores", SUGGESTED)
def test_the_suggested_scale_is_the_smallest_usual_one_that_holds_all_scores(
    scores: tuple[float, float],
) -> None:
    assert ScoreScale.of(pl.Series(scores, strict=False)).suggested == SUGGESTED[scores]


NAMES = {  # a name that is read and written again in the same words
    "pairs.csv", "d/pairs.csv?s1=a&s2=b&score=c&source=d&scale=-1-1&held-out=0.1",
    "pairs.csv?label=x&labels=0:neutral,a b:entailment", 'pairs.csv?score="a & b?"',
    "p.csv?where=split:train,dev&drop=label:-1", "p.csv?where=split:train&where=part:x", "p.csv?scale=0-5&low-scores",
}  # fmt: skip
WRONG_NAMES = (
    "rating=x score= score=a&score=b scale=5 scale=5-0 scale=1-1 scale=1.2.3-4 labels=0 "
    "labels=:neutral labels=0: held-out=0.9 held-out=x held-out=0 where=:train drop=label where=a:1&where=a:2 where=a:1&where=b"
)


@pytest.mark.parametrize("name", sorted(NAMES))
def test_a_name_is_read_and_written_again(name: str) -> None:
    file = parse_file_name(name)
    assert file.with_options().text == file.text == name
    assert file.is_plain is ("?" not in name)
    assert file.with_options(path=Path("q.csv")).text.partition("?")[2] == name.partition("?")[2]


@pytest.mark.parametrize("options", WRONG_NAMES.split())
def test_an_option_that_says_nothing_is_refused(options: str) -> None:
    with pytest.raises(EmbedlabError, match=re.escape(options.split("=")[0])) as error:
        parse_file_name(f"pairs.csv?{options}")
    assert error.value.hint


def test_files_of_rows_are_known_by_their_ending_and_models_by_their_prefix() -> None:
    Path("what?score=x.csv").write_text("a\n")  # a file of that name
    assert parse_file_name("what?score=x.csv").path == Path("what?score=x.csv")
    rows = "what?score=x.csv pairs.csv d/pairs.TSV lines.txt rows.jsonl?score=x rows.jsonl@score=x"
    others = "scores:mine.csv word-vectors:glove.txt hub:owner/pairs.csv recipe.toml own-pairs"
    assert all(map(is_row_file, rows.split()))
    assert not any(map(is_row_file, others.split()))


def test_what_is_set_in_a_recipe_is_said_of_the_file_where_its_name_says_nothing() -> None:
    values = "columns.gold=rating columns.anchor=q labels.0=neutral where.split=train drop.label=-1"
    said = with_overrides(
        parse_file_name("p.csv?score=points"),
        [*(f"data.{value}" for value in values.split()), "optim.lr=1", "data.columns={}"],
    )
    assert said.roles == {"score": "points", "anchor": "q"}
    assert (said.labels, said.where, said.drop) == (
        {"0": "neutral"},
        {"split": "train"},
        {"label": "-1"},
    )
    assert with_overrides(plain := parse_file_name("p.csv"), ["optim.lr=1"]) is plain
    assert with_overrides(plain, ["data.where.split=train"]).where == {"split": "train"}


def test_a_file_of_many_columns_is_read_once_and_in_steps_for_all_columns(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A step of polars on a single column takes 0.1 ms, and much more on a busy machine."""
    steps = []
    monkeypatch.setattr(
        pl.DataFrame, "lazy", lambda rows, lazy=pl.DataFrame.lazy: steps.append(0) or lazy(rows)
    )
    for columns in (30, 300):
        rows = {f"c{number}": TEXTS["LRNU"[number % 4]] for number in range(columns)}
        pl.DataFrame(rows).write_csv(f"own-{columns}.csv")
        for _ in range(3):
            with pytest.raises(EmbedlabError, match=r"columns of texts .* and \d+ more"):
                own_data(f"own-{columns}.csv")
    assert len(steps) < 60
