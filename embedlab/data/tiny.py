"""`--data tiny`: a small generated corpus of every kind, so that each recipe starts without files
or a network. Its numbers say nothing about real language.

A scene is an agent, an action, a target, a place and a manner. Each is worded by one of several
synonyms, so that two sentences can mean the same with other words.
"""

from collections.abc import Iterator
from random import Random

import polars as pl

from embedlab.data.corpus_file import rows_of_split
from embedlab.data.dataset import COLUMNS, NLI_LABELS, Dataset

AGENTS = (
    "child kid youngster", "man gentleman fellow", "woman lady", "doctor physician", "cook chef",
    "farmer grower", "guard sentry", "dog hound", "cat feline", "horse stallion", "bird fowl",
    "teacher instructor", "singer vocalist", "driver motorist", "soldier trooper", "painter artist",
)  # fmt: skip
ACTIONS = (
    "chases pursues", "flees escapes", "finds discovers", "loses misplaces", "lifts raises",
    "drops releases", "opens unlocks", "shuts closes", "praises lauds", "blames accuses",
    "buys purchases", "sells vends", "starts begins", "ends finishes", "mends repairs",
    "breaks damages",
)  # fmt: skip
TARGETS = (
    "ball sphere", "car automobile", "bicycle bike", "boat vessel", "door gate", "box carton",
    "rock stone", "coat jacket", "book volume", "picture image", "cup mug", "road street",
    "lamp lantern", "plant shrub", "rope cord", "letter message",
)  # fmt: skip
PLACES = ("forest woods", "city town", "shop store", "beach shore", "field meadow", "hall lobby")
MANNERS = ("quickly rapidly", "slowly gradually", "quietly silently", "loudly noisily", "never")
NEVER = 4  # the manner that denies a scene
OPINIONS = ("awful terrible", "weak dull", "plain ordinary", "nice pleasant", "superb brilliant")
REVIEWED = ("film", "play", "song", "novel", "show")
SLOTS = tuple(
    tuple(tuple(words.split()) for words in slot)
    for slot in (AGENTS, ACTIONS, TARGETS, PLACES, MANNERS)
)
WEIGHTS = (3, 4, 3, 1, 1)  # what each part of a scene counts in a similarity
FUNCTION_WORDS = ("the", "a", "two", "in", "is", "word", "for", "not", "of", "kind")
KINDS = ("agent", "action", "thing", "place", "manner")

Scene = tuple[int | None, ...]  # the number of each part's meaning, None where it is not said


def vocabulary() -> tuple[str, ...]:
    """Return every word of the corpus, in alphabetical order; all are lower-case."""
    worded = {word for slot in SLOTS for words in slot for word in words}
    opinions = {word for words in OPINIONS for word in words.split()}
    return tuple(sorted(worded | opinions | {*FUNCTION_WORDS, *REVIEWED, *KINDS}))


def tiny_rows(dataset: Dataset, split: str) -> pl.DataFrame:
    """Return the generated rows of a dataset's split: the same for the same name and split."""
    rng = Random(f"{dataset.name}/{split}")
    count = 600 if split.startswith(("train", "all")) else 200
    match dataset.kind:
        case "sts":
            rows = _scored_pairs(rng, dataset, split)
        case "nli":
            rows = _nli(rng, 2 * count)
        case "definitions":
            rows = _definitions()
        case "paraphrases":
            rows = ((*_pair(rng, changes), int(not changes)) for changes in _draws(rng, 2, count))
        case "sentiment":
            rows = _reviews(rng, count)
        case "sentences":
            rows = _sentences(rng, count, dataset.unit)
        case "triplets":
            rows = (_triplet(rng) for _ in range(count))
        case "classification" | "pair-classification":
            rows = _classes(rng, dataset, count)
    frame = pl.DataFrame(list(rows), schema=dict(COLUMNS[dataset.kind]), orient="row")
    return rows_of_split(frame, split) if dataset.kind == "definitions" else frame


def _draws(rng: Random, limit: int, count: int) -> list[int]:
    return [rng.randrange(limit) for _ in range(count)]


def _scene(rng: Random) -> Scene:
    return tuple(
        None if index > 2 and rng.random() < 0.4 else rng.randrange(len(slot))
        for index, slot in enumerate(SLOTS)
    )


def _worded(scene: Scene, rng: Random) -> str:
    agent, action, target, place, manner = (
        None if meaning is None else rng.choice(slot[meaning])
        for slot, meaning in zip(SLOTS, scene, strict=True)
    )
    words = [rng.choice(("the", "a", "two")), agent, manner, action, "the", target]
    words += ["in the", place] * (place is not None)
    return " ".join(filter(None, words))


