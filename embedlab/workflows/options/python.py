"""The functions of `import embedlab` that have the options of a command, and what they call its
fields.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from embedlab.workflows.options.compare import CompareOptions
from embedlab.workflows.options.data import ItemsOptions, OverlapsOptions
from embedlab.workflows.options.evaluate import EvaluateOptions
from embedlab.workflows.options.explain import ExplainOptions
from embedlab.workflows.options.fields import FlaggedField, flagged_fields
from embedlab.workflows.options.grid import GridOptions, ScoresOptions, StatusOptions
from embedlab.workflows.options.pairs import PairsOptions
from embedlab.workflows.options.power import PowerOptions
from embedlab.workflows.options.reproduce import ReproductionOptions
from embedlab.workflows.options.results import ExportOptions, VerifyOptions
from embedlab.workflows.options.runs import RunOptions
from embedlab.workflows.options.sentences import NearestOptions
from embedlab.workflows.options.train import TrainOptions
from embedlab.workflows.options.why import WhyOptions


@dataclass(frozen=True, kw_only=True)
class PythonFunction:
    """The options of a function, with the names that differ, and what only a terminal has."""

    options: type
    called: Mapping[str, str] = field(default_factory=dict)
    without: tuple[str, ...] = ()

    @property
    def arguments(self) -> dict[str, FlaggedField]:
        """The fields by the names of the arguments, in order."""
        return {
            self.called.get(flagged_field.name, flagged_field.name): flagged_field
            for flagged_field in flagged_fields(self.options)
            if flagged_field.name not in self.without
        }


_SUITE, _SET = (
    {"suites": "suite"},
    {"overrides": "set"},
)  # one suite may be typed alone, and values are a dictionary
FUNCTIONS: Mapping[str, PythonFunction] = {
    "evaluate": PythonFunction(options=EvaluateOptions, called=_SUITE),
    "compare": PythonFunction(options=CompareOptions, called=_SUITE),
    "power": PythonFunction(options=PowerOptions, called=_SUITE),
    "why": PythonFunction(options=WhyOptions, called=_SUITE),
    "pairs": PythonFunction(options=PairsOptions),
    "explain": PythonFunction(options=ExplainOptions),
    "nearest": PythonFunction(options=NearestOptions),
    "verify": PythonFunction(options=VerifyOptions),
    "export": PythonFunction(options=ExportOptions),
    "train": PythonFunction(
        options=TrainOptions,
        called={**_SET, "keeps_checkpoints": "keep_checkpoints"},
        without=(
            "seed",
            "gpus",
        ),  # seeds=1; processes that share a training, which the command starts
    ),
    "run": PythonFunction(options=RunOptions, called={"run": "name"}),
    "grid": PythonFunction(options=GridOptions, called=_SET),
    "grid_status": PythonFunction(options=StatusOptions),
    "grid_table": PythonFunction(options=ScoresOptions, called={"setting": "aggregate"}),
    "reproduce": PythonFunction(options=ReproductionOptions, called={**_SET, "models": "row"}),
    "items": PythonFunction(options=ItemsOptions),
    "overlaps": PythonFunction(options=OverlapsOptions),
}
