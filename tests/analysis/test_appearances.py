import numpy as np
import polars as pl

from embedlab.analysis.appearances import appearances


def test_the_other_places_are_those_that_a_loop_finds() -> None:
    rng = np.random.default_rng(0)
    table = pl.DataFrame(
        {
            name: [f"s{number}" for number in rng.integers(0, 5, 40)]
            for name in ("sentence1", "sentence2")
        }
    )
    rows = list(table.iter_rows())
    for row, (first, second) in enumerate(rows):
        found = appearances(table, row)
        same = [place for place, pair in enumerate(rows) if sorted(pair) == sorted((first, second))]
        assert list(found.of_pair) == [place for place in same if place != row]
        for side, text in enumerate((first, second)):
            other = [place for place, pair in enumerate(rows) if text in pair and place not in same]
            assert list(found.of_sentences[side]) == ([] if side and first == second else other)
