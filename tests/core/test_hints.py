"""The options in a hint are data, which each surface shows in its own way."""

from embedlab.core.errors import Hint, NamedOption, RecipeValue, UsageError


def test_a_command_line_shows_options_as_they_are_typed() -> None:
    other, rate = NamedOption("--name", "other"), RecipeValue("optim.lr", "1e-5")
    hint = Hint("use ", other, ", ", rate, " or ", NamedOption("--resume"))
    assert str(hint) == "use --name other, --set optim.lr=1e-5 or --resume"
    assert UsageError("wrong", hint=hint).hint == str(hint)


def test_another_surface_shows_them_by_its_own_names() -> None:
    hint = Hint("take ", Hint(NamedOption("--data", "DIR"), ""), " now")
    assert hint.parts == ("take ", NamedOption("--data", "DIR"), " now")
    assert hint.shown(lambda option: f"<{type(option).__name__}>") == "take <NamedOption> now"
