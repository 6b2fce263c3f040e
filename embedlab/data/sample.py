"""The sample world: every dataset of a known kind under its own name, generated from scenes with
known meaning.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from random import Random
from types import MappingProxyType

import polars as pl

from embedlab.core.errors import MissingError
from embedlab.core.hints import Hint, NamedOption
from embedlab.data.dataset import COLUMNS, Dataset, DatasetKind, ParsedRows
from embedlab.data.definitions import of_split
from embedlab.data.lexicon import AGENTS, CONCEPTS, ENCOUNTERS, OPPOSITE
from embedlab.data.scenes import (
    FUNCTION_WORDS,
    Change,
    Scene,
    add_detail,
    another_scene,
    broaden,
    drop_details,
    generalise,
    narrow,
    negate,
    other_action,
    other_agent,
    other_place,
    other_target,
    random_scene,
    reverse_quality,
    similarity,
    swap_roles,
    word_scene,
)

Row = tuple[object, ...]

_CONTRADICTIONS: tuple[Change, ...] = (
    negate,
    reverse_quality,
    other_action,
    other_agent,
    other_target,
    other_place,
    swap_roles,
)
# Traps preserve most words and lose the meaning; paraphrases preserve the meaning and lose most
# words.
_PAIR_CHANGES: Mapping[str, tuple[Change, ...]] = MappingProxyType(
    {
        "paraphrase": (),
        "broader": (generalise,),
        "detail": (add_detail,),
        "quality": (reverse_quality,),
        "place": (other_place,),
        "target": (other_target,),
        "agent": (other_agent,),
        "action": (other_action,),
        "negation": (negate,),
        "roles": (swap_roles,),
        "two changes": (other_agent, other_action),
        "three changes": (other_agent, other_action, other_target),
        "another scene": (another_scene,),
    }
)


def sample_rows(dataset: Dataset, split: str, *, seed: int = 0) -> ParsedRows:
    """Return the generated rows of a dataset's split: the same for the same name, split and seed.

    A dataset that the sample world does not have is a MissingError.
    """
    rng = Random(f"{dataset.name}/{split}/{seed}")
    if dataset.kind == "sts":
        rows = _sts_rows(rng, dataset, split)
    elif dataset.name.startswith("glue-"):
        rows = _glue_rows(rng, dataset, 2000 if split == "train" else 300)
    elif dataset.kind in ("classification", "pair-classification"):
        rows = _class_rows(rng, dataset, 600 if split in ("train", "all") else 200)
    elif dataset.kind == "sentences" and dataset.unit > _MOST_OF_PAIRS:
        rows = _caption_rows(rng, 60, dataset.unit)
    elif dataset.kind in _GENERATORS:
        rows = _GENERATORS[dataset.kind](rng, 2000 if split.startswith("train") else 300)
    else:
        raise MissingError(
            f"the sample world has no {dataset.kind} such as {dataset.name!r}",
            hint=Hint(
                "remove ", NamedOption("--sample"), " and give ", NamedOption("--data", "DIR")
            ),
        )
    frame = pl.DataFrame(list(rows), schema=dict(COLUMNS[dataset.kind]), orient="row")
    return ParsedRows(frame=of_split(frame, split) if dataset.kind == "definitions" else frame)


def vocabulary() -> tuple[str, ...]:
    """Return every word of the sample world, in alphabetical order; all are lower-case."""
    nouns_and_participles = (
        word
        for concept in (*AGENTS.values(), *ENCOUNTERS.values())
        for word in concept.second_forms
    )
    scenes = (word for concept in CONCEPTS for word in concept.words)
    reviews = (*_REVIEWED, *_INTENSIFIERS, *(word for words in _OPINIONS for word in words))
    return tuple(
        sorted({*FUNCTION_WORDS, *_DEFINING_WORDS, *scenes, *nouns_and_participles, *reviews})
    )


def _nli_rows(rng: Random, premises: int) -> Iterable[Row]:
    """Yield about three hypotheses per premise, consecutively."""
    for _ in range(premises):
        scene = broaden(random_scene(rng), rng)
        premise = word_scene(scene, rng)
        labels = ["entailment", "neutral", "contradiction"]
        rng.shuffle(labels)
        extra = rng.random()
        for label in (
            [*labels, "entailment"] if extra < 0.2 else labels[:2] if extra < 0.4 else labels
        ):
            changed = _hypothesis(scene, label, rng)
            if changed is not None and (hypothesis := word_scene(changed, rng)) != premise:
                yield premise, hypothesis, label


def _hypothesis(scene: Scene, label: str, rng: Random) -> Scene | None:
    """Return a scene that SCENE entails, leaves open or contradicts. Details change under every
    label, so that they do not reveal it.
    """
    if label == "entailment":
        return generalise(scene, rng)
    if label == "contradiction":
        changed = _contradict(scene, rng)
        detailed = add_detail(changed, rng) if rng.random() < 0.3 else None
        return drop_details(detailed or changed, rng, keep=scene)
    open_question = (narrow(scene, rng) if rng.random() < 0.7 else None) or add_detail(scene, rng)
    return drop_details(open_question, rng, keep=scene) if open_question else None


def _contradict(scene: Scene, rng: Random) -> Scene:
    """Return a scene that contradicts SCENE: one change of it, several, or another scene
    altogether.
    """
    kind = rng.random()
    if kind < 0.2:
        return random_scene(rng)
    if kind < 0.5:
        return _change(scene, (other_agent, other_action, other_target), rng)
    changes = (change(scene, rng) for change in rng.sample(_CONTRADICTIONS, len(_CONTRADICTIONS)))
    return next(
        changed for changed in changes if changed is not None
    )  # a scene can always be negated


def _change(scene: Scene, changes: Sequence[Change], rng: Random) -> Scene:
    """Apply the applicable changes to the scene."""
    for change in changes:
        scene = change(scene, rng) or scene
    return scene


def _sts_rows(rng: Random, dataset: Dataset, split: str) -> Iterable[Row]:
    """Yield pairs for each real source; every source mixes the changes in its own proportions."""
    expected = dataset.splits[split].expected
    sources = list(expected.classes) if expected and expected.classes else [dataset.name]
    low, high = dataset.gold_range
    for source in sources:
        kinds = list(_PAIR_CHANGES)
        shares = [rng.uniform(0.5, 1.5) for _ in kinds]
        for kind in rng.choices(kinds, shares, k=max(100, 600 // len(sources))):
            first, second = _pair(rng, kind)
            gold = low + (high - low) * similarity(first, second)
            yield word_scene(first, rng), word_scene(second, rng), round(gold * 5) / 5, source


def _pair(rng: Random, kind: str) -> tuple[Scene, Scene]:
    first = random_scene(rng)
    second = first
    for change in _PAIR_CHANGES[kind]:
        second = change(second, rng) or negate(second, rng)
    return first, second


def _paraphrase_rows(rng: Random, pairs: int) -> Iterable[Row]:
    for _ in range(pairs):
        is_duplicate = rng.random() < 0.4
        first, second = _pair(
            rng, "paraphrase" if is_duplicate else rng.choice([*_PAIR_CHANGES][3:])
        )
        yield word_scene(first, rng), word_scene(second, rng), int(is_duplicate)


def _sentence_rows(rng: Random, sentences: int) -> Iterable[Row]:
    return ((word_scene(random_scene(rng), rng),) for _ in range(sentences))


_MOST_OF_PAIRS = 2  # sentences in a unit of a dataset that is made of pairs


def _caption_rows(rng: Random, pictures: int, captions: int) -> Iterable[Row]:
    """Yield several captions of each scene, none of which says everything; half of the scenes are
    like the one before.
    """
    scene = random_scene(rng)
    for _ in range(pictures):
        changed = (
            _change(scene, [rng.choice(_CONTRADICTIONS)], rng) if rng.random() < 0.5 else scene
        )
        scene = random_scene(rng) if changed is scene else changed
        yield from (
            (word_scene(drop_details(broaden(scene, rng), rng), rng),) for _ in range(captions)
        )


def _triplet_rows(rng: Random, premises: int) -> Iterable[Row]:
    """Yield a premise, a scene that it entails and one that contradicts it."""
    for _ in range(premises):
        scene = broaden(random_scene(rng), rng)
        yield (
            word_scene(scene, rng),
            word_scene(generalise(scene, rng), rng),
            word_scene(_contradict(scene, rng), rng),
        )


def _glue_rows(rng: Random, dataset: Dataset, rows: int) -> Iterable[Row]:
    """Yield sentences in order or shuffled; pairs that entail or not, or NLI labels for three
    classes.
    """
    labels = next(
        tuple(split.expected.classes)
        for split in dataset.splits.values()
        if split.expected and split.expected.classes
    )
    for _ in range(rows):
        if dataset.kind == "classification":
            label = rng.choice(labels)
            words = word_scene(random_scene(rng), rng).split()
            yield " ".join(words if label == labels[1] else rng.sample(words, len(words))), label
        else:
            kind = rng.choice(("entailment", "neutral", "contradiction"))
            scene = broaden(random_scene(rng), rng)
            changed = _hypothesis(scene, kind, rng) or _contradict(scene, rng)
            two = (
                "entailment" if "entailment" in labels else "1",
                "not_entailment" if "entailment" in labels else "0",
            )
            label = kind if len(labels) == 3 else two[kind != "entailment"]
            yield word_scene(scene, rng), word_scene(changed, rng), label


_UNNAMED_CLASSES = ("A", "B", "C")  # of datasets that state only their number of rows


def _class_rows(rng: Random, dataset: Dataset, rows: int) -> Iterable[Row]:
    """Yield sentences whose agent determines the class; pairs of the first class mean the same, of
    later ones ever less.
    """
    expected = next(
        (
            split.expected.classes
            for split in dataset.splits.values()
            if split.expected and split.expected.classes
        ),
        None,
    )
    labels, agents = tuple(expected or _UNNAMED_CLASSES), list(AGENTS.values())
    for _ in range(rows):
        scene = random_scene(rng)
        if dataset.kind == "classification":
            yield word_scene(scene, rng), labels[agents.index(scene.agent) % len(labels)]
        else:
            number = rng.randrange(len(labels))
            changes = (other_agent, other_action)[: len(labels) - 1 - number]
            yield (
                word_scene(scene, rng),
                word_scene(_change(scene, changes, rng), rng),
                labels[number],
            )


_DEFINING_WORDS = ("kind", "of", "also", "called", "opposite")


def _definition_rows(rng: Random, _: int) -> Iterable[Row]:
    """Yield one definition per word: by the broader concept, the opposite and the synonyms."""
    for concept in CONCEPTS:
        for word in concept.words:
            parts = [f"a kind of {concept.broader.name}"] if concept.broader else []
            parts += [f"the opposite of {OPPOSITE[concept].name}"] if concept in OPPOSITE else []
            parts += [f"also called {other}" for other in concept.words if other != word]
            yield word, " ".join(parts)


_REVIEWED = ("film", "movie", "plot", "acting", "music", "ending")
_INTENSIFIERS = ("very", "truly")
_OPINIONS = (
    ("bad", "dull", "boring", "poor"),
    ("average", "ordinary", "plain", "usual"),
    ("good", "great", "brilliant", "fine"),
)


def _sentiment_rows(rng: Random, sentences: int) -> Iterable[Row]:
    """Yield sentiment in five classes: an intensifier makes it extreme, a negation reverses and
    weakens it.
    """
    for _ in range(sentences):
        side = rng.choice((-1, 0, 1))
        opinion = rng.choice(_OPINIONS[side + 1])
        manner = rng.choice(("plain", "intense", "negated"))
        word = {
            "plain": opinion,
            "intense": f"{rng.choice(_INTENSIFIERS)} {opinion}",
            "negated": f"not {opinion}",
        }[manner]
        label = 2 + {"plain": side, "intense": 2 * side, "negated": -side}[manner]
        yield f"the {rng.choice(_REVIEWED)} is {word}", label


_GENERATORS: Mapping[DatasetKind, Callable[[Random, int], Iterable[Row]]] = MappingProxyType(
    {
        "nli": _nli_rows,
        "definitions": _definition_rows,
        "paraphrases": _paraphrase_rows,
        "sentiment": _sentiment_rows,
        "sentences": _sentence_rows,
        "triplets": _triplet_rows,
    }
)
