"""The corpora's own layouts: a line of a table is a corpus, the content of its files, and the rows
that it gives and what it skips, or its fault with the line. Then what is published of real ones.
"""

import gzip
from pathlib import Path

import polars as pl
import pytest

from embedlab.core.errors import EmbedlabError
from embedlab.data.corpus_file import WORD_SPLITS, ReadSplit, word_split
from embedlab.data.dataset import Expected, ParsedRows
from embedlab.data.manifest import get_dataset
from embedlab.data.readers.gold_beside import GoldBeside
from embedlab.data.readers.oxford import as_text
from embedlab.data.source import Source, dataset
from embedlab.tasks.sts import STS_DATASETS
from embedlab.tasks.transfer import RELATEDNESS, TRANSFER_TASKS
from tests.data.conftest import Write, on_hub, read_as, write_as

# corpus, split and number of its layout :: content of each file, || between them :: what it gives
FILES = r"""
definitions all :: dog\tan "animal"\ndog\tto follow\n :: ('dog', 'an "animal"') ('dog', 'to follow')
definitions all :: dog\ta\ncat\n :: line 2: 1 field: expected a word and its definition
definitions all :: dog\ta\ncat\tnoun\tanother\n :: line 2: 3 fields
definitions all :: dog\ta\ncat\t \n :: line 2: an empty definition
definitions all :: \ta\n :: line 1: an empty word
paraphrases :: \tid\tsentence1\tsentence2\tis_duplicate\n0\tx\ta\tb\t1.0\n1\ty\tc\td\t\n :: ('a', 'b', 1) {'blank label': 1}
paraphrases :: \tid\tsentence1\tsentence2\tis_duplicate\n0\tx\ta\tb\t0.4\n :: line 2: is_duplicate is not a whole number: '0.4'
paraphrase-sentences :: \tid\tsentence1\tsentence2\tis_duplicate\n0\tx\ta\tb\t1.0\n1\ty\tc\t\t\n :: ('a',) ('b',) {'blank label': 1}
paws :: id\tsentence1\tsentence2\tlabel\n1\ta b\tc\t1\n2\td\te\t\n :: ('a b', 'c', 1) {'blank label': 1}
paws :: id\tsentence1\tsentence2\tlabel\n1\ta\tb\t2\n :: line 2: label is not from 0 to 1: '2'
sts-course :: \tid\tsentence1\tsentence2\tsimilarity\n0\tx\ta dog\ta cat\t1.5\n :: ('a dog', 'a cat', 1.5, None)
sts-course :: \tid\tsentence1\tsentence2\tsimilarity\n0\tx\ta\tb\t6\n :: line 2: similarity is not from 0 to 5: '6'
sts-course :: \tid\tsentence1\tsentence2\tsimilarity\n0\tx\ta\tb\t\n :: line 2: similarity is not a number: ''
sts-course :: \tid\tsentence1\tsentence2\tsimilarity\n0\tx\ta\tdog\ta cat\t1\n :: line 2: 6 fields
sts-course-sentences :: \tid\tsentence1\tsentence2\tsimilarity\n0\tx\ta dog\ta cat\t1.5\n :: ('a dog',) ('a cat',)
sentiment :: \tid\tsentence\tsentiment\n0\tx\tgood film\t4\n :: ('good film', 4)
sentiment :: \tid\tsentence\tsentiment\n0\tx\tgood film\t5\n :: line 2: sentiment is not from 0 to 4: '5'
sentiment :: \tid\tsentence\tsentiment\n0\tx\tgood film\t2.7\n :: line 2: sentiment is not a whole number: '2.7'
wiki-split :: one\tx\n || two\ty\n :: ('one',) ('two',)
wiki-1m :: one\n\ntwo \n \n :: ('one',) ('two ',) {'blank line': 2}
wiki-1m :: one\rtwo\r :: ('one',) ('two',)
wiki-1m :: a\rb\nc\r\nd :: ('a\rb',) ('c',) ('d',)
wiki-1m :: a\xe2\x80\xa8b\x0bc\xc2\x85d\n :: ('a\u2028b\x0bc\x85d',)
nli-triplets :: sent0,sent1,hard_neg\na,"b, too",c\n\nd,e,f\n :: ('a', 'b, too', 'c') ('d', 'e', 'f')
nli-triplets :: sent0,sent1\na,b\n :: no column 'hard_neg'
nli-triplets :: sent0,sent1,hard_neg\na,"b\nb",c\na,,c\n :: line 4: an empty positive
nli-triplets :: sent0,sent1,hard_neg\na,b,c\na,b\n :: line 3: 2 fields: expected
nli-triplets :: sent0,sent1,hard_neg\na,"b,c\n :: line 2: not readable as CSV
nli-triplets :: sent0,sent1,hard_neg\n :: is empty
sts-benchmark dev :: news\tMSRpar\t2012\t1\t2.5\t"a b\tc\nn\th\t2013\t2\t5\td\te\tl (http://a)\tl (http://b)\n :: ('"a b', 'c', 2.5, 'MSRpar') ('d', 'e', 5.0, 'h')
sts-benchmark dev :: news\tMSRpar\t2012\t1\t2.5\ta\tb\tc\n :: line 1: 8 fields: expected a pair in 7 or 9 fields
sts-benchmark dev :: news\tMSRpar\t2012\t1\t2.5\ta\tb\tc\td\n :: line 1: its last two of 9 fields are not licences
sick-r :: pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment\n1\ta\tb\t4.5\tNEUTRAL\r\n :: ('a', 'b', 4.5, 'SICK')
sick-r :: pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment\n1\ta\tb\t0.5\tNEUTRAL\n :: line 2: relatedness_score is not from 1 to 5: '0.5'
snli :: \xef\xbb\xbf{"gold_label": "neutral", "sentence1": "a", "sentence2": "b", "pairID": 1}\r\n :: ('a', 'b', 'neutral')
snli :: {"gold_label": "-", "sentence1": "a", "sentence2": "b"}\n{"gold_label": "neutral", "sentence1": "a", "sentence2": "b"} :: ('a', 'b', 'neutral') {"label '-'": 1}
snli :: {"gold_label": "neu :: line 1: broken JSON at character 16: Unterminated string
snli :: {"gold_label": "neutral", "sentence1": 5.10, "sentence2": "b"}\n :: line 1: 'sentence1' is 5.1, not a text
snli :: {"gold_label": "neutral", "sentence1": "a", "sentence2": {"a": 1}}\n :: line 1: 'sentence2' is {'a': 1}, not a text
snli :: [1, 2]\n :: line 1: a JSON array, not a JSON object
snli :: {"gold_label": "neutral", "sentence1": "a"}\n :: line 1: no text under 'sentence2'
snli :: \n\n{"gold_label": "maybe", "sentence1": "a", "sentence2": "b"}\n :: line 3: label is not one of entailment
snli :: {"gold_label": null, "sentence1": "a", "sentence2": "b"}\n :: line 1: no text under 'gold_label'
snli :: {"gold_label": "neutral", "sentence1": "\xff"}\n :: line 1: byte 0xff is not UTF-8
snli :: {"gold_label": "neutral", "sentence1": "\\ud83d", "sentence2": "b"} :: line 1: half of a character (
snli :: {"gold_label": "neutral", "sentence1": "a\\u0000b", "sentence2": "b"} :: line 1: a NUL character
snli :: {"gold_label": 99 :: line 1: broken JSON
snli :: \n\n :: is empty
snli-counterfactual :: sentence1\tsentence2\tgold_label\n"a" b\tc "d\tneutral\n :: ('"a" b', 'c "d', 'neutral')
snli-counterfactual :: sentence1\tsentence2\tgold_label\na\tb\tmaybe\n :: line 2: label is not one of
snli-counterfactual :: sentence1\tsentence2\tgold_label\na\tb\n :: line 2: 2 fields
cr :: bad\n\nworse \n || good\n :: ('bad', 'neg') ('', 'neg') ('worse', 'neg') ('good', 'pos')
subj :: one\n || one\ntwo\tthree\n :: line 2: a tab: expected a sentence alone
trec train :: LOC:city Where is Orl\xe9ans ?\nNUM:dist How far : a mile ?\n :: ('Where is Orléans ?', 'LOC') ('How far : a mile ?', 'NUM')
trec train :: LOC:city O\xc3\xb9 ?\n :: ('Où ?', 'LOC')
trec train :: LOC:city O\xc3\xb9 ?\nLOC:city O\xf9 ?\n :: line 2: byte 0xf9 is not UTF-8
trec train :: LOC:city What\x92s there ?\n :: line 1: byte 0x92 is not UTF-8
trec train :: LOK:city Where ?\n :: line 1: class 'LOK' is not one of
trec train :: no class at all\n :: line 1: 'no class at all' is not a sentence with its class
sst2 train :: good\t1\nna\xefve\t0\n :: line 2: byte 0xef is not UTF-8
sst2 train :: good\0\t1\n :: line 1: a NUL byte
sst2 train :: go\tod\t1\n :: is not a sentence with its class
sst5 train :: 5 too good\n :: line 1: class '5' is not one of
glue-mrpc test 1 :: \xef\xbb\xbfQuality\t#1 ID\t#2 ID\t#1 String\t#2 String\n1\t8\t9\tOne.\tTwo.\n :: ('One.', 'Two.', None)
sts-benchmark dev 2 :: index\tgenre\tfilename\tyear\told_index\tsource1\tsource2\tsentence1\tsentence2\tscore\n0\tmain-captions\tMSRvid\t2012test\t1\tnone\tnone\tA man.\tA dog.\t1.250\n :: ('A man.', 'A dog.', 1.25, 'MSRvid')
glue-cola train :: gj04\t1\t\tIt "rained".\ncj99\t0\t*\tRained it.\n :: ('It "rained".', '1') ('Rained it.', '0')
glue-cola test :: index\tsentence\n0\tIt rained.\n :: ('It rained.', None)
glue-qnli train :: index\tquestion\tsentence\tlabel\n0\twho ?\tshe .\tentailment\n :: ('who ?', 'she .', 'entailment')
glue-rte train :: index\tsentence1\tsentence2\tlabel\n0\ta\tb\tmaybe\n :: line 2: label is not one of entailment, not_entailment: 'maybe'
c-sts :: sentence1,sentence2,condition,label\n"Two men run, fast",A man runs,The number.,1\nA,B,,3\n :: ('The number.: Two men run, fast', 'The number.: A man runs', 1.0, None) {'empty condition at 0.csv:3': 1}
c-sts :: sentence1,sentence2,condition,label\nA,B,The animal.,-1\n :: line 2: score is not from 1 to 5: '-1'
c-sts :: sentence1,sentence2,label\nA,B,3\n :: no column 'condition': found sentence1, sentence2, label
semrel24-en :: {"sentence1": "a", "sentence2": "b", "score": 2.5}\n :: line 1: score is not from 0 to 1: 2.5
sts17-en test 1 :: {"sentence1": "a", "sentence2": "b", "score": 2.5, "source": "en-en"}\n{"sentence1": "a", "sentence2": "b", "score": 1, "source": "ko-ko"}\n :: ('a', 'b', 2.5, 'en-en')
"""
YEARS = r"""
2 :: a\tb\nc\td\ne\tf\n :: 1.5\n\n5\n :: ('a', 'b', 1.5, 'x') ('e', 'f', 5.0, 'x') {'blank gold score': 1}
4 :: c "q\td\to\to\r\n :: 5\r\n :: ('c "q', 'd', 5.0, 'x')
2 :: a\tb\nc\td\n :: 1\n :: has 2 pairs but
2 :: a\tb\nc\td\n :: 1\n5.2\n :: line 2: gold is not from 0 to 5: '5.2'
2 :: a\tb\nc\td\n :: 1\nnan\n :: line 2: gold is not a number: 'nan'
2 :: a\tb\nc d\n :: 1\n2\n :: line 2: 1 field: expected two sentences
2 :: a\tb\nc\t\xe9\n :: 1\n2\n :: line 2: byte 0xe9 is not UTF-8
2 ::  ::  :: is empty
"""


