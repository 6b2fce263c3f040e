"""The errors a user can cause."""

import pytest

from embedlab.core.errors import EmbedlabError, shorten_values


@pytest.mark.parametrize("value", ["7" * 4300, "x" * 4300, "é" * 121])
def test_a_value_without_an_end_is_shortened_wherever_it_is_quoted(value: str) -> None:
    error = EmbedlabError(f"no run named {value!r}", hint=f"try {value}")
    assert error.message == str(error) == f"no run named '{value[:80]}…'"
    assert error.hint == f"try {value[:80]}…"


@pytest.mark.parametrize(
    "text", ["'/a/" + "/".join(["folder" * 20] * 9) + "'", "no " * 500, "x" * 120]
)
def test_paths_sentences_and_names_of_runs_stay_whole(text: str) -> None:
    assert shorten_values(text) == text


def test_a_part_of_a_path_that_no_file_can_have_is_shortened() -> None:
    assert shorten_values(f"'runs/{'x' * 256}/seed-1'") == f"'runs/{'x' * 80}…/seed-1'"
