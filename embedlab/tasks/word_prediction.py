"""The task `word_prediction`: how highly a definition's vector ranks its word among the whole
vocabulary.
"""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray

from embedlab.analysis.measures import FIRST, TOPS
from embedlab.core.errors import MissingError, UsageError
from embedlab.core.printable import count_text
from embedlab.core.recipe import Recipe
from embedlab.core.session import ProgressCallback, StartProgress
from embedlab.core.settings import Settings
from embedlab.data.dataset import Part
from embedlab.data.source import Source
from embedlab.models.catalog import ModelSpec
from embedlab.models.config import is_bare
from embedlab.models.location import model_folder
from embedlab.runs.store import RunFolder
from embedlab.tasks.task import (
    Selection,
    Task,
    TaskResult,
    evaluation_of,
    outcomes_of,
)

if TYPE_CHECKING:
    import torch

    from embedlab.encoders.transformer import TransformerEncoder
    from embedlab.encoders.word_head import WordHead, WordHeadKind


# DefSent's; an item is a definition, its prediction the rank of its word
METRICS = (f"mrr@{FIRST}", *(f"top-{cut}" for cut in TOPS))
LOGIT_ROWS = 512  # logits of 30,000 words each: 60 MB


def evaluate_words(
    encoder: "TransformerEncoder", part: Part, progress: ProgressCallback | None = None
) -> TaskResult:
    """The rank of the word of each definition of PART whose word is one token of the encoder, and
    the measures of these ranks.

    The encoder's word head is used; a run that was trained with head "tied" uses its own word
    vectors. An encoder without a head is a UsageError.
    """
    import torch

    from embedlab.encoders.word_head import load_word_head

    words = encoder.word_ids(part.frame["word"].to_list())
    rows = np.flatnonzero(words >= 0)
    if not len(rows):
        raise MissingError(
            f"no word of {part.state.name!r} ({part.state.split}) is a single token of {encoder.name!r}",
            hint="use a larger file of definitions",
        )
    definitions, named_words = (part.frame[name][rows] for name in ("definition", "word"))
    head = load_word_head(encoder, _head_of(Path(str(encoder.backbone.name_or_path))))
    vectors = torch.from_numpy(encoder.encode(definitions.to_list(), progress))
    ranks = word_ranks(head, vectors.to(encoder.machine.device), words[rows])
    notes = []
    if left_out := len(part.frame) - len(rows):
        counted = count_text(left_out, "definitions")
        notes = [f"{counted} left out: the word is not a single known token"]
    evaluation = evaluation_of("word_prediction", encoder, [part.state], notes=notes)
    texts = replace(part, frame=pl.DataFrame({"sentence1": definitions, "sentence2": named_words}))
    outcomes = outcomes_of(evaluation, texts, rows, ranks, is_class=False, rows=rows)
    return TaskResult(
        evaluation=evaluation,
        tested=(replace(part, frame=part.frame[rows]),),
        outcomes=(outcomes,),
        setting="whole vocabulary",
    )


def word_ranks(
    head: "WordHead", vectors: "torch.Tensor", words: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the rank of each vector's own word among all words by their logits, 1 = first; tied
    words rank before it.
    """
    import torch

    ranks = np.empty(len(words), np.int64)
    with torch.inference_mode():
        for start in range(0, len(words), LOGIT_ROWS):
            block = slice(start, start + LOGIT_ROWS)
            target = torch.from_numpy(words[block]).to(vectors.device).unsqueeze(1)
            logits = head(vectors[block])
            ranks[block] = (logits >= logits.gather(1, target)).sum(dim=1).cpu().numpy()
    return ranks


def _definitions(source: Source) -> Part:
    return source.open("definitions", "test", kind="definitions")


def _refuse_headless(spec: ModelSpec, settings: Settings) -> None:
    if spec.kind not in ("run", "folder", "hub"):
        raise UsageError(f"{spec.name!r} is not a transformer, so it has no word head")
    folder = model_folder(spec, offline=settings.offline)
    if _head_of(folder) == "mlm" and is_bare(folder):
        raise UsageError(
            f"{spec.name!r} has no masked-language-model head",
            hint="a run of defsent has one, and so does the encoder that it started from",
        )


def _head_of(folder: Path) -> "WordHeadKind":
    """Return the kind of head that the model in FOLDER was trained with; "mlm" for a model that is
    not a run.
    """
    if not (folder.parent / "recipe.toml").is_file():
        return "mlm"
    options = [
        stage.objective.options
        for stage in RunFolder(folder.parent).recipe().stages
        if stage.objective.name == "definition_to_word"
    ]
    return options[-1].head if options else "mlm"


class WordPrediction(Task):
    """Words of definitions unseen in training. Only words that are a single token of the model
    count, so that they depend on the model.
    """

    name = "word_prediction"
    summary = (
        "MRR@10 and top-1, 3, 10 of the word that a definition's vector predicts, words "
        "unseen in training (DefSent)"
    )

    def check(self, spec: ModelSpec, settings: Settings) -> None:
        """Refuse a model without a head, and definitions that cannot be read, before anything is
        loaded.
        """
        _refuse_headless(spec, settings)
        _definitions(Source.from_settings(settings))

    def check_recipe(self, recipe: Recipe, source: Source) -> None:
        """Refuse definitions that cannot be read; whether a head exists is only known once a model
        exists.
        """
        _definitions(source)

    def evaluate(
        self,
        spec: ModelSpec,
        settings: Settings,
        start_progress: StartProgress,
        selection: Selection,
    ) -> TaskResult:
        """Evaluate on the test definitions; a model without a head is a UsageError before it is
        loaded.
        """
        _refuse_headless(spec, settings)
        # torch is imported only here.
        from embedlab.encoders.device import machine
        from embedlab.encoders.loading import load_trainable

        encoder = load_trainable(spec, machine(settings), offline=settings.offline)
        part = _definitions(Source.from_settings(settings))
        return evaluate_words(encoder, part, start_progress("definitions"))

    def measures(self, dataset: str) -> tuple[str, ...]:
        """Return MRR@10, then the shares of words among the first."""
        return METRICS


TASK = WordPrediction()
