"""GLUE's files: with and without a header, single sentences and pairs."""

from pathlib import Path

import pytest

from embedlab.core.errors import MissingError
from embedlab.core.paths import TINY_FOLDER
from embedlab.data.source import Source, dataset_names


def write(folder: Path, file: str, text: str) -> Source:
    path = folder / "GLUE" / file
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8")
    return Source(folder=folder, offline=True, allow_partial=True)


def test_cola_has_no_header_and_its_sentence_in_the_fourth_column(tmp_path: Path) -> None:
    source = write(tmp_path, "CoLA/train.tsv", 'gj04\t1\t\tIt "rained".\ncj99\t0\t*\tRained it.\n')
    assert source.open("glue-cola").frame.rows() == [('It "rained".', "1"), ("Rained it.", "0")]


def test_the_columns_of_a_pair_are_found_by_their_names(tmp_path: Path) -> None:
    header = "index\tquestion\tsentence\tlabel\n"
    source = write(
        tmp_path,
        "QNLI/train.tsv",
        f"{header}0\twho ?\tshe .\tentailment\n1\twhy ?\tit .\tnot_entailment\n",
    )
    part = source.open("glue-qnli")
    assert part.frame.columns == ["sentence1", "sentence2", "label"]
    assert part.frame.rows() == [
        ("who ?", "she .", "entailment"),
        ("why ?", "it .", "not_entailment"),
    ]
    assert part.state.partial


def test_test_files_have_no_labels(tmp_path: Path) -> None:
    source = write(tmp_path, "CoLA/test.tsv", "index\tsentence\n0\tIt rained.\n1\tRained it.\n")
    assert source.open("glue-cola", "test").frame.rows() == [
        ("It rained.", None),
        ("Rained it.", None),
    ]


def test_mrpc_may_lie_in_the_file_that_glue_cuts_its_test_file_from(tmp_path: Path) -> None:
    header = "Quality\t#1 ID\t#2 ID\t#1 String\t#2 String"
    source = write(
        tmp_path, "MRPC/msr_paraphrase_test.txt", f"\ufeff{header}\n1\t8\t9\tOne.\tTwo.\n"
    )
    assert source.open("glue-mrpc", "test").frame.rows() == [("One.", "Two.", None)]


def test_sts_b_is_also_read_as_glue_hands_it_out(tmp_path: Path) -> None:
    header = (
        "index\tgenre\tfilename\tyear\told_index\tsource1\tsource2\tsentence1\tsentence2\tscore"
    )
    source = write(
        tmp_path,
        "STS-B/dev.tsv",
        f"{header}\n0\tmain-captions\tMSRvid\t2012test\t1\tnone\tnone\tA man.\tA dog.\t1.250\n",
    )
    assert source.open("sts-benchmark", "dev").frame.rows() == [
        ("A man.", "A dog.", 1.25, "MSRvid")
    ]


def test_an_unknown_label_is_named_with_its_line(tmp_path: Path) -> None:
    source = write(
        tmp_path, "RTE/train.tsv", "index\tsentence1\tsentence2\tlabel\n0\ta\tb\tmaybe\n"
    )
    with pytest.raises(
        MissingError,
        match=r"train\.tsv, line 2: label 'maybe' is none of entailment, not_entailment",
    ):
        source.open("glue-rte")


def test_a_task_without_its_file_says_which(tmp_path: Path) -> None:
    with pytest.raises(MissingError, match=r"no file 'GLUE/MNLI/train\.tsv'"):
        Source(folder=tmp_path, offline=True).open("glue-mnli")


def test_the_real_tasks_are_whole(shared_data: Path) -> None:
    source = Source(folder=shared_data, offline=True)
    found = {
        name: [source.open(f"glue-{name}", split).state.rows for split in ("train", "dev")]
        for name in ("cola", "sst2", "mrpc", "rte", "wnli")
    }
    assert found == {
        "cola": [8_551, 1_043],
        "sst2": [67_349, 872],
        "mrpc": [3_668, 408],
        "rte": [2_490, 277],
        "wnli": [635, 71],
    }
    assert source.open("glue-qnli", "dev").state.rows == 5_463
    tests = {
        name: source.open(f"glue-{name}", "test").state.rows
        for name in ("cola", "sst2", "mrpc", "rte", "wnli", "qnli")
    }
    assert tests == {
        "cola": 1_063,
        "sst2": 1_821,
        "mrpc": 1_725,
        "rte": 3_000,
        "wnli": 146,
        "qnli": 5_463,
    }


def test_the_sample_world_has_every_task_with_all_its_labels() -> None:
    for name in [name for name in dataset_names() if name.startswith("glue-")]:
        frame = Source(folder=TINY_FOLDER).open(name).frame
        assert frame["label"].n_unique() == (3 if name == "glue-mnli" else 2)
        assert frame.null_count().sum_horizontal().item() == 0
