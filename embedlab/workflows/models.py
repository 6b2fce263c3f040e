"""From typed model names to models that can work."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from embedlab.core.errors import MissingError, UsageError
from embedlab.core.hints import Hint, NamedOption
from embedlab.core.names import recipe_names
from embedlab.core.paths import STARTER
from embedlab.core.settings import Settings
from embedlab.models.catalog import Model, ModelSpec, resolve
from embedlab.models.hosts import refuse_strangers
from embedlab.models.location import pinned
from embedlab.models.packaged import packaged
from embedlab.workflows.session import Session

if TYPE_CHECKING:
    from embedlab.encoders.encoder import PairScorer


def resolve_model(name: str, session: Session) -> Model:
    """The model that a typed name means, with its notes reported; a hub model is fetched where it
    is not at hand.
    """
    resolved = resolve(name, session.settings.runs)
    try:
        members = tuple(pinned(spec, offline=session.settings.offline) for spec in resolved.members)
    except MissingError as error:
        if name in {spec.location for spec in resolved.members} or not any(
            spec.is_on_hub for spec in resolved.members
        ):
            raise
        raise MissingError(
            f"{name!r} was taken for a published model: {error.message}",
            hint=Hint(error.advice, *_ways_beside(name, session.settings)),
        ) from error
    model = replace(resolved, members=members)
    for note in dict.fromkeys(spec.note for spec in model.members if spec.note):
        session.note(f"{name}: {note}")
    if not session.settings.offline and session.settings.endpoint_check == "on":
        _check_endpoints(model.members, session)
    return model


def resolve_models(names: Iterable[str | Model], session: Session) -> list[Model]:
    """The models that typed NAMES mean, those that are resolved already as they are; all that are
    missing are one error.
    """
    models: list[Model] = []
    missing: list[MissingError] = []
    for name in names:
        try:
            models.append(resolve_model(name, session) if isinstance(name, str) else name)
        except MissingError as error:
            missing.append(error)
    if len(missing) > 1:
        raise MissingError("; ".join(error.message for error in missing), hint=missing[0].advice)
    if missing:
        raise missing[0]
    return models


def _ways_beside(name: str, settings: Settings) -> Iterator[str | NamedOption]:
    """Yield what this machine has in place of a published model: a recipe of its NAME, and what is
    installed.
    """
    if name in recipe_names():
        yield f"; `embedlab train {name}` trains the recipe of that name"
    minilm = packaged("minilm")
    if minilm is not None and minilm.state == "installed":
        yield "; minilm is on this machine"
        if settings.data is None:
            yield ", and "
            yield NamedOption("--data", STARTER)
            yield " has pairs for it"


def needs_network(spec: ModelSpec) -> bool:
    """Whether the vectors of SPEC, or of a part of it, come from a server."""
    return any(map(needs_network, spec.parts)) or spec.shipped.is_remote


def _check_endpoints(members: Sequence[ModelSpec], session: Session) -> None:
    """Record which models answer at the addresses of MEMBERS; one that is another than before is
    reported.
    """
    for spec in members:
        _check_endpoints(spec.parts, session)
        if spec.shipped.is_remote:
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
