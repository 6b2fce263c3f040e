"""A model of embedlab as mteb calls encoders, with the prompts that its folder states for mteb's
tasks, task types and roles.
"""

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

from embedlab.core.errors import UsageError
from embedlab.core.progress import StartProgress
from embedlab.core.settings import Settings
from embedlab.encoders.encoder import Encoder, Vectors
from embedlab.models.catalog import ModelSpec
from embedlab.models.folder import read_usage
from embedlab.models.location import model_folder
from embedlab.tasks._roles import MODELS_WITH_FOLDER, RoleEncoders
from embedlab.tasks.task import load_member


class MtebEncoder:
    """The encoder of a member model; a typed prompt or role holds for every text, otherwise each
    task has its own.
    """

    def __init__(self, spec: ModelSpec, settings: Settings, start_progress: StartProgress) -> None:
        if spec.is_fitted:
            raise UsageError(
                f"{spec.name!r}: @whiten=fit needs all sentences of a task at once, and mteb "
                f"encodes them in parts",
                hint="@whiten=FILE",
            )
        self._spec, self._settings, self._start_progress = spec, settings, start_progress
        self._by_role = RoleEncoders(spec, lambda wanted: load_member(wanted, settings)[0])

    @property
    def encoder(self) -> Encoder:
        """The encoder of texts that have no role."""
        usual: Encoder = self._by_role.usual  # type: ignore[assignment]
        return usual

    @property
    def prompt_notes(self) -> list[str]:
        """What is to be said of prompts that were used."""
        return [*self._by_role.notes]

    @cached_property
    def mteb_model_meta(self) -> Any:
        """What mteb records of the model."""
        from mteb.models.model_meta import ModelMeta

        meta = {
            "name": f"embedlab/{self.encoder.name.replace('/', '__')}",
            "revision": self.encoder.fingerprint,
        }
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
        encoder = self._by_role.of(
            task_metadata.name, task_metadata.type, getattr(prompt_type, "value", None)
        )
        vectors: Vectors = encoder.encode(texts, self._start_progress(f"mteb:{task_metadata.name}"))
        return vectors

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
        if self._spec.kind not in MODELS_WITH_FOLDER:
            return "cosine"
        return read_usage(model_folder(self._spec, offline=True), self._spec.wishes).similarity
