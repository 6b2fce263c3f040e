"""mteb's files as they are read: which split and subset, and what is refused."""

import json
import re
from math import inf, isnan, nan

import pytest

from embedlab.core.errors import EmbedlabError, MissingError, UsageError
from embedlab.data.mteb_files import find_mteb_files, read_figures, read_predictions
from embedlab.encoders.kinds.mteb import figures_of_files
from embedlab.reports.scores import StatedModel
from tests.data.conftest import Write

META = {"model_name": "own/model", "revision": "8b3219a92973c328a8e22fadcfa821b5dc75636a"}


def figures(*splits: tuple[str, float | None], subset: str = "default") -> str:
    """A result file with the main score of each split."""
    scores = {
        name: [{"main_score": value, "hf_subset": subset, "languages": ["eng-Latn"]}]
        for name, value in splits
    }
    return json.dumps(
        {
            "dataset_revision": "4d8694f8",
            "task_name": "STS16",
            "mteb_version": "2.26.24",
            "scores": scores,
        }
    )


def predictions(**splits: list[float]) -> str:
    """A prediction file with the similarities of each split."""
    return json.dumps(
        {
            "mteb_model_meta": META,
            "default": {name: {"cosine_scores": values} for name, values in splits.items()},
        }
    )


@pytest.mark.parametrize(
    ("split", "splits", "expected"),
    [
        ("test", (("validation", 0.5), ("test", 0.7)), ("test", 0.7)),
        ("dev", (("test", 0.7), ("validation", 0.5)), ("validation", 0.5)),
        ("dev", (("dev", 0.4),), ("dev", 0.4)),
        ("train", (("train", 0.3), ("test", 0.7)), ("train", 0.3)),
        ("all", (("train", 0.3), ("test", 0.7)), ("test", 0.7)),
        ("all", (("dev", 0.4),), ("dev", 0.4)),
        ("dev", (("test", 0.7),), None),
        ("all", (("dev-x", 0.1), ("dev-y", 0.2)), None),
    ],
)
def test_figures_are_those_of_the_requested_split(
    split: str,
    splits: tuple[tuple[str, float], ...],
    expected: tuple[str, float] | None,
    write: Write,
) -> None:
    found = read_figures(write("STS16.json", figures(*splits)), split)
    assert (found and (found.split, found.main)) == expected
    if found and expected:
        assert (found.task, found.version, found.subset) == ("STS16", "2.26.24", "default")
        assert found.origin == f"STS16 {expected[0]} at revision 4d8694f8"


@pytest.mark.parametrize("value", [None, nan, inf])
def test_a_main_score_that_is_no_number_is_nan(value: float | None, write: Write) -> None:
    found = read_figures(write("a.json", figures(("test", value))))
    assert found is not None
    assert isnan(found.main)


def test_a_damaged_file_among_others_is_left_out_aloud(write: Write) -> None:
    good = write("STS16.json", figures(("test", 0.7)))
    write("STS12.json", figures(("test", 55.3)))
    stated = StatedModel(name="m", figures=figures_of_files(str(good.parent)))
    assert [each.figures["main_score"] for each in stated.stated(["sts16"])] == [0.7]
    (damaged, _, absent) = stated.notes(["sts16"])
    assert re.search(r"left out: .*STS12\.json: 'main_score' is 55\.3", damaged)
    assert "no number of cosine_spearman in STS16.json" in absent
    good.unlink()
    with pytest.raises(MissingError, match=r"55\.3"):
        figures_of_files(str(good.parent))


def test_predictions_are_those_of_the_requested_split_and_name_their_model(write: Write) -> None:
    found = read_predictions(
        write("STS16_predictions.json", predictions(validation=[0.5], test=[0.25, -1])), "test"
    )
    assert found is not None
    assert (found.task, found.values, found.model) == ("STS16", (0.25, -1), "own/model at 8b3219a9")
    other = write("other_predictions.json", predictions(validation=[0.5]))
    assert read_predictions(other, "test") is None


