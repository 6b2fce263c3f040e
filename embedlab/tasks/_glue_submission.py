"""Predictions for GLUE's test splits in the file format of its server; the labels are not
public.
"""

from collections.abc import Sequence
from pathlib import Path

from embedlab.core.disk import write_atomic
from embedlab.core.errors import UsageError
from embedlab.core.settings import Settings
from embedlab.data.source import Source
from embedlab.models.catalog import ModelSpec
from embedlab.tasks._glue_classifier import load_classifier, task_of
from embedlab.tasks._glue_metrics import GLUE_TASKS, ItemValues

LOWEST, HIGHEST = 0.0, 5.0  # scores of STS-B


class GlueSubmission:
    """A file for each test split of the GLUE tasks that runs were trained on."""

    server = "GLUE's server"

    def check(self, specs: Sequence[ModelSpec], settings: Settings) -> None:
        """Refuse unreadable test splits and two runs for one task; no model is loaded."""
        source, authors = Source.from_settings(settings), dict[str, str]()
        for spec in specs:
            name = task_of(spec)
            for split, file in GLUE_TASKS[name].files.items():
                if file in authors:
                    raise _twice(authors[file], spec.name, file)
                source.open(name, split)
                authors[file] = spec.name

    def write(
        self, folder: Path, specs: Sequence[ModelSpec], settings: Settings
    ) -> dict[Path, str]:
        """Write the predictions of each run for the test splits of its task (two files for MNLI)
        into FOLDER; return each file's run.

        A missing test split is a MissingError, two runs for one task are a UsageError; in both
        cases nothing is written.
        """
        texts: dict[Path, str] = {}
        authors: dict[Path, str] = {}
        for spec in specs:
            for file, text in _files(spec, settings).items():
                path = folder / file
                if path in texts:
                    raise _twice(authors[path], spec.name, file)
                texts[path], authors[path] = text, spec.name
        for path, text in texts.items():
            write_atomic(path, text, hint="choose another folder with --submission")
        return authors


def _twice(first: str, second: str, file: str) -> UsageError:
    return UsageError(
        f"{first!r} and {second!r} both predict {file}", hint="name one run for each GLUE task"
    )


def _files(spec: ModelSpec, settings: Settings) -> dict[str, str]:
    classifier = load_classifier(spec, settings)
    source = Source.from_settings(settings)
    return {
        file: predictions_text(
            classifier.answers(source.open(classifier.dataset, split).frame), classifier.classes
        )
        for split, file in GLUE_TASKS[classifier.dataset].files.items()
    }


def predictions_text(answers: ItemValues, classes: Sequence[str]) -> str:
    """Return the text of a file of predictions: the row of each item from 0, and its label or,
    without CLASSES, its score from 0 to 5.
    """
    predictions = (
        [classes[answer] for answer in answers]
        if classes
        else [f"{score:.3f}" for score in answers.clip(LOWEST, HIGHEST)]
    )
    return "".join(
        f"{index}\t{prediction}\n"
        for index, prediction in [("index", "prediction"), *enumerate(predictions)]
    )
