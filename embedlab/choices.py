"""Closed choices that the command line, the code and the files share."""

from typing import Literal, get_args

By = Literal["dataset", "source", "dice"]  # what one score is computed over
Aggregate = Literal["all", "mean", "wmean"]  # how the scores of a dataset's sources are aggregated
Similarity = Literal["cosine", "dot", "euclidean", "manhattan"]  # of two sentence vectors
Correlation = Literal["spearman", "pearson"]
SettingName = Literal[
    "literature", "prototyping", "exact"
]  # how classifiers on frozen vectors are trained
TableScale = Literal[
    1, 100
]  # what tables multiply a number by: 100 a share, of which more is better; 1 a number in a unit of its own
Tracker = Literal["tensorboard", "wandb", "trackio", "mlflow"]
EditRule = Literal["negate", "number"]  # by which a sentence is edited
ExplainView = Literal[
    "effects", "tokens"
]  # what words do to a similarity, or how a mean of token vectors adds up
EDIT_RULES: tuple[EditRule, ...] = get_args(EditRule)
TableRows = Literal["slices", "models"]  # what the rows of a table of scores are