def test_the_english_subset_is_read_and_of_several_others_none(write: Write) -> None:
    content = json.loads(figures(("test", 0.5), subset="de"))
    found = read_figures(write("a.json", json.dumps(content)))
    assert found is not None
    assert found.origin == "STS16 de test at revision 4d8694f8"
    content["scores"]["test"].append({"main_score": 0.9, "hf_subset": "fr"})
    with pytest.raises(UsageError, match="several subsets, de, fr"):
        read_figures(write("a.json", json.dumps(content)))
    content["scores"]["test"].append({"main_score": 0.8, "hf_subset": "en"})
    found = read_figures(write("a.json", json.dumps(content)))
    assert found is not None
    assert (found.subset, found.main) == ("en", 0.8)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("[]", "not a table"),
        ("{", "not valid JSON"),
        ('{"task_name": "a", "scores": {}}', "'dataset_revision' is missing"),
        ('{"task_name": "a", "dataset_revision": "b", "scores": [1]}', "'scores' is"),
        (
            '{"task_name": "a", "dataset_revision": "b", "scores": {"test": [{"x": 1}]}}',
            "'main_score' is '', not a number from -1 to 1",
        ),
        (
            '{"task_name": "a", "dataset_revision": "b", "scores": {"test": [{"hf_subset": '
            '"en", "x": 1}]}}',
            "'main_score' is '', not a number from -1 to 1",
        ),
        (figures(("test", 55.3)), "'main_score' is 55.3, not a number from -1 to 1"),
        (figures(("test", 1e308)), "'main_score' is 1e.308"),
        (figures(("test", 10**400)), "main_score' is an integer of 1329 bits"),
    ],
)
def test_a_result_file_that_mteb_did_not_write_is_refused(
    content: str, words: str, write: Write
) -> None:
    with pytest.raises(EmbedlabError, match=words):
        read_figures(write("a.json", content))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("[1]", "not a table"),
        ("{", "not valid JSON"),
        ("version https://git-lfs.github.com/spec/v1\n", "a git-lfs pointer"),
        ("{}", "no key 'mteb_model_meta'"),
        ('{"mteb_model_meta": {}, "default": {"test": [[0, 1], [1, 1]]}}', "another kind of task"),
        ('{"mteb_model_meta": {}, "de": {}, "fr": {}}', "several subsets, de, fr"),
    ],
)
def test_predictions_that_mteb_did_not_write_are_refused_in_one_line(
    content: str, words: str, write: Write
) -> None:
    with pytest.raises(EmbedlabError, match=words) as refused:
        read_predictions(write("STS16_predictions.json", content), "test")
    assert "\n" not in refused.value.message


def test_the_files_of_a_folder_are_found_by_task_and_two_of_one_task_are_refused(
    write: Write,
) -> None:
    path = write("STS16.json", figures(("test", 0.5)))
    write("STS16_predictions.json", predictions(test=[1.0]))
    write("model_meta.json", "{}")
    found = find_mteb_files(path.parent)
    assert ([*found.predictions], [*found.results]) == (["STS16"], ["STS16"])
    beside = find_mteb_files(path.with_name("STS16_predictions.json"))
    assert (beside.predictions, beside.results) == (found.predictions, found.results)
    assert find_mteb_files(path).predictions == {}
    write("other/STS16.json", figures(("test", 0.5)))
    with pytest.raises(UsageError, match="are predictions for the same task"):
        find_mteb_files(path.parent)


@pytest.mark.parametrize(
    "value", [True, None, "0.5", [0.5], 1e39, 1e300, 10**400, float("nan"), float("inf")]
)
def test_what_is_not_a_similarity_is_refused_with_its_row(value: object, write: Write) -> None:
    content = json.dumps(
        {"mteb_model_meta": META, "default": {"test": {"cosine_scores": [0.5, value]}}}
    )
    with pytest.raises(
        MissingError, match=r"row 1 of 'cosine_scores' is .* not a number|scores\.1' is an int"
    ):
        read_predictions(write("STS16_predictions.json", content), "test")
