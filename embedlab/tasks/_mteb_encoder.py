"""A model of embedlab as mteb calls encoders, with the prompts that its folder states for mteb's tasks, task types and roles."""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from typing import Any

from embedlab.core.errors import UsageError
from embedlab.core.progress import StartProgress
from embedlab.core.settings import Settings
from embedlab.encoders.encoder import Encoder, Vectors
from embedlab.models.catalog import ModelSpec
from embedlab.models.folder import read_usage
from embedlab.models.location import model_folder
from embedlab.models.prompts import stated_prompts
from embedlab.models.published import BY_REPOSITORY
from embedlab.tasks.task import load_member

_MODELS_WITH_FOLDER = ("run", "folder", "hub")
_ROLES = ("query", "document")  # as mteb calls them


class MtebEncoder:
    """The encoder of a member model; a typed prompt or role holds for every text, otherwise each task has its own."""

    def __init__(self, spec: ModelSpec, settings: Settings, start_progress: StartProgress) -> None:
        if spec.is_fitted:
            raise UsageError(
                f"{spec.name!r}: ?whiten=fit needs all sentences of a task at once, and mteb encodes them in parts", hint="?whiten=FILE"
            )
        self._spec, self._settings, self._start_progress = spec, settings, start_progress
        self.encoder: Encoder = load_member(spec, settings)[0]
        self._encoders: dict[ModelSpec, Encoder] = {spec: self.encoder}
        self.prompt_notes: dict[str, None] = {}  # in the order of their first use

    @cached_property
    def mteb_model_meta(self) -> Any:
        """What mteb records of the model."""
        from mteb.models.model_meta import ModelMeta

        meta = {"name": f"embedlab/{self.encoder.name.replace('/', '__')}", "revision": self.encoder.fingerprint}
        return ModelMeta.create_empty(meta)

    def encode(
        self,
        inputs: Iterable[Mapping[str, Any]],
        *,
        task_metadata: Any,
        hf_split: str,
        hf_subset: str,
        prompt_type: Any = None,
        **_: Any,
    ) -> Vectors:
        """One vector a text of all batches in INPUTS."""
        texts = [text for batch in inputs for text in batch["text"]]
        encoder = self._encoder_for(task_metadata, getattr(prompt_type, "value", None))
        return encoder.encode(texts, self._start_progress(f"mteb:{task_metadata.name}"))

    def similarity(self, embeddings1: Any, embeddings2: Any) -> Any:
        """The similarity of each vector with each other one, as the model states it."""
        from mteb import similarity_functions as functions

        kinds = {"dot": functions.dot_score, "euclidean": functions.euclidean_sim}
        return kinds.get(self._similarity, functions.cos_sim)(embeddings1, embeddings2)

    def similarity_pairwise(self, embeddings1: Any, embeddings2: Any) -> Any:
        """The similarity of each vector with that of the same row, as the model states it."""
        from mteb import similarity_functions as functions

        kinds = {"dot": functions.pairwise_dot_score, "euclidean": functions.pairwise_euclidean_sim}
        return kinds.get(self._similarity, functions.pairwise_cos_sim)(embeddings1, embeddings2)

    @cached_property
    def _similarity(self) -> str:
        if self._spec.kind not in _MODELS_WITH_FOLDER:
            return "cosine"
        return read_usage(model_folder(self._spec, offline=True), self._spec.wishes).similarity

    def _encoder_for(self, task_metadata: Any, role: str | None) -> Encoder:
        """Return the encoder with the prompt and the ROLE of a task."""
        spec = self._spec
        if spec.has_typed_prompt or spec.role is not None or spec.kind not in _MODELS_WITH_FOLDER:
            return self.encoder
        wanted = replace(spec, prompt=self._prompt(task_metadata, role), role=role if role in self._roles else None)
        if wanted not in self._encoders:
            self._encoders[wanted] = load_member(wanted, self._settings)[0]
        return self._encoders[wanted]

    def _prompt(self, task_metadata: Any, role: str | None) -> str | None:
        """Return the name of the folder's prompt for a task, otherwise the catalog's text; what is not the usual one is noted."""
        name = _prompt_name(self._stated_prompts, task_metadata, role)
        if name is not None:
            self.prompt_notes[f"prompt {name!r} of its folder"] = None
            return name
        text = listed_prompt(listed_prompts(self._spec), task_metadata.type, role)
        if text is not None and text != self._spec.prompt:
            self.prompt_notes[f"prompt {text!r} of the catalog"] = None
        return text

    @cached_property
    def _stated_prompts(self) -> Mapping[str, Any]:
        return stated_prompts(model_folder(self._spec, offline=True))

    @cached_property
    def _roles(self) -> frozenset[str]:
        """The roles of mteb's tasks for which the model has a part of its own."""
        found = set()
        for role in _ROLES:
            with suppress(UsageError):
                read_usage(model_folder(self._spec, offline=True), replace(self._spec, role=role).wishes)
                found.add(role)
        return frozenset(found)


def listed_prompts(spec: ModelSpec) -> Mapping[str, str]:
    """Return the prompts that the catalog lists for a model by name; none where one was typed, or where a typed hub id takes none."""
    entry = BY_REPOSITORY.get(spec.location) if spec.kind == "hub" else None
    return {} if entry is None or spec.has_typed_prompt or spec.prompt != entry.prompts.get("sts") else entry.prompts


def listed_prompt(prompts: Mapping[str, str], kind: str, role: str | None) -> str | None:
    """Return the catalog's prompt of a KIND of tasks or of a ROLE; what has no role and no prompt of its own has that of STS."""
    if not prompts:
        return None
    if role is not None:
        return prompts.get(role, prompts.get("passage", "") if role == "document" else "")
    return prompts.get(kind.lower(), prompts.get("sts", ""))


def _prompt_name(prompts: Mapping[str, Any], task_metadata: Any, role: str | None) -> str | None:
    """Return the most special of the PROMPTS that fit, in mteb's own order: task and role, task, type and role, type, role."""
    names = [name for own in (task_metadata.name, task_metadata.type) for name in ((f"{own}-{role}", own) if role else (own,))]
    return next((name for name in [*names, *([role] if role else [])] if name in prompts), None)
