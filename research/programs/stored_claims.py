"""Claims of papers and of pages of results, settled on stored scores, without the models.

    python research/programs/stored_claims.py show PAPER PAGE… --data DIR
    python research/programs/stored_claims.py show research/NAME.toml --data DIR
    python research/programs/stored_claims.py refresh PAGE… --data DIR

`show PAPER PAGE…` prints what `embedlab reproduce PAPER --claims` prints of the models that the
PAGEs of results name for its rows, in the lines `<!-- reproduction FILE PAPER TABLE ROW=MODEL …
-->`, or `<!-- rows … -->` where no table is shown.

A page of results has its claims beside it, in NAME.toml: `tables` say which scores are compared and
how they are cut, `names` how sentences call models and slices, `claims` are what
`embedlab.analysis.claims.Claim` holds. `refresh` writes again what is between

    <!-- claim:NAME,NAME… -->a sentence<!-- /claim -->        (of another page's claims: PAGE/NAME)
    <!-- verdicts NAME.toml --> and <!-- end of verdicts -->  the table of all claims of a page: the
    family of the correction
    <!-- claims PAGE… --paper PAPER --> and <!-- end of claims -->
"""

import argparse
import re
import shlex
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import polars as pl
import stored_answers
import stored_reproductions
import stored_tables
import stored_why
import table_pages
from claim_sentences import claim_sentences, page_claims_table
from found_claims import ComparedTable, settle_found

from embedlab.analysis.claims import (
    Claim,
    ClaimedDifference,
    SettledClaim,
    check_claim,
    claimed_difference,
    settle_claims,
)
from embedlab.analysis.evidence import Evidence, ModelColumns, average_evidence, member_columns
from embedlab.analysis.weighing import Weighed
from embedlab.choices import Aggregate
from embedlab.commands.reproduce_run import settle_paper_claims
from embedlab.comparison.comparison import Slicing
from embedlab.core.errors import UsageError
from embedlab.core.schema import build, read_toml, table
from embedlab.core.settings import Settings, load_settings
from embedlab.experiments.paper_file import select_tables
from embedlab.experiments.paper_trainings import limit_to_claims
from embedlab.reports.claims_table import claims_table

RESULTS = Path(__file__).parents[1]
SCALE = 100.0  # of all numbers on pages
WIDTH = 150  # of a line of sentences
ROWS = re.compile(r"<!-- (?:reproduction|rows) (?P<arguments>.*?) -->")
SENTENCE = re.compile(
    r"(?P<begin><!-- claim:(?P<names>[^ ]+) -->).*?(?P<end><!-- /claim -->)", re.DOTALL
)


@table
class StoredSlices:
    """The scores that claims are about, and how they are cut."""

    file: str  # of scores, beside the page
    models: tuple[
        str, ...
    ]  # those of the page's own table: a claim without a source was found among their comparisons
    by: str = "dataset"  # "why": each kind of items against all others, as stored_why.py tests them
    dataset: str = ""  # one alone
    measure: str = ""  # of items that have several; empty: all
    aggregate: Aggregate = "all"
    unseen: bool = False  # only pairs of whose sentences no model was trained on any


@table
class PageFile:
    """The claims of a page of results."""

    tables: dict[str, StoredSlices]
    names: dict[str, str] = field(default_factory=dict)  # how sentences call models and slices
    claims: dict[str, Claim]


@dataclass(frozen=True, kw_only=True)
class SettledPage:
    """The claims of a page with their verdicts, and how sentences call what they are about."""

    settled: Mapping[str, SettledClaim]
    names: Mapping[str, str]


def read_page_claims(path: Path) -> PageFile:
    """Read the claims in the file at PATH; errors name file and key."""
    found = build(PageFile, read_toml(path), where=str(path))
    for name, claim in found.claims.items():
        check_claim(claim, f"{path}: claims.{name}")
        if claim.table not in found.tables:
            raise UsageError(
                f"{path}: claims.{name}: no table {claim.table!r}",
                hint=f"known: {', '.join(found.tables)}",
            )
        if not claim.columns:
            raise UsageError(
                f"{path}: claims.{name}: no columns",
                hint='name the slices, for example columns = ["average of seven"]',
            )
    return found


