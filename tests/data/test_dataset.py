"""What a dataset and the state of its rows are unless they say more."""

import pytest

from embedlab.data.dataset import (
    Dataset,
    DatasetKind,
    Split,
)


def dataset(kind: DatasetKind, *splits: str) -> Dataset:
    return Dataset(
        name="made",
        kind=kind,
        summary="",
        home="",
        splits={name: Split(layouts=(), expected=None) for name in splits},
    )


@pytest.mark.parametrize(
    ("kind", "splits", "expected"),
    [
        ("sts", ("train", "dev", "test"), "test"),
        ("sts", ("train", "dev"), "train"),
        ("nli", ("test", "dev", "train"), "train"),
        ("nli", ("dev", "test"), "dev"),
        ("sentences", ("all",), "all"),
    ],
)
def test_the_split_that_is_not_named_is_that_of_use(
    kind: DatasetKind, splits: tuple[str, ...], expected: str
) -> None:
    assert dataset(kind, *splits).default_split == expected
