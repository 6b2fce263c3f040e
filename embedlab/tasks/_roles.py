"""The encoders of a member model by the task and the role of a text: a folder or the catalog may
state a prompt for each of them.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

from embedlab.encoders.encoder import PairScorer
from embedlab.models.catalog import ModelSpec
from embedlab.models.location import model_folder
from embedlab.models.modules import routes
from embedlab.models.prompts import stated_prompts
from embedlab.models.published import BY_REPOSITORY

QUERY, DOCUMENT = ROLES = ("query", "document")  # as mteb and sentence-transformers call them
MODELS_WITH_FOLDER = ("run", "folder", "hub")


class RoleEncoders:
    """The encoders of a member; a typed prompt or role holds for every text, otherwise each task
    and role has its own.
    """

    def __init__(self, spec: ModelSpec, load: Callable[[ModelSpec], Any]) -> None:
        self._spec, self._load = spec, load
        self.usual: PairScorer = load(spec)
        self._loaded: dict[ModelSpec, Any] = {spec: self.usual}
        self.notes: dict[str, None] = {}  # on prompts, in the order of their first use

    def of(self, task: str, kind: str, role: str | None) -> Any:
        """Return the encoder of texts in a ROLE of a TASK, which is of a KIND as mteb calls them,
        such as Retrieval.
        """
        spec = self._spec
        if spec.has_typed_prompt or spec.role is not None:
            return self.usual
        wanted = replace(spec, role=role if role in self._routes else None)
        if spec.kind in MODELS_WITH_FOLDER:
            wanted = replace(spec, prompt=self._prompt(task, kind, role))
        if wanted not in self._loaded:
            self._loaded[wanted] = self._load(wanted)
        return self._loaded[wanted]

    def _prompt(self, task: str, kind: str, role: str | None) -> str | None:
        """Return the name of the folder's prompt for a task, otherwise the catalog's text; what is
        not the usual one is noted.
        """
        name = prompt_name(self._stated, task, kind, role)
        if name is not None:
            self.notes[f"prompt {name!r} of its folder"] = None
            return name
        text = listed_prompt(listed_prompts(self._spec), kind, role)
        if text is not None and text != self._spec.prompt:
            self.notes[f"prompt {text!r} of the catalog"] = None
        return text

    @cached_property
    def _stated(self) -> Mapping[str, Any]:
        return stated_prompts(model_folder(self._spec, offline=True))

    @cached_property
    def _routes(self) -> frozenset[str]:
        """The roles for which sentence-transformers chooses other modules."""
        is_theirs = self._spec.kind == "sentence-transformers"
        return routes(Path(self._spec.location)) if is_theirs else frozenset()


def listed_prompts(spec: ModelSpec) -> Mapping[str, str]:
    """Return the prompts that the catalog lists for a model by name; none where one was typed, or
    where a typed hub id takes none.
    """
    entry = BY_REPOSITORY.get(spec.location) if spec.kind == "hub" else None
    return (
        {}
        if entry is None or spec.has_typed_prompt or spec.prompt != entry.prompts.get("sts")
        else entry.prompts
    )


def listed_prompt(prompts: Mapping[str, str], kind: str, role: str | None) -> str | None:
    """Return the catalog's prompt of a KIND of tasks or of a ROLE; what has no role and no prompt
    of its own has that of STS.
    """
    if not prompts:
        return None
    if role is not None:
        return prompts.get(role, prompts.get("passage", "") if role == DOCUMENT else "")
    return prompts.get(kind.lower(), prompts.get("sts", ""))


def prompt_name(prompts: Mapping[str, Any], task: str, kind: str, role: str | None) -> str | None:
    """Return the most special of the PROMPTS that fit, in mteb's own order: task and role, task,
    kind and role, kind, role.
    """
    names = [
        name for base in (task, kind) for name in ((f"{base}-{role}", base) if role else (base,))
    ]
    return next((name for name in [*names, *([role] if role else [])] if name in prompts), None)
