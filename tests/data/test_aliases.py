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
        ("sts2012", "sts12"),
        ("SICK-R", "sick-r"),
        ("sick_e", "sick-e"),
        ("mrpc", "mrpc"),
        ("cola", "glue-cola"),
        ("stsb:dev", "sts-benchmark:dev"),
        ("./stsb", "./stsb"),
        ("stsb.tsv", "stsb.tsv"),
    ],
)
def test_a_name_means_one_dataset_in_any_writing(typed: str, name: str) -> None:
    assert canonical_name(typed) == name


@pytest.mark.parametrize("typed", ["stsbb", "sickrr", "slni"])
def test_a_name_close_to_a_dataset_or_such_a_name_is_offered(typed: str) -> None:
    for refused in (lambda: select_tasks(None, [typed], None), lambda: dataset(typed)):
        with pytest.raises(UsageError) as error:
            refused()
        assert "did you mean" in error.value.hint
    assert dataset("stsb").name == "sts-benchmark"
