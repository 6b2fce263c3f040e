"""The resolution of typed model names.

A single name is `dice`, `bm25`, a prefix with what it takes (`word-vectors:FILE`, or that of a
plug-in), or the first of these that exists: a finished run (`sbert`; one seed of it `sbert@3`), a
model of packages (`minilm`), a name of the catalog, an alias, a folder, a hub id with its "/". A
run without "@" is all its finished seeds: one model with a mean and a spread.
"""

import re
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from embedlab.core.errors import Hint, MissingError, RecipeValue, UsageError
from embedlab.core.foreign_files import hint_of_content
from embedlab.core.nearest import unknown_name_error
from embedlab.core.paths import file_hash, typed_path
from embedlab.data.table_file import TABLES
from embedlab.models.aliases import alias_change, aliased_model, aliases, store_used
from embedlab.models.encoder_kind import (
    ADDED,
    EncoderKind,
    existing_file,
    locate,
    prefix_of,
    shipped_kind,
)
from embedlab.models.grammar import (
    KINDS,
    OF_ENCODERS,
    RERANK,
    Combined,
    NameOptions,
    Single,
    name_of,
    options_text,
    parse_model,
)
from embedlab.models.hosts import note_typed
from embedlab.models.hub import cached_folder
from embedlab.models.published import (
    BY_REPOSITORY,
    FULL_NAMES,
    PACKAGED,
    SHIPPED,
    packaged_model,
    published_entry,
)

_OWN_KINDS = ("run", "folder", "hub", "dice", *KINDS)
CROSS_ENCODER_KIND = "cross-encoder"  # its prefix
FIT = "fit"  # whitening by the sentences that are scored
# How the first line of word vectors is: their number and size, or a word and its vector.
_WORD_VECTORS = re.compile(rb"\d+ \d+\s*|\S+(?:[ \t]-?\d+(?:\.\d*)?(?:e-?\d+)?){2,}\s*")
HUB_ID = re.compile(r"[\w.-]+/[\w.-]+")


@dataclass(frozen=True, kw_only=True)
class ModelSpec(NameOptions):
    """One set of weights with its usage, or a combination of such; nothing is loaded yet."""

    name: str
    kind: str  # "run", "folder", "hub", "dice", a combination, or the prefix of an encoder kind
    location: str = ""  # folder, hub id, or what follows the prefix
    has_typed_prompt: bool = False  # otherwise the prompt is the catalog's
    parts: tuple["ModelSpec", ...] = ()  # of a combination
    # documents of a query that a reranker, the first of its parts, reads again
    depth: int | None = None
    seed: int | None = None  # of a run
    note: str | None = None  # to be reported with its numbers
    repository: str | None = None  # of the hub, whose files are in the folder of a cross-encoder
    alias_of: str | None = None  # the typed name behind an alias
    training_text: tuple[str, ...] | None = None  # as its authors state it, if known
    refused_texts: tuple[str, ...] = ()  # texts that a model beside it refuses

    @property
    def is_run(self) -> bool:
        """Whether it is a seed of a run in the folder of runs."""
        return self.kind == "run"

    @property
    def is_on_hub(self) -> bool:
        """Whether its files are a repository of the hub."""
        return self.kind == "hub"

    @property
    def is_transformer(self) -> bool:
        """Whether it is one folder of weights and settings: of a run, of the user's own, or of the
        hub.
        """
        return self.kind in {"run", "folder", "hub"}

    @property
    def counts_words(self) -> bool:
        """Whether it counts shared words, weighed or not: it has neither weights nor training
        text.
        """
        return self.kind == "dice" or self.shipped.index is not None

    @property
    def only_searches(self) -> bool:
        """Whether it puts documents in order for a query, and has no similarity of any two
        texts.
        """
        return self.kind == RERANK or self.shipped.index is not None

    @property
    def is_prefixed(self) -> bool:
        """Whether its names begin with a prefix."""
        return self.kind not in _OWN_KINDS

    @property
    def shipped(self) -> EncoderKind:
        """Its kind if embedlab ships it; otherwise the kind that stands for all plug-ins."""
        return shipped_kind(self.kind) if self.is_prefixed else ADDED

    @property
    def is_transformed(self) -> bool:
        """Whether its finished vectors are whitened, normalised or stored in fewer bits."""
        return any((self.whiten, self.normalise, self.bits))

    @property
    def is_for_evaluation(self) -> bool:
        """Whether its options cannot be trained with, nor saved in a model folder."""
        options = {"layer", "special", "padding", "dtype", "whiten", "normalise", "bits"}
        return not options.isdisjoint(self.typed)

    @property
    def uncombined(self) -> tuple["ModelSpec", ...]:
        """The models that a combination is made of; of any other model itself."""
        return tuple(chain.from_iterable(part.uncombined for part in self.parts)) or (self,)

    @property
    def is_fitted(self) -> bool:
        """Whether a vector depends on the other sentences that are encoded with it."""
        return any(spec.whiten == FIT for spec in self.uncombined)

    @property
    def untransformed(self) -> "ModelSpec":
        """The model before whitening, normalisation and fewer bits; whitened vectors are cut
        afterwards.
        """
        dim = None if self.whiten is not None else self.dim
        return replace(self, whiten=None, normalise=None, bits=None, dim=dim)


