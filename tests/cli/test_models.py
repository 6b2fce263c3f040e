"""Models as tables name them."""

import pytest

from embedlab.models.grammar import title_of


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("sbert", "sbert"),
        ("sentence-transformers/all-MiniLM-L6-v2", "sentence-transformers/all-MiniLM-L6-v2"),
        ("./models/mine/", "mine"),
        ("/models/mine", "mine"),
        ("word-vectors:~/vectors/glove.6B.300d.txt", "glove.6B.300d.txt"),
        ("average:sbert,defsent", "average:sbert,defsent"),
    ],
)
def test_a_tables_head_calls_a_model_of_a_path_by_its_last_part(name: str, title: str) -> None:
    assert title_of(name) == title