@lru_cache(maxsize=16)
def settled_page(path: Path, settings: Settings) -> SettledPage:
    """Return the verdicts on the claims in the file at PATH; all of them are one family."""
    page = read_page_claims(path)
    measured: dict[str, ClaimedDifference] = {}  # what sources state: the family
    found = dict[str, SettledClaim]()
    for name, slices in page.tables.items():
        own = {key: claim for key, claim in page.claims.items() if claim.table == name}
        columns, evidence = evidence_of_file(
            path.parent / slices.file, slices.models, slices, settings
        )
        weighed = {key: Weighed(one, columns) for key, one in evidence.items()}
        tests = {(key, pair): p for key, one in weighed.items() for pair, p in one.p.items()}
        for key, claim in own.items():
            where = f"{path}: claims.{key}"
            refuse_unknown_models(claim, slices, where)
            keys = [slice_called(column, evidence, where) for column in claim.columns]
            if len(keys) > 1 and not claim.source:
                raise UsageError(
                    f"{where}: several columns, and no source",
                    hint="name one: its table tests them one by one",
                )
            mean = (
                weighed[keys[0]]
                if len(keys) == 1
                else Weighed(average_evidence("", [evidence[one] for one in keys]), columns)
            )
            difference = claimed_difference(mean, claim.first, claim.second, scale=SCALE)
            if claim.source:
                measured[key] = difference
                continue
            pair = next(one for one in mean.p if {*one} == {claim.first, claim.second})
            compared = ComparedTable.of(tests, (keys[0], pair))
            found[key] = settle_found(key, claim, difference, compared)
    settled = {one.name: one for one in settle_claims(page.claims, measured)}
    return SettledPage(settled=settled | found, names=page.names)


def refuse_unknown_models(claim: Claim, slices: StoredSlices, where: str) -> None:
    """Refuse a claim about a model that its table does not have."""
    for name in (claim.first, claim.second):
        if name not in slices.models:
            raise UsageError(
                f"{where}: no model {name!r} in table {claim.table!r}",
                hint=f"its models are {', '.join(slices.models)}",
            )


def slice_called(name: str, evidence: Mapping[str, Evidence], where: str) -> str:
    """Return the key of the only slice called NAME: its key, or what comes after the dataset
    in it.
    """
    found = (
        [name] if name in evidence else [key for key in evidence if key.partition("/")[2] == name]
    )
    if len(found) != 1:
        raise UsageError(
            f"{where}: {len(found)} slices are called {name!r}",
            hint=f"they are {', '.join(evidence)}",
        )
    return found[0]


def evidence_of_file(
    path: Path, models: Sequence[str], slices: StoredSlices, settings: Settings
) -> tuple[Sequence[ModelColumns], dict[str, Evidence]]:
    """Return what the file at PATH says of MODELS on the slices, by the keys of these."""
    if stored_tables.FACTS in pl.read_parquet_metadata(path):
        if slices.by == "why":
            scored = stored_tables.stored_pairs(path, models, settings, "dataset", slices.dataset)
            return scored.models, stored_why.contrasts_by_kind(scored)
        scored = stored_tables.stored_pairs(path, models, settings, slices.by, slices.dataset)
        scored = stored_tables.unseen_pairs(scored, settings)[0] if slices.unseen else scored
        compared = scored.compare(Slicing(by=slices.by, aggregate=slices.aggregate))
        return scored.models, {one.key: one for one in compared.evidence}
    stored, items = stored_answers.stored_answers(path, models)
    columns = stored_answers.chosen_models(path, stored, models)
    rows = stored_answers.ShownRows(
        by=slices.by, datasets=(slices.dataset,) if slices.dataset else (), measure=slices.measure
    )
    found = stored_answers.evidence_again(stored, items, member_columns(columns), rows)
    return columns, {one.key: one for one in found}


