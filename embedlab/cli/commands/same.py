"""`embedlab same`: whether what is served is the model that one thinks, or two results are of the
same thing, and if not, why.
"""

from pathlib import Path

import typer

from embedlab.cli.generated_options import takes
from embedlab.cli.options import common, examples
from embedlab.cli.terminal import Terminal
from embedlab.core.errors import ExitCode
from embedlab.workflows.options.same import SameOptions

EXAMPLES = examples(
    "embedlab same minilm http://localhost:8000/v1#MODEL",
    "embedlab same minilm ./quantised --task sts-benchmark",
    "embedlab same minilm vectors:exported.parquet --json",
    "embedlab same mine.json theirs.json",
)


@common("data", "runs", "machine", "output")
@takes
def same(options: SameOptions, *, terminal: Terminal) -> None:
    """Say whether SERVED is REFERENCE, and if not, which change of REFERENCE gives its vectors.

    About 150 texts of many kinds are encoded by both: short and around each usual limit of tokens,
    casing, accents, other scripts, emoji, code, spaces. Then REFERENCE is varied: pooling, layer,
    prompts, special tokens, truncation at any length, casing and spaces, dimensions, bits, padding
    in batches, the order of texts, other models at hand; singly and together. Lengths of vectors
    are compared too, as a cosine cannot see them. Ends with 0 where both are the same to the
    precision that is stated (1 − cosine at most 2e-6 in float32, 1e-4 in float16, 3e-3 in bf16),
    with 4 where they differ, explained or not, and with 5 where that is not known.

    Two results, A.json and B.json, as `evaluate --json`, `compare --json` or a run's evaluations
    hold them, are compared by their signatures, part by part, and by the scores that both have.
    Another version of embedlab is shown, but is the same thing if the rest is. Scores agree where
    they are apart by less than half of the last digit that tables print; a difference has an
    interval where the pairs are at hand (--data) and the scores of both models are stored.
    """
    if options.served is not None and all(
        name.endswith(".json") for name in (options.reference, options.served)
    ):
        from embedlab.workflows.verify import verify_files

        verification = verify_files(Path(options.reference), Path(options.served), terminal)
        terminal.show(*verification.tables)
        if not verification.is_same:
            raise typer.Exit(ExitCode.DIFFERENT)
        return
    from embedlab.workflows.same import same_report

    report = same_report(options, terminal)
    terminal.show(*report.tables)
    if report.exit_code != ExitCode.OK:
        raise typer.Exit(report.exit_code)
