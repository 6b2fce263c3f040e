"""`embedlab export`: a model as a folder that transformers and sentence-transformers load."""

from embedlab.cli.generated_options import takes
from embedlab.cli.options import common, examples
from embedlab.cli.terminal import Terminal
from embedlab.workflows.options.results import ExportOptions

EXAMPLES = examples(
    "embedlab export snli-supcl@1 my-model",
    "embedlab export bert-base-uncased@pooling=mean bert-mean",
)


@common("data", "runs", "output")
@takes
def export(options: ExportOptions, *, terminal: Terminal) -> None:
    """Write MODEL into DIR with its tokenizer, pooling and card."""
    from embedlab.workflows.export import export_model

    pooling = export_model(options.model, options.folder, terminal)
    terminal.done(
        f"{options.model} with pooling {pooling} is in {options.folder}",
        folder=str(options.folder),
        model=options.model,
        pooling=pooling,
    )