def _bytes(text: str) -> bytes:
    return text.encode().decode("unicode_escape").encode("latin-1")


def _given(rows: ParsedRows) -> str:
    return " ".join(map(str, [*rows.frame.rows(), *([rows.skipped] if rows.skipped else [])]))


@pytest.mark.parametrize("line", [line for line in FILES.splitlines() if line])
def test_a_corpus_file_gives_its_rows_or_its_fault_with_the_line(line: str, write: Write) -> None:
    corpus, contents, expected = line.split(" :: ")
    name, split, layout = (*corpus.split(), "", "")[:3]
    chosen = dataset(name).splits[split or next(iter(dataset(name).splits))].layouts
    ending = Path(chosen[int(layout or 0)].files[0]).suffix
    files = [write(f"{at}{ending}", _bytes(part)) for at, part in enumerate(contents.split(" || "))]
    try:
        rows = read_as(name, files, split or None, layout=int(layout or 0))
    except EmbedlabError as error:
        given = f"{error.message}{'' if error.hint else 1 / 0}"
    else:
        given = _given(rows)
    is_whole = expected.startswith(("(", "{"))
    assert given == expected if is_whole else expected in given


@pytest.mark.parametrize("line", [line for line in YEARS.splitlines() if line])
def test_two_files_a_source_give_their_pairs_or_their_fault(line: str, write: Write) -> None:
    fields, pairs, gold, expected = line.split(" :: ")
    split = ReadSplit(
        kind="sts", name="test", title="test", titles=("test",), classes=("x",), has_file_per_class=True
    )  # fmt: skip
    paths = [write("input.txt", _bytes(pairs)), write("gs.txt", _bytes(gold))]
    reader = GoldBeside(fields=(int(fields),))
    try:
        given = _given(reader.read(paths, split))
    except EmbedlabError as error:
        given = error.message
    assert given == expected if expected.startswith("(") else expected in given


