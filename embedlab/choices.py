"""The closed choices that the command line, the code and the files share, each stated once."""

from typing import Literal

By = Literal["dataset", "source", "dice"]  # what one score is of
Aggregate = Literal["all", "mean", "wmean"]  # how the sources of a dataset become one score
Correlation = Literal["spearman", "pearson"]
SettingName = Literal["literature", "prototyping", "exact"]  # how classifiers on frozen vectors are trained
Test = Literal["dyadic", "mcnemar", "williams", "steiger"]  # where the p of a difference comes from
Tracker = Literal["tensorboard", "wandb", "trackio", "mlflow"]
