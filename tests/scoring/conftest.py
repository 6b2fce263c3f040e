"""Generated pairs for every test of comparisons."""

from tests.pair_tables import add_model, make_part, table

__all__ = ["add_model", "make_part", "table"]
