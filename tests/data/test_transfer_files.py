"""SentEval's transfer corpora: counts, encodings, and what is refused."""

from pathlib import Path

import pytest

from embedlab.core.errors import MissingError
from embedlab.data.source import Source, dataset
from embedlab.tasks.transfer import RELATEDNESS, TRANSFER_TASKS


def write(folder: Path, file: str, lines: list[str], encoding: str = "utf-8") -> None:
    path = folder / "SentEval/downstream" / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines), encoding=encoding)


def subj(folder: Path, objective: int, subjective: int) -> Source:
    write(
        folder,
        "SUBJ/subj.objective",
        [f"the plot moves on {number}" for number in range(objective)],
    )
    write(folder, "SUBJ/subj.subjective", [f"i liked it {number}" for number in range(subjective)])
    return Source(folder=folder, offline=True)


@pytest.mark.parametrize("name", [name for name in TRANSFER_TASKS if name not in RELATEDNESS])
def test_the_real_corpora_are_whole(name: str, shared_data: Path) -> None:
    source = Source(folder=shared_data, offline=True)
    for split in dataset(name).splits:
        part = source.open(name, split)
        assert part.state.rows == part.state.expected_rows
        assert not part.state.partial
        assert not part.frame.select("label").null_count().item()


def test_a_truncated_subj_is_refused_with_both_counts(tmp_path: Path) -> None:
    with pytest.raises(
        MissingError, match=r"5,020 rows instead of 10,000.*subjective 20.*subjective 5,000"
    ):
        subj(tmp_path, 5_000, 20).open("subj")


def test_a_truncated_corpus_that_is_allowed_is_marked(tmp_path: Path) -> None:
    subj(tmp_path, 30, 20)
    assert Source(folder=tmp_path, offline=True, allow_partial=True).open("subj").state.partial


def test_a_blank_line_counts_as_an_empty_sentence(tmp_path: Path) -> None:
    write(tmp_path, "CR/custrev.neg", ["bad", "", "worse "])
    write(tmp_path, "CR/custrev.pos", ["good"])
    frame = Source(folder=tmp_path, offline=True, allow_partial=True).open("cr").frame
    assert frame.rows() == [("bad", "neg"), ("", "neg"), ("worse", "neg"), ("good", "pos")]


def write_bytes(folder: Path, file: str, content: bytes) -> Source:
    path = folder / "SentEval/downstream" / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return Source(folder=folder, offline=True, allow_partial=True)


@pytest.mark.parametrize(
    ("file", "name", "content", "fault"),
    [
        # One odd byte must not turn the other lines' text into mojibake, whatever the corpus' own
        # encoding.
        (
            "TREC/train_5500.label",
            "trec",
            "LOC:city Où ?\n".encode() + b"LOC:city O\xf9 ?\n",
            r"line 2: byte 0xf9 is not UTF-8",
        ),
        (
            "TREC/train_5500.label",
            "trec",
            b"LOC:city What\x92s there ?\n",
            r"line 1: byte 0x92 is not UTF-8",
        ),
        (
            "SST/binary/sentiment-train",
            "sst2",
            b"good\t1\nna\xefve\t0\n",
            r"line 2: byte 0xef is not UTF-8",
        ),
        ("SST/binary/sentiment-train", "sst2", b"good\x00\t1\n", r"line 1: a NUL byte"),
        (
            "SST/binary/sentiment-train",
            "sst2",
            b"go\tod\t1\n",
            r"line 1: .* is not a sentence with its class",
        ),
        ("SST/binary/sentiment-train", "sst2", b"\xef\xbb\xbf", r"is empty"),
    ],
)
def test_a_byte_that_does_not_belong_is_refused_with_its_line(
    file: str, name: str, content: bytes, fault: str, tmp_path: Path
) -> None:
    with pytest.raises(
        MissingError, match=rf"{Path(file).name}.* {fault}|{Path(file).name} {fault}"
    ):
        write_bytes(tmp_path, file, content).open(name, "train")


def test_a_sentence_file_of_one_class_holds_no_tabs(tmp_path: Path) -> None:
    write(tmp_path, "SUBJ/subj.objective", ["one"])
    with pytest.raises(
        MissingError, match=r"subj\.subjective, line 2: a tab: expected a sentence alone"
    ):
        write_bytes(tmp_path, "SUBJ/subj.subjective", b"one\ntwo\tthree\n").open("subj")


def test_more_empty_sentences_than_were_published_are_refused_and_those_that_were_are_counted(
    tmp_path: Path,
) -> None:
    write(tmp_path, "SUBJ/subj.objective", [f"one {number}" for number in range(4_999)] + [" "])
    write(tmp_path, "SUBJ/subj.subjective", [f"two {number}" for number in range(5_000)])
    with pytest.raises(
        MissingError,
        match=r"1 rows with an empty sentence instead of 0, the first of them row 5,000",
    ):
        Source(folder=tmp_path, offline=True).open("subj")
    allowed = Source(folder=tmp_path, offline=True, allow_partial=True).open("subj").state
    assert (allowed.partial, allowed.empty) == (True, 1)


@pytest.mark.parametrize("encoding", ["latin-1", "utf-8"])
def test_questions_are_read_in_either_encoding_with_their_coarse_class(
    encoding: str, tmp_path: Path
) -> None:
    write(
        tmp_path,
        "TREC/train_5500.label",
        ["LOC:city Where is Orléans ?", "NUM:dist How far : a mile ?"],
        encoding,
    )
    frame = Source(folder=tmp_path, offline=True, allow_partial=True).open("trec", "train").frame
    assert frame.rows() == [("Where is Orléans ?", "LOC"), ("How far : a mile ?", "NUM")]


@pytest.mark.parametrize(
    ("file", "name", "line", "fault"),
    [
        ("TREC/train_5500.label", "trec", "LOK:city Where ?", "class 'LOK'"),
        ("TREC/train_5500.label", "trec", "no class at all", "not a sentence with its class"),
        ("SST/fine/sentiment-train", "sst5", "5 too good", "class '5'"),
        ("SST/binary/sentiment-train", "sst2", "no tab 1", "not a sentence with its class"),
    ],
)
def test_a_line_without_a_known_class_is_named(
    file: str, name: str, line: str, fault: str, tmp_path: Path
) -> None:
    good = {"trec": "LOC:city Where ?", "sst5": "4 good", "sst2": "good\t1"}[name]
    write(tmp_path, file, [good, line])
    with pytest.raises(MissingError, match=rf"{Path(file).name}, line 2: .*{fault}"):
        Source(folder=tmp_path, offline=True, allow_partial=True).open(name, "train")


def test_sentevals_own_data_folder_is_understood(tmp_path: Path) -> None:
    subj(tmp_path, 3, 2)
    source = Source(folder=tmp_path / "SentEval", offline=True, allow_partial=True)
    assert source.open("subj").state.rows == 5


def test_a_missing_corpus_says_where_it_is_published(tmp_path: Path) -> None:
    with pytest.raises(
        MissingError, match=r"no file 'SentEval/downstream/MPQA/mpqa\.neg'"
    ) as caught:
        Source(folder=tmp_path, offline=True).open("mpqa")
    assert "SentEval" in caught.value.hint
