"""No number on a screen, in a table or on a page is minus zero: the option z of formats removes its
sign.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "embedlab"
FILES = sorted([*(PACKAGE / "tui").rglob("*.py"), *(PACKAGE / "reports").rglob("*.py")])


def formats(source: str) -> Iterator[str]:
    """The fixed-point formats of a program's f-strings."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FormattedValue) and node.format_spec is not None:
            text = ast.unparse(node.format_spec).strip("f'\"")
            if ast.unparse(node.format_spec).rstrip("'\"").endswith("f") and "." in text:
                yield text


def test_every_number_with_digits_is_formatted_without_the_sign_of_a_negative_zero() -> None:
    signed = {
        f"{path.relative_to(PACKAGE)}: {one}"
        for path in FILES
        for one in formats(path.read_text("utf-8"))
        if "z" not in one
    }
    assert not signed, "write :z.2f or :+z.2f instead of :.2f or :+.2f"


@pytest.mark.parametrize(
    ("spec", "shown"), [("z.2f", "0.00"), ("+z.1f", "+0.0"), ("z6.2f", "  0.00"), ("z,.0f", "0")]
)
def test_the_option_removes_the_sign(spec: str, shown: str) -> None:
    assert format(-0.001, spec) == shown


def test_a_format_without_the_option_is_found() -> None:
    assert list(formats("f'{a:.2f} {b:+z.{digits}f} {c:<6} {d:.4g}'")) == [".2", "+z.{digits}"]