def claims_of_paper(paper: str, pages: Sequence[Path], settings: Settings) -> str:
    """Return the verdicts on a PAPER's claims in Markdown, on the models that PAGES of results name
    for its rows.
    """
    rows = []
    for page in pages:
        for found in ROWS.finditer(page.read_text("utf-8")):
            own = stored_reproductions.parser_of_tables().parse_args(
                shlex.split(found["arguments"])
            )
            if own.paper == paper:
                models = dict(text.split("=", 1) for text in own.rows)
                rows.append(
                    stored_reproductions.stored_rows(
                        page.parent / own.file, paper, own.table, models, settings
                    )
                )
    claimed = [limit_to_claims(one) for one in select_tables(paper, None) if one.claims]
    settled = settle_paper_claims(paper, claimed, rows)
    return claims_table(paper, settled.tables, settled.verdicts, marks=settled.marks).to_markdown()


def verdicts_of_page(path: Path, settings: Settings) -> str:
    """Return the verdicts on the claims in the file at PATH, in Markdown."""
    found = settled_page(path, settings)
    return page_claims_table([*found.settled.values()], found.names).to_markdown()


def with_sentences(text: str, page: Path, settings: Settings) -> str:
    """Return the TEXT of a PAGE with each sentence that is made of claims written again."""

    def again(found: re.Match[str]) -> str:
        settled: list[SettledClaim] = []
        names: dict[str, str] = {}
        for name in found["names"].split(","):
            other, _, own = name.rpartition("/")
            of = settled_page(
                RESULTS / f"{other}.toml" if other else page.with_suffix(".toml"), settings
            )
            if own not in of.settled:
                raise SystemExit(f"{page}: no claim {name!r}; there are {', '.join(of.settled)}")
            settled.append(of.settled[own])
            names |= of.names
        lines = textwrap.wrap(
            claim_sentences(settled, names), WIDTH, break_long_words=False, break_on_hyphens=False
        )
        in_list = text[text.rfind("\n", 0, found.start()) + 1 :].startswith(("- ", "  "))
        return ("\n  " if in_list else "\n").join(
            [f"{found['begin']}{lines[0]}", *lines[1:]]
        ) + found["end"]

    return SENTENCE.sub(again, text)


def refreshed(text: str, page: Path, settings: Settings) -> str:
    """Return the TEXT of a PAGE with its sentences and tables of claims made again."""
    text = with_sentences(text, page, settings)
    text = table_pages.refreshed(
        text,
        "verdicts",
        page.parent,
        parser_of_verdicts(),
        lambda own: verdicts_of_page(own.file, settings),
    )
    return table_pages.refreshed(
        text,
        "claims",
        page.parent,
        parser_of_claims(),
        lambda own: claims_of_paper(
            own.paper,
            [own.file, *(page.parent / one for one in own.others)],
            settings,
        ),
    )


def parser_of_verdicts() -> argparse.ArgumentParser:
    """Return the parser of what describes a table of a page's claims."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("file", type=Path)
    return parser


def parser_of_claims() -> argparse.ArgumentParser:
    """Return the parser of what describes a table of a paper's claims."""
    parser = parser_of_verdicts()
    parser.add_argument("others", nargs="*", type=Path)
    parser.add_argument("--paper", required=True)
    return parser


def main() -> None:
    """Show or refresh."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    shared = argparse.ArgumentParser(add_help=False)
    shared.add_argument("--data", type=Path)
    showing = commands.add_parser("show", parents=[shared])
    showing.add_argument("what", help="a paper, or a file of claims")
    showing.add_argument("pages", type=Path, nargs="*")
    refreshing = commands.add_parser("refresh", parents=[shared])
    refreshing.add_argument("pages", type=Path, nargs="+")
    arguments = parser.parse_args()
    settings = load_settings({"data": arguments.data, "allow_partial": True, "threads": 1})[0]
    if arguments.command == "show":
        own = Path(arguments.what)
        shown = (
            verdicts_of_page(own, settings)
            if own.suffix
            else claims_of_paper(own.name, arguments.pages, settings)
        )
        print(shown, end="")
        return
    for page in arguments.pages:
        page.write_text(refreshed(page.read_text("utf-8"), page, settings), "utf-8")


if __name__ == "__main__":
    main()