@dataclass(frozen=True, kw_only=True)
class Model:
    """The model of a typed name: one member, or one for each finished seed of a run."""

    name: str
    members: tuple[ModelSpec, ...]


def model_names(runs_folder: Path) -> list[str]:
    """Return every selectable model name except files, folders and hub ids: finished runs first."""
    return list(dict.fromkeys([*finished_runs(runs_folder), *aliases(), *SHIPPED]))


def finished_runs(runs_folder: Path) -> list[str]:
    """Return the names of runs with at least one finished seed, in alphabetical order."""
    return sorted({path.parent.parent.name for path in runs_folder.glob("*/seed-*/model")})


def finished_seeds(runs_folder: Path, name: str) -> dict[int, Path]:
    """Return the model folder of each finished seed of a run, by seed."""
    folders = [
        (path.parent.name.removeprefix("seed-"), path)
        for path in (runs_folder / name).glob("seed-*/model")
    ]
    return dict(sorted((int(seed), path) for seed, path in folders if seed.isdigit()))


def resolve(name: str, runs_folder: Path) -> Model:
    """Return the model called NAME; an unknown name is a UsageError with the nearest one."""
    return _resolve(parse_model(name), runs_folder)


def refuse_untrainable(spec: ModelSpec) -> None:
    """Refuse SPEC where no training can start from it, and no model folder can hold it."""
    if not spec.is_transformer:
        raise UsageError(
            f"{spec.name!r} is not a transformer that can be trained",
            hint="give a folder, a hub id or a run",
        )
    if spec.is_for_evaluation:
        raise UsageError(
            f"{spec.name!r}: layers, special tokens, padding, dtype, whitening, normalising and bits "
            "are only for evaluation",
            hint="name the model without them",
        )


def trainable(name: str, runs_folder: Path) -> tuple[ModelSpec, ...]:
    """Return the transformers that training can start from under NAME: one, or one for each
    finished seed of a run.
    """
    members = resolve(name, runs_folder).members
    refuse_untrainable(members[0])
    for key, value in (
        ("pooling", _typed_options(name).pooling),
        ("max_tokens", members[0].max_tokens),
    ):
        if value is not None:
            raise UsageError(
                f"encoder {name!r}: the recipe sets '{key}'",
                hint=Hint(RecipeValue(f"encoder.{key}", str(value))),
            )
    return members


def _typed_options(name: str) -> NameOptions:
    parsed = parse_model(name)
    return parsed.options if isinstance(parsed, Single) else NameOptions()


def starting_members(name: str, runs_folder: Path, seeds: Sequence[int]) -> list[ModelSpec]:
    """Return the transformer that training with each of SEEDS starts from: for a run with several
    seeds, the member of the same seed.
    """
    by_seed = {member.seed: member for member in trainable(name, runs_folder)}
    first_member = next(iter(by_seed.values()))
    if len(by_seed) == 1:
        return [first_member for _ in seeds]
    if missing_seeds := [seed for seed in seeds if seed not in by_seed]:
        raise UsageError(
            f"encoder {name!r} has no finished seed {missing_seeds[0]}",
            hint=f"start from one of them: {first_member.name}",
        )
    return [by_seed[seed] for seed in seeds]


def starting_location(name: str, runs_folder: Path) -> str:
    """Return the absolute folder or the hub id of the one transformer that training starts from,
    with the options that were typed.
    """
    members = trainable(name, runs_folder)
    if len(members) > 1:
        raise UsageError(
            f"encoder {name!r} has {len(members)} seeds",
            hint=f"start from one of them: {members[0].name}",
        )
    spec, options = members[0], _typed_options(name)
    if spec.kind == "folder" and name_of(name) in PACKAGED:
        return name  # it is elsewhere in another installation
    location = spec.location
    if not spec.is_on_hub:
        location = str(Path(location).absolute())
    if options.adapter is not None and Path(options.adapter).is_dir():
        options = replace(options, adapter=str(Path(options.adapter).absolute()))
    return location + options_text(options)


