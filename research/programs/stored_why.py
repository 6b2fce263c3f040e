"""Why two models differ, from stored similarities of their pairs, without the models.

    python research/programs/stored_why.py show research/scores/NAME.parquet FIRST SECOND --data DIR
    [--dataset NAME] python research/programs/stored_why.py refresh research/PAGE.md… --data DIR

The files are those that stored_tables.py writes. `show` prints what `embedlab why FIRST SECOND`
prints, without typical pairs: most corpora may not be copied. `refresh` writes what is between
these two lines of a page again:

    <!-- why scores/NAME.parquet FIRST SECOND [--dataset NAME] [--rows 8] [--notes] -->
    <!-- end of why -->
"""

import argparse
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import numpy as np
import table_pages
from stored_tables import StoredPairs, stored_pairs

from embedlab.analysis.evidence import Evidence, contrast_evidence, member_columns
from embedlab.comparison.comparison import Slicing
from embedlab.comparison.explanation import DifferenceExplanation, explain_difference
from embedlab.comparison.uneven import item_kinds, measured_kinds
from embedlab.core.settings import Settings, load_settings
from embedlab.outcomes.frame import DATASET
from embedlab.scoring.task_comparison import TaskComparison


def explained_again(scored: StoredPairs) -> tuple[DifferenceExplanation, TaskComparison]:
    """Return why the two models of SCORED differ, and both compared, by the procedure of today."""
    from embedlab.commands.why import HALVES_SEED

    compared = scored.compare(Slicing())
    rng = np.random.default_rng(HALVES_SEED)
    return explain_difference(
        scored.pairs, scored.models, compared.evidence, rng=rng, examples=0
    ), compared


def contrasts_by_kind(scored: StoredPairs) -> dict[str, Evidence]:
    """Return how the models of SCORED do on each kind of items minus how they do on the others:
    "question=both" and so on.
    """
    measured = measured_kinds(scored.pairs, member_columns(scored.models), item_kinds(scored.pairs))
    return {
        f"{one.kind.by}={one.kind.value}": contrast_evidence(
            one.kind_evidence.key, one.kind_evidence, one.other_evidence
        )
        for one in measured
    }


@lru_cache(maxsize=4)
def shown(
    path: Path,
    first: str,
    second: str,
    settings: Settings,
    *,
    dataset: str,
    rows: int,
    has_all_notes: bool,
) -> str:
    """Return the tables of why FIRST and SECOND of the file at PATH differ on all datasets or one,
    in Markdown.
    """
    from embedlab.reports.why import why_tables

    tables = why_tables(
        *explained_again(stored_pairs(path, [first, second], settings, DATASET, dataset)), rows=rows
    )
    return "\n".join(replace(one, has_all_notes=has_all_notes).to_markdown() for one in tables)


def shown_as(arguments: argparse.Namespace, settings: Settings) -> str:
    """Return the tables that the ARGUMENTS of `show` describe, in Markdown."""
    own = (arguments.file, arguments.first, arguments.second, settings)
    return shown(
        *own, dataset=arguments.dataset, rows=arguments.rows, has_all_notes=arguments.notes
    )


def refreshed(page: str, folder: Path, settings: Settings) -> str:
    """Return a PAGE whose files are relative to FOLDER with its tables made again."""
    return table_pages.refreshed(
        page, "why", folder, parser_of_tables(), lambda arguments: shown_as(arguments, settings)
    )


def parser_of_tables() -> argparse.ArgumentParser:
    """Return the parser of what describes the tables of two models."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("file", type=Path)
    parser.add_argument("first")
    parser.add_argument("second")
    parser.add_argument("--dataset", default="", help="one dataset alone")
    parser.add_argument("--rows", type=int, default=8)
    parser.add_argument("--notes", action="store_true")
    return parser


def main() -> None:
    """Show or refresh."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    shared = argparse.ArgumentParser(add_help=False)
    shared.add_argument("--data", type=Path, required=True)
    commands.add_parser("show", parents=[shared, parser_of_tables()])
    refreshing = commands.add_parser("refresh", parents=[shared])
    refreshing.add_argument("pages", type=Path, nargs="+")
    arguments = parser.parse_args()
    settings = load_settings({"data": arguments.data, "allow_partial": True, "threads": 1})[0]
    if arguments.command == "show":
        print(shown_as(arguments, settings), end="")
        return
    for page in arguments.pages:
        page.write_text(refreshed(page.read_text("utf-8"), page.parent, settings), "utf-8")


if __name__ == "__main__":
    main()
