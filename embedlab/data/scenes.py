"""The scenes of the sample world: their meaning, their wording and their similarity."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from embedlab.data.lexicon import (
    ACTIVITIES,
    AGENTS,
    ENCOUNTERS,
    HANDLING,
    NARROWER,
    OPPOSITE,
    PLACES,
    THINGS,
    TIMES,
    Concept,
    leaves,
)

FUNCTION_WORDS = ("a", "an", "the", "is", "are", "not", "being", "by", "in", "at", "two")

_AGENTS, _ACTIVITIES, _ENCOUNTERS, _PLACES = (
    leaves(table) for table in (AGENTS, ACTIVITIES, ENCOUNTERS, PLACES)
)
_PEOPLE = tuple(agent for agent in _AGENTS if AGENTS["person"].covers(agent))
_THINGS = {
    kind: tuple(thing for thing in leaves(THINGS) if kind.covers(thing))
    for kind in HANDLING.values()
}
_TIMES, _QUALITIES = tuple(TIMES.values()), tuple(OPPOSITE)


@dataclass(frozen=True, kw_only=True)
class Scene:
    """Who does what, to whom or what, where and when; None = unspecified."""

    agent: Concept
    action: Concept
    target: Concept | None = None
    quality: Concept | None = None  # of the agent
    place: Concept | None = None
    time: Concept | None = None
    two: bool = False  # two agents
    negated: bool = False

    @property
    def is_encounter(self) -> bool:
        """Whether one agent acts on another."""
        return self.action in _ENCOUNTERS


_DETAIL_RATE = 0.6  # probability of quality and place; time has half of it


def random_scene(rng: Random) -> Scene:
    """Return a random scene of the narrowest concepts, each of quality, place and time with a fixed
    probability.
    """
    agent = rng.choice(_AGENTS)
    kind = rng.random()
    target = None
    if kind < 0.35:
        action = rng.choice(_ENCOUNTERS)
        target = rng.choice([other for other in _AGENTS if other is not agent])
    elif kind < 0.7:
        agent, action = rng.choice(_PEOPLE), rng.choice(tuple(HANDLING))
        target = rng.choice(_THINGS[HANDLING[action]])
    else:
        action = rng.choice(_ACTIVITIES)
    return Scene(
        agent=agent,
        action=action,
        target=target,
        quality=rng.choice(_QUALITIES) if rng.random() < _DETAIL_RATE else None,
        place=rng.choice(_PLACES) if rng.random() < _DETAIL_RATE else None,
        time=rng.choice(_TIMES) if rng.random() < _DETAIL_RATE / 2 else None,
        two=rng.random() < 0.2,
    )


def word_scene(scene: Scene, rng: Random) -> str:
    """Return a sentence for the scene: any synonyms, place first or last, encounters also in the
    passive.
    """
    subject, verb = _noun_phrase(scene, rng), "are" if scene.two else "is"
    negation = " not" if scene.negated else ""
    action = rng.randrange(len(scene.action.words))
    if scene.target is None:
        core = f"{subject} {verb}{negation} {scene.action.words[action]}"
    elif scene.is_encounter and rng.random() < 0.3:
        core = (
            f"{_with_article(rng.choice(scene.target.words), rng)} is{negation} being "
            f"{scene.action.second_forms[action]} by {subject}"
        )
    else:
        core = (
            f"{subject} {verb}{negation} {scene.action.words[action]} "
            f"{_with_article(rng.choice(scene.target.words), rng)}"
        )
    where = [
        text
        for text in (_place(scene, rng), f"at {rng.choice(scene.time.words)}" if scene.time else "")
        if text
    ]
    return " ".join([*where, core] if rng.random() < 0.3 else [core, *where])


def _noun_phrase(scene: Scene, rng: Random) -> str:
    word = rng.randrange(len(scene.agent.words))
    noun = scene.agent.second_forms[word] if scene.two else scene.agent.words[word]
    phrase = f"{rng.choice(scene.quality.words)} {noun}" if scene.quality else noun
    return f"two {phrase}" if scene.two else _with_article(phrase, rng)


def _with_article(phrase: str, rng: Random) -> str:
    return (
        f"the {phrase}"
        if rng.random() < 0.5
        else f"{'an' if phrase[0] in 'aeiou' else 'a'} {phrase}"
    )


def _place(scene: Scene, rng: Random) -> str:
    if scene.place is None:
        return ""
    word = rng.choice(scene.place.words)
    return f"in the {word}" if scene.place.broader else word


# Similarity. Weights of the slots, chosen so that changing who or what matters more than where or
# when.
_WEIGHTS = {
    "action": 0.32,
    "agent": 0.25,
    "target": 0.23,
    "quality": 0.15,
    "place": 0.12,
    "time": 0.08,
}


def similarity(first: Scene, second: Scene) -> float:
    """Return the similarity of two scenes, 0 to 1: weighted agreement of their slots; a negation in
    only one divides it by three.
    """
    total = agreed = 0.0
    for slot, weight in _WEIGHTS.items():
        one, other = getattr(first, slot), getattr(second, slot)
        if one is not None or other is not None:
            total += weight
            agreed += weight * _concept_similarity(one, other)
    number = 1.0 if first.two == second.two else 0.9
    polarity = 1.0 if first.negated == second.negated else 1 / 3
    return agreed / total * number * polarity


def _concept_similarity(first: Concept | None, second: Concept | None) -> float:
    if first is None or second is None:
        return 0.4  # specified on one side only: neither equal nor different
    if first is second:
        return 1.0
    if first.covers(second) or second.covers(first):
        return 0.6
    return 0.2 if first.broader is not None and first.broader is second.broader else 0.0


_DETAILS = {"quality": _QUALITIES, "place": _PLACES, "time": _TIMES}
_NARROWABLE = ("agent", "action", "target", "place")


# Changes of a scene's meaning. Each returns another scene, or None where it does not apply.
Change = Callable[[Scene, Random], Scene | None]


def generalise(scene: Scene, rng: Random) -> Scene:
    """A scene that is true whenever SCENE is: broader concepts and fewer details; a negated scene
    stays as it is.
    """
    return scene if scene.negated else broaden(drop_details(scene, rng), rng)


def drop_details(scene: Scene, rng: Random, *, keep: Scene | None = None) -> Scene:
    """Return the scene without about every fourth detail, but never drop one that the scene KEEP
    specifies differently.
    """
    for slot in _DETAILS:
        if rng.random() < 0.25 and (keep is None or getattr(keep, slot) is getattr(scene, slot)):
            scene = _replace(scene, slot, None)
    return scene


def broaden(scene: Scene, rng: Random) -> Scene:
    """The scene with about every fourth concept replaced by the next broader one."""
    for slot in _NARROWABLE:
        concept: Concept | None = getattr(scene, slot)
        if concept is not None and concept.broader is not None and rng.random() < 0.25:
            scene = _replace(scene, slot, concept.broader)
    return scene


def narrow(scene: Scene, rng: Random) -> Scene | None:
    """The scene with one concept replaced by one of the narrower ones."""
    narrower = {slot: NARROWER.get(getattr(scene, slot), ()) for slot in _NARROWABLE}
    slots = [slot for slot, concepts in narrower.items() if concepts]
    return _replace(scene, slot := rng.choice(slots), rng.choice(narrower[slot])) if slots else None


def add_detail(scene: Scene, rng: Random) -> Scene | None:
    """A scene that says something SCENE leaves open."""
    unsaid = [slot for slot in _DETAILS if getattr(scene, slot) is None]
    return (
        _replace(scene, slot := rng.choice(unsaid), rng.choice(_DETAILS[slot])) if unsaid else None
    )


def negate(scene: Scene, rng: Random) -> Scene:
    """The same scene denied, or affirmed when it was denied."""
    return replace(scene, negated=not scene.negated)


def reverse_quality(scene: Scene, rng: Random) -> Scene | None:
    """The agent has the opposite quality."""
    return replace(scene, quality=OPPOSITE[scene.quality]) if scene.quality else None


def swap_roles(scene: Scene, rng: Random) -> Scene | None:
    """Exchange agent and target."""
    return (
        replace(scene, agent=scene.target, target=scene.agent, quality=None)
        if scene.is_encounter and scene.target
        else None
    )


def other_action(scene: Scene, rng: Random) -> Scene | None:
    """The same agent does something else of the same sort."""
    group: Sequence[Concept] = _ACTIVITIES
    if scene.is_encounter:
        group = _ENCOUNTERS
    elif scene.target is not None:
        group = [action for action, kind in HANDLING.items() if kind.covers(scene.target)]
    return _with_another(scene, "action", group, rng)


def other_agent(scene: Scene, rng: Random) -> Scene | None:
    """Replace the agent."""
    return _with_another(
        scene, "agent", _PEOPLE if AGENTS["person"].covers(scene.agent) else _AGENTS, rng
    )


def other_target(scene: Scene, rng: Random) -> Scene | None:
    """Replace the target."""
    if scene.target is None:
        return None
    return _with_another(
        scene, "target", _AGENTS if scene.is_encounter else _THINGS[HANDLING[scene.action]], rng
    )


def other_place(scene: Scene, rng: Random) -> Scene | None:
    """Move the scene to an exclusive place: outdoors instead of indoors."""
    if scene.place is None:
        return None
    elsewhere = [concept for concept in _PLACES if concept.root is not scene.place.root]
    return _with_another(scene, "place", elsewhere, rng)


def another_scene(scene: Scene, rng: Random) -> Scene:
    """Return an unrelated scene."""
    return random_scene(rng)


def _with_another(scene: Scene, slot: str, group: Sequence[Concept], rng: Random) -> Scene | None:
    """Return the scene with another concept of GROUP in a slot, neither equal, broader nor
    narrower; None if there is none.
    """
    said: Concept = getattr(scene, slot)
    others = [concept for concept in group if not said.covers(concept) and not concept.covers(said)]
    return _replace(scene, slot, rng.choice(others)) if others else None


def _replace(scene: Scene, slot: str, concept: Concept | None) -> Scene:
    changes: dict[str, Any] = {slot: concept}
    return replace(scene, **changes)
