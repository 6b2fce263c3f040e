"""Probing files: splits, suites under their own names, and what is refused."""

from pathlib import Path

import pytest

from embedlab.core.errors import MissingError, UsageError
from embedlab.data.probing import suite
from embedlab.data.source import Source

LINES = ["tr\tPAST\tit rained .", "va\tPRES\tit rains .", "te\tPAST\tit poured ."]


def write(path: Path, lines: list[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


@pytest.mark.parametrize(
    ("lines", "split", "fault"),
    [
        (
            [*LINES, "dev\tPAST\tit snowed ."],
            None,
            r"odd_man_out\.txt, line 4: split is not one of tr, va, te: 'dev'",
        ),
        (LINES[:2], "test", "no line of the split 'te'"),
    ],
)
def test_a_line_of_an_unknown_split_and_a_split_without_lines_are_refused(
    lines: list[str], split: str | None, fault: str, tmp_path: Path
) -> None:
    write(tmp_path / "probing_mine/odd_man_out.txt", lines)
    (only,) = suite("mine-probing", tmp_path)
    source = Source(folder=tmp_path, offline=True)
    with pytest.raises(MissingError, match=fault):
        source.open_split(only, split)
    write(tmp_path / "probing_mine/odd_man_out.txt", LINES)
    part = source.open_split(only, "dev")
    assert part.frame.rows() == [("it rains .", "PRES")]
    assert part.state.name == "mine-probing/odd-man-out"
    with pytest.raises(UsageError) as caught:
        suite("mina-probing", tmp_path)
    assert "mine-probing" in caught.value.hint
