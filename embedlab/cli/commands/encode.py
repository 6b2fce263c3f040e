"""`embedlab encode`: a file of sentences becomes a file of vectors, chunk by chunk, so that a kill
costs one chunk.
"""

from embedlab.cli.generated_options import takes
from embedlab.cli.options import common, examples
from embedlab.cli.terminal import Terminal
from embedlab.workflows.options.sentences import EncodeOptions

EXAMPLES = examples(
    "embedlab encode snli-supcl sentences.txt -o vectors.npy",
    "embedlab encode sbert pairs.tsv --column sentence1 -o vectors.parquet",
)


@common("data", "runs", "machine", "output")
@takes
def encode(options: EncodeOptions, *, terminal: Terminal) -> None:
    """Write one vector for each sentence of FILE, in order.

    After an interruption the same command continues from the last chunk that it saved.
    """
    from embedlab.workflows.encode import encode_file

    made = encode_file(options, terminal)
    message = f"{made.rows} vectors of {made.dim} numbers in {options.out}"
    if options.shard is not None:
        message = (
            f"shard {options.shard}: {made.rows} vectors of {made.dim} numbers; when all shards "
            f"are there, the same command without --shard writes {options.out}"
        )
    terminal.done(
        message,
        file=str(options.out),
        rows=made.rows,
        dim=made.dim,
        model=options.model,
        **made.facts,
    )
