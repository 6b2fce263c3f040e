"""How GLUE scores each of its tasks, and the names of the files in which it takes predictions."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import fmean
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embedlab.analysis.correlations import pearson, spearman

ItemValues = NDArray[Any]  # (items,) class indices, or scores
MetricFunction = Callable[[ItemValues, ItemValues], float]


def glue_accuracy(gold: ItemValues, predicted: ItemValues) -> float:
    """Share of equal labels."""
    return float((gold == predicted).mean())


def glue_matthews(gold: ItemValues, predicted: ItemValues) -> float:
    """Matthews correlation of two binary columns; 0 where either is constant."""
    table = np.array(
        [[np.sum((gold == a) & (predicted == b)) for b in (0, 1)] for a in (0, 1)], dtype=np.float64
    )
    spread = np.sqrt(table.sum(0).prod() * table.sum(1).prod())
    return float(np.linalg.det(table) / spread) if spread else 0.0


def glue_f1(gold: ItemValues, predicted: ItemValues) -> float:
    """Harmonic mean of precision and recall of the second of two classes."""
    return float(
        2
        * np.sum((gold == 1) & (predicted == 1))
        / max(1, np.sum(gold == 1) + np.sum(predicted == 1))
    )


_METRICS: Mapping[str, MetricFunction] = {
    "matthews": glue_matthews,
    "f1": glue_f1,
    "accuracy": glue_accuracy,
    "pearson": pearson,
    "spearman": spearman,
}


@dataclass(frozen=True, kw_only=True)
class GlueTask:
    """One of GLUE's tasks."""

    metrics: Mapping[str, MetricFunction]
    counted: tuple[str, ...]  # those whose mean is GLUE's score of the task
    files: Mapping[str, str]  # test split → the file of its predictions

    def score(self, values: Mapping[str, float]) -> float:
        """GLUE's own score of the task from the values of its metrics."""
        return fmean(values[name] for name in self.counted)


def _task(
    file: str, *counted: str, shown: tuple[str, ...] = (), files: Mapping[str, str] | None = None
) -> GlueTask:
    return GlueTask(
        metrics={name: _METRICS[name] for name in (*counted, *shown)},
        counted=counted,
        files=files or {"test": f"{file}.tsv"},
    )


GLUE_TASKS: Mapping[str, GlueTask] = MappingProxyType(
    {
        "glue-cola": _task("CoLA", "matthews", shown=("accuracy",)),
        "glue-sst2": _task("SST-2", "accuracy"),
        "glue-mrpc": _task("MRPC", "f1", "accuracy"),
        "sts-benchmark": _task("STS-B", "pearson", "spearman"),
        "glue-qqp": _task("QQP", "f1", "accuracy"),
        "glue-mnli": _task(
            "MNLI",
            "accuracy",
            files={"test-matched": "MNLI-m.tsv", "test-mismatched": "MNLI-mm.tsv"},
        ),
        "glue-qnli": _task("QNLI", "accuracy"),
        "glue-rte": _task("RTE", "accuracy"),
        "glue-wnli": _task("WNLI", "accuracy"),
    }
)  # by the name of the dataset
