"""Queries and documents by their texts and ids, beside loops."""

import numpy as np
import polars as pl

from embedlab.data.dataset import DatasetState, Part
from embedlab.data.queries import item_frame, own_texts, queries_of_pairs

TEXTS, DOCUMENTS = ["a", "b", "", "c"], ["b", "a", "x", "a", "", "c"]


def test_a_querys_own_text_does_not_count_wherever_it_is_unless_people_say_that_it_is_relevant() -> (
    None
):
    query, relevant = np.array([0, 3]), np.array([3, 5])
    found = {
        *zip(
            *(
                one.tolist()
                for one in own_texts(TEXTS, DOCUMENTS, query, relevant, [(1, 2), (3, 5)])
            ),
            strict=True,
        )
    }
    same = {
        (q, d)
        for q, text in enumerate(TEXTS)
        for d, document in enumerate(DOCUMENTS)
        if text == document and text
    }
    assert found == (same | {(1, 2)}) - {(0, 3), (3, 5)}
    nothing = own_texts(["a"], ["b"], np.array([0]), np.array([0]))
    assert [one.tolist() for one in nothing] == [[], []]


def test_items_have_the_texts_of_their_query_and_document() -> None:
    found = item_frame(TEXTS, DOCUMENTS, np.array([3, 0]), np.array([1, 2]))
    assert found.rows() == [("c", "a"), ("a", "x")]
    assert item_frame(TEXTS, DOCUMENTS, np.array([], np.intp), np.array([], np.intp)).dtypes == [
        pl.String,
        pl.String,
    ]


def test_pairs_become_queries_in_their_order_with_one_grade() -> None:
    frame = pl.DataFrame(
        {"sentence1": ["q one", "q two", "q one"], "sentence2": ["a", "q one", "b"]}
    )
    state = DatasetState(name="made", split="all", rows=3, expected_rows=None, origin="file")
    found = queries_of_pairs(Part(frame=frame, state=state), ["b", "q one", "a"])
    assert (found.texts, found.candidates) == (("q one", "q two"), ("b", "q one", "a"))
    assert [found.query.tolist(), found.relevant.tolist(), found.grade.tolist()] == [
        [0, 1, 0],
        [2, 1, 0],
        [1, 1, 1],
    ]
    assert [one.tolist() for one in found.excluded] == [[0], [1]]
    assert found.ids == (["1", "2"], ["1", "2", "3"])
    assert found.has_texts
