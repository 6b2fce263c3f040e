"""The errors a user can cause."""

import pytest

from embedlab.core.errors import EmbedlabError, shorten_values


@pytest.mark.parametrize("value", ["7" * 4300, "é" * 121])
def test_a_value_without_an_end_is_shortened_wherever_it_is_quoted(value: str) -> None:
    error = EmbedlabError(f"no run named {value!r}", hint=f"try {value}")
    assert error.message == str(error) == f"no run named '{value[:80]}…'"
    assert error.hint == f"try {value[:80]}…"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("'/a/" + "/".join(["folder" * 20] * 9) + "'", None),
        ("no " * 500, None),
        ("x" * 120, None),
        (f"'runs/{'x' * 256}/seed-1'", f"'runs/{'x' * 80}…/seed-1'"),
    ],
)
def test_paths_sentences_and_names_of_runs_stay_whole(text: str, shown: str | None) -> None:
    assert shorten_values(text) == (shown or text)