def test_captions_of_a_picture_follow_each_other_from_gzipped_files(write: Write) -> None:
    files = [
        write(f"{number}.gz", gzip.compress(f" a {number} \nb {number}\n".encode()))
        for number in range(5)
    ]
    expected = [f"{picture} {number}" for picture in "ab" for number in range(5)]
    assert read_as("captions", files).frame["sentence"].to_list() == expected
    with pytest.raises(EmbedlabError, match=r"a\.gz, line 2: no caption"):
        read_as("captions", [write("a.gz", gzip.compress(b"one\n \nthree\n"))])


WRITTEN = {
    "sts-benchmark": {"sentence1": ['a "q'], "sentence2": ["b 1"], "gold": [1.2], "source": ["x"]},
    "snli": {"premise": ['quote " and\ttab'], "hypothesis": ["b"], "label": ["neutral"]},
    "paws": {"sentence1": ["a b"], "sentence2": ["c"], "is_duplicate": [1]},
}


@pytest.mark.parametrize("name", WRITTEN)
def test_what_is_written_is_read_back(name: str, write: Write) -> None:
    frame = pl.DataFrame(WRITTEN[name])
    files = [write(f"{at}.txt", text) for at, text in enumerate(write_as(name, frame))]
    again = read_as(name, files).frame
    assert again.rows() == frame.rows()


