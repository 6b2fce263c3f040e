"""The options in a hint are data, which each surface shows in its own way."""

from unittest.mock import Mock

import pytest

from embedlab.core.errors import Hint, NamedOption, RecipeValue, UsageError, with_hint


def test_a_command_line_shows_options_as_they_are_typed() -> None:
    other, rate = NamedOption("--name", "other"), RecipeValue("optim.lr", "1e-5")
    hint = Hint("use ", other, ", ", rate, " or ", NamedOption("--resume"))
    assert str(hint) == "use --name other, --set optim.lr=1e-5 or --resume"
    assert UsageError("wrong", hint=hint).hint == str(hint)


@pytest.mark.parametrize(
    ("key", "text", "typed", "keyword"),
    [
        ("data.where.kind", "x y", "--set 'data.where.kind=x y'", "'x y'"),
        ("data.low_scores", "true", "--set data.low_scores=true", "True"),
        ("evaluate.dev", "sts-benchmark", "--set evaluate.dev=sts-benchmark", "'sts-benchmark'"),
        ("optim.lr", "1e-5", "--set optim.lr=1e-5", "1e-5"),
    ],
)
def test_a_value_can_be_typed_in_a_shell_and_in_python(
    key: str, text: str, typed: str, keyword: str
) -> None:
    value = RecipeValue(key, text)
    assert str(value) == typed
    failing = with_hint(Mock(side_effect=UsageError("wrong", hint=Hint(value))))
    with pytest.raises(UsageError) as error:
        failing()
    assert error.value.__notes__ == [f"hint: set={{{key!r}: {keyword}}}"]
    assert str(NamedOption("--data", "two words")) == "--data 'two words'"


def test_another_surface_shows_them_by_its_own_names() -> None:
    hint = Hint("take ", Hint(NamedOption("--data", "DIR"), ""), " now")
    assert hint.parts == ("take ", NamedOption("--data", "DIR"), " now")
    assert hint.shown(lambda option: f"<{type(option).__name__}>") == "take <NamedOption> now"
