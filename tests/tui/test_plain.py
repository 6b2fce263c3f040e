"""Drawing where only ASCII can be written."""

import pytest

from embedlab.tui import plain
from embedlab.tui.help import LEGEND


def test_every_sign_becomes_one_ascii_letter() -> None:
    signs = "".join(sign for sign, _ in LEGEND) + "○□△◇☆✛•╭─╮│╰╯█▂▆⣿⠁ ▸›…━╸╍┊┼"
    drawn = plain.ascii_signs(signs)
    assert drawn.isascii()
    assert len(drawn) == len(signs)
    assert len(set(plain.ascii_signs("▁▂▃▄▅▆▇█"))) == 8  # a curve is still one
    assert len(set(plain.ascii_signs("▁▂▃▄▅▆▇█"))) == 8
    assert plain.ascii_signs("né") == "né"  # not a sign: it was an escape before, or is an error


def test_letters_are_escaped_before_lines_are_laid_out(monkeypatch: pytest.MonkeyPatch) -> None:
    assert plain.safe_line("猫\nx") == "猫 x"
    monkeypatch.setattr(plain, "is_plain", lambda: True)
    assert plain.safe_line("猫\nx") == r"\u732b x"