def _resolve(parsed: Single | Combined, runs_folder: Path) -> Model:
    if isinstance(parsed, Single):
        members = _resolve_single(parsed, runs_folder)
    else:
        members = _combine(parsed, [_resolve(part, runs_folder) for part in parsed.parts])
    return Model(name=parsed.text, members=members)


def _combine(combined: Combined, parts: Sequence[Model]) -> tuple[ModelSpec, ...]:
    """Return one combination per seed: models with several seeds are matched by seed, the others
    occur in each.
    """
    seeds_of_model = {
        part.name: [member.seed for member in part.members]
        for part in parts
        if len(part.members) > 1
    }
    first_name, seeds = next(iter(seeds_of_model.items()), ("", [None]))
    for name, other_seeds in seeds_of_model.items():
        if other_seeds != seeds:
            raise UsageError(
                f"{combined.text!r}: {first_name!r} has the seeds {_listing(seeds)} and "
                f"{name!r} has {_listing(other_seeds)}",
                hint=f"name one seed of each, for example {first_name}@{seeds[0]}",
            )
    combinations = []
    for number, seed in enumerate(seeds):
        row = [part.members[number % len(part.members)] for part in parts]
        # The combination's name includes "@seed" of a run, so no further note is needed.
        row = [replace(spec, note=None) if spec.is_run else spec for spec in row]
        member_names = [spec.name for spec in row]
        if combined.depth is not None:
            member_names.append(str(combined.depth))
        combinations.append(
            ModelSpec(
                name=f"{combined.kind}({','.join(member_names)})",
                kind=combined.kind,
                parts=tuple(row),
                depth=combined.depth,
                seed=seed,
            )
        )
    return tuple(combinations)


def _resolve_single(single: Single, runs_folder: Path) -> tuple[ModelSpec, ...]:
    name, options = single.name, single.suffix
    full_name = name if finished_seeds(runs_folder, name) else FULL_NAMES.get(name, name)
    prefix = prefix_of(full_name)
    if name == "dice" or prefix is not None:
        spec = _prefixed_spec(full_name, prefix)
        if seeds := finished_seeds(runs_folder, name):  # of a run called dice
            note = f"the overlap of words, not the run of that name, which is {name}@{min(seeds)}"
            spec = replace(spec, note=note)
        _refuse_options(single.options, spec, single.text, hint=name)
        return (_with_options(spec, single, name + options),)
    if aliased := _resolve_alias(name, options, runs_folder):
        return aliased
    specs = (
        _resolve_run(name, runs_folder)
        or (_resolve_packaged(name) if single.options.revision is None else ())
        or _resolve_published(name, runs_folder)
        or _resolve_location(name, has_pooling=single.options.pooling is not None)
    )
    if not specs:
        listing = "folders and hub ids (with their /) work too"
        if "," in name:
            listing = f"name them one by one: {name.replace(',', ' ')}"
        raise unknown_name_error("model", name, model_names(runs_folder), listing=listing)
    if specs[0].is_on_hub and published_entry(name) is None:
        # what it is may be known only when its files are there
        spec = _with_options(specs[0], single, name + options)
        return (hub_spec(spec, cached_folder(spec.location, spec.revision)),)
    hint = f"sentence-transformers:{name}{options}" if single.options.role is not None else name
    _refuse_options(single.options, specs[0], single.text, hint=hint)
    return tuple(_with_options(spec, single, spec.name + options) for spec in specs)


def _refuse_options(
    options: NameOptions, spec: ModelSpec, text: str, *, hint: str, more: Sequence[str] = ()
) -> None:
    """Refuse OPTIONS that the model SPEC does not take, and that are not MORE; TEXT was typed, and
    HINT can be in its place.
    """
    accepted: Sequence[str] = OF_ENCODERS
    if not spec.is_transformer:
        accepted = spec.shipped.options if spec.is_prefixed else ()
    if refused := [key for key in options.typed if key not in (*accepted, *more)]:
        allowed = ", ".join(f"@{key}=".replace("normalise=", "normalise") for key in accepted)
        hint += f"; it takes {allowed}" * bool(accepted and options.role is None)
        raise UsageError(
            f"{text!r}: a model of the kind {spec.kind!r} takes no option {refused[0]!r}",
            hint=f"write {hint}",
        )