def test_oxford_definitions_are_joined_and_parted_by_word_unless_they_are_parted(
    write: Write, tmp_path: Path
) -> None:
    words = [f"word{number}" for number in range(60)]
    files = ("train", "valid", "test")
    for place, name in enumerate(files):
        rows = [f"{word}%o.1\t0\tn\ta thing ( or two ) , of {name}\tx" for word in words[place::3]]
        write(f"oxford/{name}.txt", "\n".join(rows))
    source = Source(folder=tmp_path / "data")
    for split in WORD_SPLITS:
        frame = source.open("oxford-definitions", split).frame
        assert {*frame["word"]} == {word for word in words if split in ("all", word_split(word))}
        assert "a thing (or two), of train" in frame["definition"]
    for name in files:
        write(f"oxford/{name}.tsv", f"{name}word\tof {name}\n")
    assert source.open("oxford-definitions", "dev").frame.rows() == [("validword", "of valid")]
    tokens = " called `` an Answer '' , the driver 's ‘ inner ’ part ; ( small ) ."
    assert as_text(tokens) == "called An answer, the driver's ’inner’ part; (small)."


def test_definitions_of_ones_own_are_parted_by_word_whatever_its_case(write: Write) -> None:
    words = [f"word{number}" for number in range(2000)]
    assert all(word_split(word) == word_split(word.upper()) for word in words)
    # stored runs were trained on these splits
    assert [word_split(word) for word in ("dog", "cat", "ant")] == ["train", "test", "dev"]
    path = str(write("d.tsv", "".join(f"{word}\tfirst\n{word}\tsecond\n" for word in words)))
    rows = [
        Source().open(path, split, kind="definitions").frame.height
        for split in ("train", "dev", "test")
    ]
    assert sum(rows) == 4000
    assert rows == pytest.approx([3200, 400, 400], abs=120)
    with pytest.raises(EmbedlabError, match="no split 'tests'"):
        Source().open(path, "tests", kind="definitions")


