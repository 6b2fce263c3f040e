"""The README of a trained model: its recipe and data, and the notes on its numbers."""

import re
from collections.abc import Sequence

from embedlab.core.recipe import Recipe, to_toml, without_folders
from embedlab.data.dataset import DatasetState
from embedlab.models.grammar import name_of
from embedlab.models.published import PACKAGED

_HUB_ID = re.compile(r"\w[\w.-]*/[\w.-]+")


def model_card(
    recipe: Recipe, seed: int, states: Sequence[DatasetState], *, is_normalised: bool
) -> str:
    """Return the card of a run's model, in the hub's Markdown with a YAML head."""
    normalised = ", vectors of length 1 as of the model it started from" if is_normalised else ""
    shortened = f", shortened to {recipe.max_steps} steps" if recipe.max_steps is not None else ""
    read = "\n".join(f"* {_describe(state)}" for state in states)
    return f"""---
library_name: sentence-transformers
pipeline_tag: sentence-similarity
tags: [sentence-transformers, embedlab]
{_base(recipe)}---
# {recipe.name}

{recipe.summary}

Trained by embedlab from `{recipe.encoder.model}` with seed {seed}{shortened}.
Pooling `{recipe.encoder.pooling}`, at most {recipe.encoder.max_tokens} tokens{normalised}.

Data:

{read}

Recipe:

```toml
{to_toml(without_folders(recipe)).strip()}
```
"""


def _describe(state: DatasetState) -> str:
    marks = [
        mark
        for mark, holds in (("partial", state.partial), ("generated", state.origin == "tiny"))
        if holds
    ]
    of = f" of {state.expected_rows}" if state.expected_rows not in {None, state.rows} else ""
    return (
        f"{state.name}, {state.split}: {state.rows}{of} "
        f"rows{', ' if marks else ''}{', '.join(marks)}"
    )


def _base(recipe: Recipe) -> str:
    """Return the line of the head that names the base model, where that is on the hub."""
    name = name_of(recipe.encoder.model)
    name = PACKAGED[name].repository if name in PACKAGED else name
    return f"base_model: {name}\n" if _HUB_ID.fullmatch(name) else ""
