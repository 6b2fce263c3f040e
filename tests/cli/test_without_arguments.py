"""A command group that is typed alone shows its help, with the Typer of these tests and with the
newest one.
"""

import pytest

from tests.cli.conftest import Embedlab


@pytest.mark.parametrize("words", [(), ("runs",)], ids=" ".join)
def test_a_group_alone_shows_its_help_and_ends_as_a_usage_error(
    embedlab: Embedlab, words: tuple[str, ...]
) -> None:
    answer, shown = embedlab(*words), embedlab(*words, "--help")
    assert answer.code == 2
    assert answer.out == ""  # it answers nothing
    assert answer.err.split() == shown.out.split()
    assert "Usage: embedlab" in answer.err
