"""From typed model names to models that can work."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from embedlab.core.errors import UsageError
from embedlab.core.settings import Settings
from embedlab.models.catalog import Model, ModelSpec, resolve
from embedlab.models.encoder_kind import is_remote
from embedlab.models.hosts import refuse_strangers
from embedlab.models.location import pinned
from embedlab.workflows.session import Session

if TYPE_CHECKING:
    from embedlab.encoders.encoder import PairScorer


def resolve_model(name: str, session: Session) -> Model:
    """The model that a typed name means, with its notes reported; a hub model is fetched where it
    is not at hand.
    """
    resolved = resolve(name, session.settings.runs_folder)
    model = replace(
        resolved,
        members=tuple(pinned(spec, offline=session.settings.offline) for spec in resolved.members),
    )
    for note in dict.fromkeys(spec.note for spec in model.members if spec.note):
        session.note(f"{name}: {note}")
    if not session.settings.offline and session.settings.endpoint_check == "on":
        _check_endpoints(model.members, session)
    return model


def needs_network(spec: ModelSpec) -> bool:
    """Whether the vectors of SPEC, or of a part of it, come from a server."""
    return any(map(needs_network, spec.parts)) or (spec.is_prefixed and is_remote(spec.kind))


def _check_endpoints(members: Sequence[ModelSpec], session: Session) -> None:
    """Record which models answer at the addresses of MEMBERS; one that is another than before is
    reported.
    """
    for spec in members:
        _check_endpoints(spec.parts, session)
        if spec.is_prefixed and is_remote(spec.kind):
            from embedlab.encoders.endpoint import check_identity

            refuse_strangers([f"{spec.kind}:{spec.location}"])
            if (note := check_identity(spec.kind, spec.location)) is not None:
                session.warn(note)


def refuse_twice(names: Sequence[str]) -> None:
    """Refuse a model that is named twice where models are compared with each other."""
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise UsageError(f"model {twice!r} is named twice", hint="name each model once")


def one_member(model: Model) -> ModelSpec:
    """The only member of a model; a run with several seeds is refused."""
    if len(model.members) > 1:
        raise UsageError(
            f"{model.name!r} has {len(model.members)} seeds",
            hint=f"name one: {model.members[0].name}",
        )
    return model.members[0]


def load_members(model: Model, session: Session, *, cached: bool) -> "list[PairScorer]":
    """The scorers of a model: several for a run with several seeds. With CACHED their vectors are
    stored.
    """
    from embedlab.encoders.loading import scorer_for

    settings = session.settings
    return [
        scorer_for(spec, settings, cache=settings.cache if cached else None)
        for spec in model.members
    ]


def check_device(settings: Settings) -> None:
    """Refuse a device that is selected by name and is not there, also where all scores are stored
    and nothing is to compute.
    """
    if settings.device in {"cuda", "mps"}:
        from embedlab.encoders.device import machine

        machine(settings)
