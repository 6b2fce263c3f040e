import json
import re
from html import unescape

import pytest
from markdown_it import MarkdownIt

from embedlab.core.printable import (
    ERROR_HANDLER,
    SIGNS,
    ascii_json,
    count_text,
    markdown_text,
    one_line,
    sparkline,
    visible,
    without_formula,
)

OBEYED = [*"\x00\x07\x1b\r\x7f\x80\x9b\x9f\u2028\u202e\u2066\ud800\uffff"]


@pytest.mark.parametrize("character", OBEYED)
def test_a_character_that_a_terminal_obeys_is_shown_as_its_escape(character: str) -> None:
    assert visible(f"a{character}b") == f"a\\u{ord(character):04x}b"


def test_what_people_write_stays_as_it_is() -> None:
    text = "Ünïcode – “quotes” 日本語 🏴󠁧󠁢󠁥󠁮󠁧󠁿 a\u200db שלום\u200f\ttab\nline"
    assert visible(text) == text
    assert one_line("a\tb\r\nc\nd\re") == "a b c d e"


def test_escaped_json_is_read_as_the_same_values() -> None:
    values = {"sentence": "".join(OBEYED) + 'é 🎸 "\\'}
    text = json.dumps(values, ensure_ascii=False)
    assert json.loads(visible(text)) == values
    assert ascii_json(text).isascii()
    assert json.loads(ascii_json(text)) == values


def test_an_encoding_that_lacks_a_character_gets_its_escape_or_a_plain_sign() -> None:
    assert "a – ± é 🎸".encode("ascii", ERROR_HANDLER) == b"a - +- \\u00e9 \\ud83c\\udfb8"
    assert "é\udcff".encode("utf-8", ERROR_HANDLER) == b"\xc3\xa9\\udcff"


def test_the_signs_behind_numbers_are_each_one_character_in_every_encoding() -> None:
    plain = [one.sign.encode("ascii", ERROR_HANDLER).decode() for one in SIGNS]
    assert all(len(sign) == 1 for sign in plain)
    assert len({*plain}) == len(SIGNS), "two signs that look alike"
    assert not {*plain} & {"=", "+", "-", "[", "]"}, "what numbers and intervals are made of"
    assert "72.37‡ a°".encode("ascii", ERROR_HANDLER) == b"72.37# a~"


@pytest.mark.parametrize(
    "text", ["=1+1", "+cmd", "-negated", "@SUM(A1)", "\tx", "\rx", "-1+2", "--"]
)
def test_a_formula_gets_an_apostrophe(text: str) -> None:
    assert without_formula(text) == f"'{text}"


@pytest.mark.parametrize("text", ["-0.5", "+2e-5", "-1.", "-.5", "a=b", "", "'=1"])
def test_a_number_and_other_text_get_none(text: str) -> None:
    assert without_formula(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "![](http://example.org/pixel.png)",
        "see [this](javascript:alert(1)) and ![a] [b]",
        "a ` alone <i>",
        "&lt;script&gt; &#60;b&#62;",
        "`` `<b>` `` <b>",
        "a | b \\ c <!-- gone -->",
        "3 < 4 & 5 > 2 [+0.1, +0.2]*",
    ],
)
def test_markdown_shows_html_links_and_images_as_text(text: str) -> None:
    html = (
        MarkdownIt("commonmark")
        .enable("table")
        .render(f"| a |\n| --- |\n| {markdown_text(text)} |\n")
    )
    cell = html[html.index("<td>") + 4 : html.index("</td>")]
    assert not re.findall(r"<(?!/?(?:code|em)>)", cell)
    shown = unescape(re.sub(r"</?(?:code|em)>", "", cell))
    assert shown.replace("`", "").split() == text.replace("`", "").split()
    assert "\n" not in markdown_text(f"{text}\n# heading\r\n")


@pytest.mark.parametrize(
    ("things", "of_one"),
    [
        ("pairs", "1 pair"),
        ("scored pairs of questions", "1 scored pair of questions"),
        ("queries have no texts", "1 query has no texts"),
        ("texts were refused", "1 text was refused"),
        ("GPUs", "1 GPU"),
    ],
)
def test_one_thing_is_in_the_singular_with_its_verb(things: str, of_one: str) -> None:
    assert count_text(1, things) == of_one
    assert [count_text(count, things) for count in (0, 2)] == [f"0 {things}", f"2 {things}"]


def test_a_sparkline_shows_means_from_low_to_high() -> None:
    assert sparkline([1, 2, 3, float("nan")], 8) == "▁▅█"
    assert sparkline([0, 2, 4, 6, 0, 0], 3) == "▂█▁"
    assert sparkline([], 8) == ""