def _with_options(spec: ModelSpec, single: Single, name: str) -> ModelSpec:
    """SPEC as it was typed; a file that whitening is fitted on must exist."""
    changes = single.options.typed
    if single.options.adapter is not None:
        changes["training_text"] = None  # what an adapter was trained on is not that of its base
    if (whiten := single.options.whiten) is not None and whiten != FIT:
        hint = "@whiten= takes fit, a text file of sentences, or vectors in .npy or .parquet"
        changes["whiten"] = existing_file(whiten, missing="no file for whitening", hint=hint)
    prompt = single.options.prompt
    if (
        prompt is not None
        and spec.kind == "hub"
        and (entry := published_entry(single.name)) is not None
    ):
        changes["prompt"] = entry.prompts.get(prompt, prompt)
    return replace(spec, **{**changes, "name": name, "has_typed_prompt": prompt is not None})


def hub_spec(spec: ModelSpec, folder: Path | None) -> ModelSpec:
    """Return SPEC, a model of the hub, as a cross-encoder if its files in FOLDER say so, otherwise
    unchanged. Options that it does not take are refused.

    Without a FOLDER, because nothing was downloaded yet, SPEC is unchanged.
    """
    if folder is None:
        return spec
    from embedlab.models.cross_encoder import states_cross_encoder

    model = spec
    if spec.pooling is None and states_cross_encoder(folder):
        model = replace(
            spec, kind=CROSS_ENCODER_KIND, location=str(folder), repository=spec.location
        )
    # as a cross-encoder it was resolved by its revision, too
    _refuse_options(spec, model, spec.name, hint=spec.location, more=["revision"])
    return model


def _prefixed_spec(name: str, prefix: str | None) -> ModelSpec:
    if prefix is None:
        return ModelSpec(name=name, kind="dice")
    location = name.removeprefix(f"{prefix}:")
    if prefix == CROSS_ENCODER_KIND and HUB_ID.fullmatch(location) and not Path(location).is_dir():
        return ModelSpec(
            name=name,
            kind=prefix,
            location=str(cached_folder(location) or location),
            repository=location,
        )
    return ModelSpec(name=name, kind=prefix, location=locate(prefix, location))


def _resolve_alias(name: str, options: str, runs_folder: Path) -> tuple[ModelSpec, ...]:
    """The members of the model that an alias names, under the alias's name; for `mini@2` those of
    one seed. An alias hides no run and nothing shipped.
    """
    alias, separator, seed = name.partition("@")
    if (
        (model := aliased_model(alias)) is None
        or alias in SHIPPED
        or finished_seeds(runs_folder, alias)
    ):
        return ()
    note_typed(model)
    members = resolve(f"{model}{separator}{seed}{options}", runs_folder).members
    store_used(alias)
    aliased = []
    for member in members:
        is_seed = member.is_run and "@" in member.name
        note = "; ".join(filter(None, (member.name, member.note, alias_change(alias))))
        member_name = f"{alias}@{member.seed}" if is_seed else name
        aliased.append(replace(member, name=member_name + options, alias_of=member.name, note=note))
    return tuple(aliased)


def _resolve_run(name: str, runs_folder: Path) -> tuple[ModelSpec, ...]:
    run, separator, wanted_seed = name.partition("@")
    if not run or "/" in name:
        return ()
    seeds = finished_seeds(runs_folder, run)
    if not seeds and run not in SHIPPED and any((runs_folder / run).glob("seed-*")):
        raise MissingError(
            f"the run {run!r} has no finished seed",
            hint=f"`embedlab runs resume {run}` continues it",
        )
    if separator and wanted_seed not in map(str, seeds):
        finished = f"has the finished seeds {_listing(seeds)}" if seeds else "is not a finished run"
        raise UsageError(
            f"no model {name!r}: {run!r} {finished}", hint="`embedlab runs ls` lists all runs"
        )
    if separator:
        seeds = {int(wanted_seed): seeds[int(wanted_seed)]}
    notes = []
    if not separator and (other_model := _other_meaning(run)) is not None:
        notes.append(
            f"the run {run!r}, not the published checkpoint of that name, which is {other_model}"
        )
    if len(seeds) > 1:  # a run is its weights, wherever they lie
        from embedlab.models.folder_files import weight_files

        seed_of_weights: dict[tuple[str, ...], int] = {}
        for seed, folder in seeds.items():
            files = [*weight_files(folder), folder.parent / "heads.safetensors"]
            weights = tuple(file_hash(path) for path in files if path.is_file()) or (str(seed),)
            if (earlier_seed := seed_of_weights.setdefault(weights, seed)) != seed:
                notes.append(f"seed {seed} is a copy of seed {earlier_seed}, and counts once")
        seeds = {seed: seeds[seed] for seed in seed_of_weights.values()}
    note = "; ".join(notes) or None
    return tuple(
        ModelSpec(name=f"{run}@{seed}", kind="run", location=str(folder), seed=seed, note=note)
        for seed, folder in seeds.items()
    )


