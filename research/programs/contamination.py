"""What published models have read of the seven STS sets, as `audit` says it, from similarities that
are stored: no model is needed but its card.

    python research/programs/contamination.py --data DIR

Prints the table of `embedlab audit MODEL --reference REFERENCE --placebo PLACEBO` for each row of
AUDITS.
"""

import argparse
import sys
from pathlib import Path

import polars as pl

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

from pair_frames import pair_outcomes, pair_table

from embedlab.api import NotebookSession
from embedlab.commands.audit import AuditOptions, audit_report
from embedlab.core.settings import Settings
from embedlab.data.source import Source

SCORES = ROOT / "research/scores/negation.parquet"
SETS = ("sts12", "sts13", "sts14", "sts15", "sts16", "sts-benchmark", "sick-r")
AUDITS = (
    ("minilm", "wordllama", "dice"),
    ("mpnet", "wordllama", "dice"),
    ("wordllama", "dice", "minilm"),
)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of corpora")
    settings = Settings(data=parser.parse_args().data, allow_partial=True, offline=True)
    source = Source.from_settings(settings)
    table = pair_table([source.open(name, "test") for name in SETS])
    scores = pl.read_parquet(SCORES).with_columns(pl.exclude("pair_key").cast(pl.Float64))
    table = table.join(scores, on="pair_key", how="left", maintain_order="left")
    members = [*scores.columns[1:], "dice"]
    outcomes = pair_outcomes(table, members, task="sts", averages={})
    session = NotebookSession(settings=settings)
    for model, reference, placebo in AUDITS:
        options = AuditOptions(model=model, reference=reference, placebo=placebo)
        columns = {name: [name] for name in members}
        report = audit_report(options, outcomes, columns, set(), (), session)
        print(report.tables[0].to_markdown(), flush=True)


if __name__ == "__main__":
    main()