NEWER = ("sts17", "sts17-en", "sts22-v2-en", "semrel24-en")
CARD = "---\nconfigs:\n- config_name: {}\n  data_files:\n  - {{split: {}, path: data/{}-*}}\n---\n"


@pytest.mark.parametrize("name", NEWER)
def test_pairs_of_a_repository_are_read_and_written_as_they_are(name: str, tmp_path: Path) -> None:
    low, high = dataset(name).gold_range
    language = "en-en" if name.startswith("sts17") else "en"
    has_languages = name.startswith("sts")
    rows = pl.DataFrame(
        {
            "sentence1": ["a", "b\nc", "d"],
            "sentence2": ["e", "f\tg", "h"],
            "score": [low, high, high],
            "lang": [language, "de", language],
        }
    )
    wanted = (
        rows.filter(pl.col("lang") == language) if name.endswith("-en") and has_languages else rows
    )
    counts = dict(wanted["lang"].value_counts().iter_rows()) if has_languages else None
    expected = Expected(rows=wanted.height, classes=counts)
    found = on_hub(name, "test", tmp_path / "hub", expected)
    hub = found.splits["test"].hub
    assert hub is not None
    (tmp_path / "hub/data").mkdir(parents=True)
    rows.write_parquet(tmp_path / f"hub/data/{hub.split}-00000-of-00001.parquet")
    card = CARD.format(hub.config or "default", hub.split, hub.split)
    (tmp_path / "hub/README.md").write_text(card)
    part = Source().open_split(found)
    own = wanted.with_columns(source=pl.col("lang") if has_languages else None).drop("lang")
    assert part.frame.rows() == own.rows()
    get_dataset(found, tmp_path / "data")
    again = Source(folder=tmp_path / "data", offline=True).open_split(found)
    assert again.frame.equals(part.frame)
    assert again.state.revision == f"{tmp_path / 'hub'}@main"


REAL = """
definitions all 185152, paraphrases dev 20212, sentiment train 8544, sentiment dev 1101,
sts-course train 6040, sts-course dev 863, sts-course-sentences train 12080,
wiki-split train 15000, snli-counterfactual train 8330, sts-benchmark train 5749,
sts-benchmark dev 1500, sick-r train 4500, sick-r dev 500, sts12 test 3108, sts13 test 1500,
sts14 test 3750, sts15 test 3000, sts16 test 1186, sts-benchmark test 1379, sick-r test 4927,
glue-cola train 8551, glue-cola dev 1043, glue-cola test 1063, glue-sst2 train 67349,
glue-sst2 dev 872, glue-sst2 test 1821, glue-mrpc train 3668, glue-mrpc dev 408,
glue-mrpc test 1725, glue-rte train 2490, glue-rte dev 277, glue-rte test 3000,
glue-wnli train 635, glue-wnli dev 71, glue-wnli test 146, glue-qnli dev 5463, glue-qnli test 5463
"""


def test_the_real_corpora_are_whole_where_they_should_be(shared_data: Path, tmp_path: Path) -> None:
    source = Source(folder=shared_data, offline=True)
    for line in REAL.replace("\n", " ").split(","):
        name, split, rows = line.split()
        assert source.open(name, split).state.rows == int(rows), line
    for name in (name for name in TRANSFER_TASKS if name not in RELATEDNESS):
        for split in dataset(name).splits:
            state = source.open(name, split).state
            assert (state.rows, state.partial) == (state.expected_rows, False)
    for name, fault in (("paraphrases", "14,137 rows"), ("nli-triplets", "6,730 rows")):
        with pytest.raises(EmbedlabError, match=f"{fault} instead of"):
            source.open(name, "train")
    (tmp_path / "SentEval").symlink_to(shared_data / "SentEval")
    copies = Source(folder=tmp_path, offline=True)
    for name in STS_DATASETS[:-1]:
        copy = copies.open(name)
        assert all(file.startswith("SentEval/") for file in copy.state.sha256)
        assert copy.frame["source"].equals(source.open(name).frame["source"])