def _other_meaning(name: str) -> str | None:
    """Return what a NAME of a run means beside the run, in words that name it; None for nothing."""
    if (model := packaged_model(name)) is not None:
        return model.repository
    return SHIPPED.get(name) or aliases().get(name)


def refuse_other_meaning(name: str) -> None:
    """Refuse a NAME for a run that already means a model."""
    if (other_model := _other_meaning(name)) is not None:
        raise UsageError(
            f"no run can be called {name!r}: that is the model {other_model}",
            hint=f"choose another name, for example my-{name}",
        )


def _resolve_packaged(name: str) -> tuple[ModelSpec, ...]:
    model, is_folder = packaged_model(name), Path(name).is_dir()
    if model is None or (name != model.name and (model.state == "missing" or is_folder)):
        return ()
    note = f"the model from packages; write ./{name} for the folder of that name"
    return (
        ModelSpec(
            name=name,
            kind="folder",
            location=str(model.place),
            training_text=model.training_text,
            note=note if is_folder else None,
        ),
    )


def _resolve_published(name: str, runs_folder: Path) -> tuple[ModelSpec, ...]:
    entry = published_entry(name)
    if entry is None:
        return ()
    note = entry.note
    if (runs_folder / name).is_dir():
        note = f"the published checkpoint: the run {name!r} is not finished"
    return (
        ModelSpec(
            name=name,
            kind="hub",
            location=entry.repository,
            pooling=entry.pooling,
            prompt=entry.prompts.get("sts"),
            revision=entry.revision,
            note=note,
            training_text=entry.training_text,
        ),
    )


def _kinds_of_file(path: Path) -> tuple[str, ...]:
    """Return the kinds of encoders that a file can be, by how it begins."""
    with path.open("rb") as file:
        head = file.read(65536)
    first_line, suffix = head.partition(b"\n")[0], path.suffix.lower()
    if head.startswith(b"\x93NUMPY"):
        return ("vectors",)
    if head.startswith(b"PAR1"):
        return ("scores", "vectors")
    if suffix in TABLES and b"sentence1" in first_line and b"sentence2" in first_line:
        return ("scores",)
    if suffix == ".json" and b'"task_name"' in head:
        return ("mteb",)
    return ("word-vectors",) if suffix not in TABLES and _WORD_VECTORS.fullmatch(first_line) else ()


def _resolve_location(name: str, *, has_pooling: bool) -> tuple[ModelSpec, ...]:
    """The model in a folder or of the hub; a folder that says that it is a cross-encoder is one
    unless it HAS a POOLING typed behind it.
    """
    from embedlab.models.cross_encoder import states_cross_encoder
    from embedlab.models.folder_files import OTHER_WEIGHTS

    folder = typed_path(name)
    if folder.is_dir():
        is_pair_scorer = not has_pooling and states_cross_encoder(folder)
        kind = CROSS_ENCODER_KIND if is_pair_scorer else "folder"
        return (ModelSpec(name=name, kind=kind, location=str(folder)),)
    if folder.is_file():
        if (suffix := folder.suffix.lower()) in {".safetensors", *OTHER_WEIGHTS}:
            advice = "give the folder that save_pretrained wrote"
            if (folder.parent / "config.json").is_file():
                advice = f"name {folder.parent}"
            weights = ("weights without their description", advice)
            description, hint = OTHER_WEIGHTS.get(suffix, weights)
            raise UsageError(f"{name!r} is a file of {description}, not a model folder", hint=hint)
        hint = f"rows to evaluate on are in {' '.join(TABLES)} files: rename it, or convert it"
        if folder.suffix.lower() in TABLES:
            hint = f"these are rows: embedlab data check {shlex.quote(name)}"
        hint = hint_of_content(folder, hint)
        if kinds := _kinds_of_file(folder):
            hint = f"say what it holds: {' or '.join(f'{kind}:{name}' for kind in kinds)}"
        raise UsageError(f"{name!r} is a file, not a model", hint=hint)
    if name.startswith((".", "/", "~")):
        raise MissingError(
            f"no model folder {name!r}", hint="give a folder that save_pretrained wrote"
        )
    if not HUB_ID.fullmatch(name):
        return ()
    text = BY_REPOSITORY[name].training_text if name in BY_REPOSITORY else None
    return (ModelSpec(name=name, kind="hub", location=name, training_text=text),)


def _listing(seeds: Iterable[int | None]) -> str:
    return ", ".join(map(str, seeds))
