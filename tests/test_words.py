"""The language of the project: standard English and the field's terms, by the list in
words.toml.
"""

import io
import re
import tokenize
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TESTS = ROOT / "tests"
TEXTS = {
    tokenize.STRING,
    getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING),
}  # from Python 3.12 on, an f-string is several tokens
LIST = tomllib.loads((Path(__file__).parent / "words.toml").read_text("utf-8"))["expression"]
PAGES = (
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "CITATION.cff",
    ".github/**/*.md",
    ".github/**/*.yml",
    "docs/**/*.md",
    "results/*.md",
    "benchmarks/results/*.md",
    "recipes/**/*.toml",
    "embedlab/**/*.md",
    "embedlab/**/*.toml",
)


@dataclass(frozen=True, kw_only=True)
class Expression:
    """One entry of the list."""

    pattern: re.Pattern[str]
    allowed: tuple[re.Pattern[str], ...]
    instead: str

    @classmethod
    def of(cls, entry: dict) -> "Expression":
        allowed = tuple(re.compile(one, re.IGNORECASE) for one in entry.get("allowed", ()))
        return cls(
            pattern=re.compile(rf"\b(?:{entry['pattern']})\b", re.IGNORECASE),
            allowed=allowed,
            instead=entry["instead"],
        )

    def found(self, text: str) -> Iterator[re.Match[str]]:
        """Each place of TEXT with the expression in a context that is not allowed."""
        fine = [match.span() for one in self.allowed for match in one.finditer(text)]
        for match in self.pattern.finditer(text):
            if not any(start <= match.start() and match.end() <= end for start, end in fine):
                yield match


EXPRESSIONS = [Expression.of(entry) for entry in LIST]
ANY = re.compile(rf"\b(?:{'|'.join(entry['pattern'] for entry in LIST)})\b")


def texts_of(path: Path) -> Iterator[tuple[int, str]]:
    """The first line and the text of each piece of prose: whole pages, and of programs their
    comments, texts and names as words.

    Of the tests' texts only docstrings count: the others are data.
    """
    content = path.read_text("utf-8")
    if path.suffix != ".py":
        yield 1, content
        return
    seen: set[str] = set()
    is_test, is_statement = path.is_relative_to(TESTS), True
    for token in tokenize.generate_tokens(io.StringIO(content).readline):
        if token.type == tokenize.COMMENT or (
            token.type in TEXTS and (is_statement or not is_test)
        ):
            yield token.start[0], token.string
        elif token.type == tokenize.NAME and token.string not in seen:
            seen.add(token.string)
            yield token.start[0], as_words(token.string)
        if token.type not in {tokenize.COMMENT, tokenize.NL}:
            is_statement = token.type in {tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}


def as_words(text: str) -> str:
    """Names as words: `keepAll_of` is "keep All of"."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text).replace("_", " ")


def is_suspect(text: str) -> bool:
    """Whether a TEXT needs the slower look at each expression: most have none."""
    return ANY.search(as_words(text).lower()) is not None


def offences(path: Path) -> list[str]:
    """What the list finds in a file, each with its line."""
    found = set()
    if not is_suspect(path.read_text("utf-8")):
        return []
    for line, text in texts_of(path):
        for expression in EXPRESSIONS if is_suspect(text) else ():
            for match in expression.found(text):
                place = line + text.count("\n", 0, match.start())
                found.add(
                    (
                        place,
                        f"{path.relative_to(ROOT)}:{place}: {match[0]!r}; write: "
                        f"{expression.instead}",
                    )
                )
    return [text for _, text in sorted(found)]


def sources() -> list[Path]:
    """The files whose language is checked."""
    programs = {
        path
        for folder in ("embedlab", "benchmarks", "tests")
        for path in (ROOT / folder).rglob("*.py")
    }
    return sorted({*programs, *(path for pattern in PAGES for path in ROOT.glob(pattern))})


def test_names_texts_and_pages_use_standard_terms() -> None:
    found = [text for path in sources() for text in offences(path)]

    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    "text",
    [
        "what is kept",
        "a run that was learnt from",
        "isKept",
        "leave --offline out",
        "'x' is no folder",
    ],
)
def test_the_list_finds_what_it_names(text: str) -> None:
    assert any(
        True
        for expression in EXPRESSIONS
        for _ in expression.found(re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text))
    )


@pytest.mark.parametrize(
    "text",
    [
        "how people judged the pair",
        "compare models side by side",
        "there is no folder",
        "an understanding",
    ],
)
def test_ordinary_english_is_allowed(text: str) -> None:
    assert not [match for expression in EXPRESSIONS for match in expression.found(text)]


def test_of_a_test_names_comments_and_docstrings_count_and_texts_are_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "test_one.py"
    path.write_text(
        '"""Of the file."""\n\n\ndef test_one():\n    # A comment.\n    """Of the test."""\n '
        '   assert f("data")\n'
    )
    programs = [text for _, text in texts_of(path)]
    monkeypatch.setattr(f"{__name__}.TESTS", tmp_path)
    tests = [text for _, text in texts_of(path)]

    assert tests == [
        '"""Of the file."""',
        "def",
        "test one",
        "# A comment.",
        '"""Of the test."""',
        "assert",
        "f",
    ]
    assert [text for text in programs if text not in tests] == ['"data"']
