"""Whether the vectors of sentences still differ while their encoder trains: collapsed, all are
nearly the same.

A loss alone does not show it, as its value at chance is not known. Both are measured now and then:
the mean cosine of a few of the stage's own sentences, without dropout, and the loss of a batch
whose vectors are all the same.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import torch

from embedlab.encoders.encoder import mean_cosine
from embedlab.encoders.tokens import TokenRows, gather_rows
from embedlab.encoders.transformer import TransformerEncoder
from embedlab.objectives.objective import Objective
from embedlab.runs import events
from embedlab.training.batching import Batch

# drawn from the stage's: 0.1 points of a mean cosine, and less time than a dev score
SENTENCES = 256


def sample_of(tokens: TokenRows) -> TokenRows:
    """Return the tokens of the sentences that are measured, the same in every process and after
    every interruption.
    """
    rows = np.random.default_rng(0).permutation(len(tokens))[:SENTENCES]
    types = (
        None
        if tokens.types is None
        else [tokens.types[tokens.offsets[row] : tokens.offsets[row + 1]] for row in rows]
    )
    ids = [tokens.flat[tokens.offsets[row] : tokens.offsets[row + 1]] for row in rows]
    return gather_rows(ids, tokens.truncated[rows], types)  # type: ignore[arg-type]  # arrays are sequences of numbers


def loss_of_equal_vectors(objective: Objective, batch: Batch, vector: torch.Tensor) -> float:
    """Return the loss of BATCH where all of its sentences, with any view, have the one VECTOR,
    (dim,): what chance gives.
    """
    vectors = vector.expand(batch.sentences * len(objective.views), -1)
    was_training = objective.training
    objective.eval()
    try:
        with torch.inference_mode():
            return float(objective(vectors, batch.columns))
    finally:
        objective.train(was_training)


class SpreadMeter:
    """Measures how far apart the vectors of some sentences of each stage are, now and then while
    they are trained together.
    """

    def __init__(
        self, encoder: TransformerEncoder, samples: Mapping[int, TokenRows], *, is_beginning: bool
    ) -> None:
        self._encoder, self._samples = encoder, samples  # by stage
        self._before = (
            {stage: mean_cosine(encoder.embed_tokens(sample)) for stage, sample in samples.items()}
            if is_beginning
            else {}
        )

    def measure(
        self, objectives: Sequence[Objective], batches: Sequence[Batch], *, step: int
    ) -> Iterator[events.VectorSpread]:
        """Yield the measurement after STEP for each of the BATCHES that were read in it; OBJECTIVES
        are those of all stages.
        """
        for batch in batches:
            if (
                sample := self._samples.get(batch.stage)
            ) is None:  # of a frozen encoder vectors do not change
                continue
            vectors = self._encoder.embed_tokens(sample)
            middle = torch.from_numpy(vectors.mean(axis=0)).to(self._encoder.machine.device)
            read = batch.parts[0] if batch.parts else batch
            yield events.VectorSpread(
                step=step,
                stage=batch.stage,
                mean_cosine=mean_cosine(vectors),
                before=self._before.get(batch.stage, float("nan")),
                chance=loss_of_equal_vectors(objectives[batch.stage], read, middle),
            )
