"""`embedlab compare`: models side by side, and whether they differ."""

from dataclasses import replace

import typer

from embedlab.cli.generated_options import takes
from embedlab.cli.options import common, examples
from embedlab.cli.page_facts import page_facts
from embedlab.cli.reporting import PageOptions, answer
from embedlab.cli.terminal import Terminal
from embedlab.core.errors import ExitCode
from embedlab.workflows.options.compare import CompareOptions, GateOptions

EXAMPLES = examples(
    "embedlab compare dice snli-ce snli-supcl --data DIR",
    "embedlab compare sbert defsent average:sbert,defsent --by source --format markdown",
    "embedlab compare sbert defsent --suite sts --suite transfer",
    "embedlab compare base mine faq.csv --by dice",
    "embedlab compare CANDIDATE BASE --task faq.csv --fail-if-worse 0.5",
    "embedlab compare sbert defsent --suite all --html sbert-defsent.html",
    "embedlab compare sbert defsent --rows models --latex --figure scores.pdf --figure "
    "'gold.pdf?kind=calibration'",
)


@common("data", "runs", "machine", "output", "latex")
@takes
def compare(
    options: CompareOptions, gate: GateOptions, shown: PageOptions, *, terminal: Terminal
) -> None:
    """Compare MODELs with the first of them, with 95% intervals over the pairs or items and over
    the seeds.

    A FILE among them is your own rows to compare on; one with the scores of a model is scores:FILE.

    Pairs and items of one topic count as dependent: those with equal or nearly equal sentences. Two
    models share a letter in a row exactly if they cannot be distinguished, * marks a difference
    from the first model: both from one p for each two models, corrected by Holm over the table. °
    in place of * is about these checkpoints only; § marks a difference that one topic decides. With
    --equivalent, = marks a difference that two one-sided tests find smaller than the margin. †
    marks a score on pairs that were in the model's training data, ‡12% one on sentences of which
    that share was, ' one on sentences of which fewer than 5% were. What is not scored yet is scored
    first.

    Tests: dyadic flips the signs of topics, with the spread over seeds; McNemar, exact below 25
    discordant items and mid-p from there (Fagerland 2013); for two correlations with one gold score
    Williams' t and Steiger's Z (Steiger 1980), which hold for ranks only approximately. Models of
    several seeds are always tested by dyadic.
    """
    from embedlab.workflows.compare import ComparisonReport, comparison_report
    from embedlab.workflows.gate import check_gate, gated
    from embedlab.workflows.own_files import models_and_files

    names, files = models_and_files(
        options.models, bool(options.tasks or options.suites), terminal.settings
    )
    options = replace(options, models=names, tasks=options.tasks or files)
    check_gate(gate, names)
    shown.check_page()
    ended: list[tuple[str, ExitCode]] = []

    def compared() -> ComparisonReport:
        report = comparison_report(options, terminal)
        if len(names) == 1:
            terminal.note(
                f"one model: nothing to compare it with; `embedlab evaluate {names[0]}` "
                f"shows all its numbers"
            )
        if gate.margin is None:
            return report
        report, line, code = gated(report, gate.margin)
        ended.append((line, code))
        return report

    def write_page(report: ComparisonReport) -> None:
        if shown.html is not None:
            from embedlab.workflows.comparison_page import write_comparison_page

            write_comparison_page(shown.html, report, page_facts, terminal)

    answer(compared, shown, "compare", terminal, page=write_page)
    for line, code in ended:
        terminal.note(line)
        raise typer.Exit(code)
