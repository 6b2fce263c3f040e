"""Claims beside pages of results: read strictly, settled on stored scores, and in step with the
sentences of their pages.
"""

import re
from pathlib import Path

import polars as pl
import pytest
from stored_answers import FACTS as ANSWERS
from stored_answers import LARGEST, stored_comparison
from stored_claims import PageFile, read_page_claims, slice_called
from stored_tables import stored_table

from embedlab.analysis.evidence import Evidence
from embedlab.core.errors import UsageError

RESULTS = Path(__file__).parents[1]
FILES = sorted(RESULTS.glob("*.toml"))
PAGES = [RESULTS.parent / "README.md", *sorted(RESULTS.glob("*.md"))]
MARK = re.compile(r"<!-- claim:([^ ]+) -->(.*?)<!-- /claim -->", re.DOTALL)
TABLE = 'file = "scores/x.parquet"\nmodels = ["a", "b"]\n'


def claim(table: str, rest: str) -> str:
    """The text of a file with one claim about TABLE."""
    return (
        f'[tables.t]\n{TABLE}[claims]\nx = {{ table = "{table}", first = "a", second = "b", '
        f"{rest} }}"
    )


def verdicts(page: Path) -> dict[str, list[str]]:
    """The cells of each claim in the table of a PAGE."""
    (block,) = re.findall(
        r"<!-- verdicts .*?<!-- end of verdicts -->", page.read_text("utf-8"), re.DOTALL
    )
    rows = [
        [cell.strip() for cell in line.split("|")[1:-1]]
        for line in block.splitlines()
        if line.startswith("| ")
    ]
    return {row[0]: row for row in rows[2:]}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_page_lists_the_verdicts_on_all_claims_beside_it(path: Path) -> None:
    page = read_page_claims(path)
    assert [*verdicts(path.with_suffix(".md"))] == [*page.claims]
    for slices in page.tables.values():
        assert (path.parent / slices.file).is_file()


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_the_numbers_of_sentences_are_those_of_the_verdicts(page: Path) -> None:
    for names, text in MARK.findall(page.read_text("utf-8")):
        assert text.strip(), names
        for name in names.split(","):
            other, _, own = name.rpartition("/")
            number = verdicts(RESULTS / f"{other}.md" if other else page)[own][3]
            assert number.partition(" ")[0] in text, (name, number, text)


def test_claims_name_models_that_their_files_have() -> None:
    for path in FILES:
        page: PageFile = read_page_claims(path)
        for slices in page.tables.values():
            file = path.parent / slices.file
            are_answers = ANSWERS in pl.read_parquet_metadata(file)  # in place of similarities
            stored = stored_comparison(file) if are_answers else stored_table(file)
            rules = {LARGEST} if are_answers else set()
            assert {*slices.models} <= {model.name for model in stored.models} | rules, path


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"[tables.t]\n{TABLE}by = 3\n[claims]\n", "tables.t.by"),
        (claim("u", 'direction = "above", columns = ["s"]'), "claims.x: no table 'u'"),
        (claim("t", 'direction = "up", columns = ["s"]'), "claims.x.direction"),
        (claim("t", 'direction = "equal", columns = ["s"]'), "needs a size"),
        (claim("t", 'direction = "above"'), "claims.x: no columns"),
    ],
)
def test_what_is_wrong_beside_a_page_is_said_with_its_file_and_key(
    text: str, said: str, tmp_path: Path
) -> None:
    path = tmp_path / "page.toml"
    path.write_text(text)
    with pytest.raises(UsageError) as caught:
        read_page_claims(path)
    assert str(path) in caught.value.message
    assert said in caught.value.message


def test_a_slice_that_several_datasets_have_is_refused() -> None:
    evidence = dict.fromkeys(
        ("sts13/OnWN", "sts14/OnWN", "sts14/images"), Evidence.__new__(Evidence)
    )
    assert slice_called("images", evidence, "x") == "sts14/images"
    assert slice_called("sts13/OnWN", evidence, "x") == "sts13/OnWN"
    with pytest.raises(UsageError, match="2 slices are called 'OnWN'"):
        slice_called("OnWN", evidence, "x")
