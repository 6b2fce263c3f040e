"""The names of datasets that people type."""

import pytest

from embedlab.core.errors import UsageError
from embedlab.data.published import canonical_name
from embedlab.data.source import dataset
from embedlab.scoring.selection import select_tasks


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("stsb", "sts-benchmark"),
        ("STS-B", "sts-benchmark"),
        ("STSBenchmark", "sts-benchmark"),
        ("sts2012", "sts12"),
        ("STS16", "sts16"),
        ("sickr", "sick-r"),
        ("SICK-R", "sick-r"),
        ("sick_e", "sick-e"),
        ("mrpc", "mrpc"),
        ("MRPC", "mrpc"),
        ("cola", "glue-cola"),
        ("stsb:dev", "sts-benchmark:dev"),
        ("./stsb", "./stsb"),
        ("data/stsb", "data/stsb"),
        ("sts12:dev", "sts12:dev"),
        ("stsb.tsv", "stsb.tsv"),
        ("nothing", "nothing"),
    ],
)
def test_a_name_means_one_dataset_in_any_writing(typed: str, name: str) -> None:
    assert canonical_name(typed) == name


def test_tasks_are_selected_by_such_names_once() -> None:
    assert select_tasks(None, ["stsb", "sts-benchmark", "STS2012"], None) == select_tasks(
        None, ["sts-benchmark", "sts12"], None
    )
    assert dataset("stsb").name == "sts-benchmark"


@pytest.mark.parametrize("typed", ["stsbb", "sickrr"])
def test_a_name_close_to_such_a_name_is_offered(typed: str) -> None:
    for refused in (lambda: select_tasks(None, [typed], None), lambda: dataset(typed)):
        with pytest.raises(UsageError) as error:
            refused()
        assert "did you mean" in error.value.hint