def _changed(scene: Scene, rng: Random, changes: int) -> Scene:
    """Return SCENE with so many of its agent, action and target replaced."""
    meanings = list(scene)
    for index in rng.sample(range(3), changes):
        alternatives = [number for number in range(len(SLOTS[index])) if number != scene[index]]
        meanings[index] = rng.choice(alternatives)
    return tuple(meanings)


def _pair(rng: Random, changes: int) -> tuple[str, str]:
    scene = _scene(rng)
    return _worded(scene, rng), _worded(_changed(scene, rng, changes), rng)


def _scored_pairs(rng: Random, dataset: Dataset, split: str) -> Iterator[tuple[object, ...]]:
    """Yield pairs of every real source; their gold is the weight of the parts that are equal."""
    expected = dataset.splits[split].expected
    sources = list(expected.classes) if expected and expected.classes else [dataset.name]
    low, high = dataset.gold_range
    for source in sources:
        for changes in _draws(rng, 4, max(100, 400 // len(sources))):
            first = _scene(rng)
            second = _changed(first, rng, changes)
            details = (None if rng.random() < 0.2 else meaning for meaning in second[3:])
            second = (*second[:3], *details)
            weights = zip(WEIGHTS, first, second, strict=True)
            equal = sum(weight for weight, meaning, other in weights if meaning == other)
            gold = round((low + (high - low) * (equal / sum(WEIGHTS))) * 5) / 5
            yield _worded(first, rng), _worded(second, rng), gold, source


def _hypothesis(scene: Scene, label: str, rng: Random) -> str:
    """Return a sentence that SCENE entails, leaves open or contradicts."""
    place, manner = None, scene[4]
    if label == "neutral":
        place = rng.choice([number for number in range(len(PLACES)) if number != scene[3]])
    elif label == "contradiction" and rng.random() < 0.3:
        manner = None if manner == NEVER else NEVER
    elif label == "contradiction":
        scene = _changed(scene, rng, 1)
    return _worded((*scene[:3], place, manner), rng)


def _nli(rng: Random, premises: int) -> Iterator[tuple[str, str, str]]:
    """Yield two to four hypotheses of each premise, one after the other."""
    for _ in range(premises):
        scene = _scene(rng)
        premise = _worded(scene, rng)
        labels = [*rng.sample(NLI_LABELS, rng.choice((2, 3, 3))), *NLI_LABELS[: rng.randrange(2)]]
        yield from ((premise, _hypothesis(scene, label, rng), label) for label in labels)


def _triplet(rng: Random) -> tuple[str, str, str]:
    scene = _scene(rng)
    positive, negative = (_hypothesis(scene, NLI_LABELS[number], rng) for number in (0, 2))
    return _worded(scene, rng), positive, negative


def _definitions() -> Iterator[tuple[str, str]]:
    """Yield definitions of every word: its kind, and each of its synonyms."""
    for kind, slot in zip(KINDS, SLOTS, strict=True):
        for words in slot:
            for word in words:
                yield word, f"a kind of {kind}"
                yield from ((word, f"a word for {synonym}") for synonym in words if synonym != word)


def _reviews(rng: Random, count: int) -> Iterator[tuple[str, int]]:
    """Yield opinions from very negative, 0, to very positive, 4; a negation turns them round."""
    for label in _draws(rng, 5, count):
        is_negated = rng.random() < 0.2
        word = rng.choice(OPINIONS[4 - label if is_negated else label].split())
        yield f"the {rng.choice(REVIEWED)} is {'not ' if is_negated else ''}{word}", label


def _sentences(rng: Random, count: int, unit: int) -> Iterator[tuple[str]]:
    """Yield sentences; a dataset with a UNIT gets as many sentences of the same scene in a row."""
    for _ in range(count // unit):
        scene = _scene(rng)
        yield from ((_worded(scene, rng),) for _ in range(unit))


def _classes(rng: Random, dataset: Dataset, count: int) -> Iterator[tuple[str, ...]]:
    """Yield sentences whose agent decides the class, or pairs that differ more the later their
    class is in the list.
    """
    expected = [split.expected for split in dataset.splits.values() if split.expected]
    stated = (counts.classes for counts in expected if counts.classes)
    labels = list(next(stated, ("A", "B", "C")))
    if labels == ["0", "1"]:
        labels.reverse()  # 1 is for pairs that mean the same
    for number in _draws(rng, len(labels), count):
        if dataset.kind == "pair-classification":
            yield *_pair(rng, round(3 * number / (len(labels) - 1))), labels[number]
        else:
            agent = rng.choice(range(number % len(AGENTS), len(AGENTS), len(labels)))
            yield _worded((agent, *_scene(rng)[1:]), rng), labels[number]
