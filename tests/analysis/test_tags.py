"""Which pairs have a tag, as a reader sees it."""

import polars as pl
import pytest

from embedlab.analysis.tags import TAGS, has_any

SEEN = {
    ("A man is playing.", "A man isn't playing."): "negation",
    ("He can’t swim", "He cannot swim"): "",
    ("Nothing to note", "A knot"): "negation",
    ("Two dogs", "2 dogs run"): "",
    ("TWO dogs", "one dog"): "number",
    ("Seven", "SEVEN"): "",
    ("In 1,000 days", "1000 days"): "",
    ("3 of 4", "4 of 3.5"): "number",
    ("a b c d", "e f"): "length",
    ("Someone often notes", "eleven"): "number length",
}
PAIRS = pl.DataFrame([*SEEN], schema=["sentence1", "sentence2"], orient="row")


@pytest.mark.parametrize("name", TAGS)
def test_a_tag_holds_where_a_reader_sees_it(name: str) -> None:
    found = PAIRS.select(has_any([name])).to_series()
    assert found.to_list() == [name in tags for tags in SEEN.values()]


def test_a_pair_can_have_any_of_several_tags() -> None:
    either = PAIRS.select(has_any(["negation", "length"])).to_series()
    assert either.to_list() == [tags not in {"", "number"} for tags in SEEN.values()]
    assert has_any(["length"]).meta.root_names() == ["sentence1", "sentence2"]
