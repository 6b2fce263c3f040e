"""Inputs about data of one's own and corpora."""

from tests.cases.runner import Case

CASES = (
    Case(
        name="binary-anchor",
        command="embedlab train p12_binary.parquet --encoder minilm --dry-run",
        says=["60 pairs of anchor and positive: anchor = anchor, positive = positive"],
        never=["not read: anchor"],
        waits="issue 55, point 2",
    ),
)
