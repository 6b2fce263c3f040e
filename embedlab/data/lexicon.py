"""The words of the sample world: concepts with their synonyms, each indented below the broader
concept it is a kind of.

A word is written "singular/plural" or "chasing/chased" where its second form is irregular or
needed. All words are lower-case.
"""

from dataclasses import dataclass


@dataclass(
    frozen=True, kw_only=True, eq=False
)  # concepts are equal by identity, which makes look-ups fast
class Concept:
    """One meaning: its synonyms and their second forms (plural of a noun, participle of an
    action).
    """

    words: tuple[str, ...]
    second_forms: tuple[str, ...]
    broader: "Concept | None"

    @property
    def name(self) -> str:
        """The usual word."""
        return self.words[0]

    @property
    def ancestors(self) -> tuple["Concept", ...]:
        """The broader concepts, nearest first."""
        return (self.broader, *self.broader.ancestors) if self.broader else ()

    @property
    def root(self) -> "Concept":
        """The broadest concept above this one."""
        return self.broader.root if self.broader else self

    def covers(self, other: "Concept") -> bool:
        """Return whether OTHER is this concept or a kind of it."""
        return self == other or self in other.ancestors


_AGENTS = """
person/people human
  child/children kid
    boy lad
    girl lass/lasses
    student pupil
  adult grownup
    man/men gentleman/gentlemen
    woman/women lady/ladies
    doctor physician
    cook chef
    guard sentry/sentries
    farmer grower
animal creature
  pet companion
    dog hound
    cat feline
    rabbit bunny/bunnies
  beast brute
    horse steed
    donkey mule
    pig hog
"""

_ACTIVITIES = """
moving traveling
  running jogging
  walking strolling
  crawling creeping
  jumping leaping
resting relaxing
  sleeping napping
  sitting lounging
  lying reclining
calling shouting
  crying weeping
  laughing giggling
"""

# Actions on things: an action, then the kind of thing after ">".
_HANDLING = """
eating devouring > snack
cooking preparing > snack
slicing cutting > snack
selling vending > thing
buying purchasing > thing
holding grasping > thing
washing cleaning > thing
riding steering > vehicle
fixing repairing > vehicle
reading perusing > text
writing composing > text
"""

# Actions between two agents: these also occur in the passive, and the roles matter.
_ENCOUNTERS = """
chasing/chased pursuing/pursued
hugging/hugged embracing/embraced
pushing/pushed shoving/shoved
following/followed trailing/trailed
helping/helped assisting/assisted
attacking/attacked assaulting/assaulted
"""

_THINGS = """
thing object
  snack nibble
    fruit produce
      apple pippin
      melon cantaloupe
    dessert sweet
      cake gateau
      pie tart
    sandwich sub
  vehicle transport
    bicycle bike
    car automobile
    boat ship
    truck lorry/lorries
  text document
    letter note
    story/stories tale
    book volume
"""

# The two top places are mutually exclusive.
_PLACES = """
outdoors outside
  park garden
  beach/beaches shore
  street road
  forest wood
  field meadow
indoors inside
  kitchen galley
  office bureau
  shop store
  school academy
  hospital clinic
"""

_TIMES = """
dawn sunrise
noon midday
dusk sunset
midnight nighttime
"""

_OPPOSITES = """
old elderly | young youthful
big large | small little
happy cheerful | sad unhappy
rich wealthy | poor needy
strong powerful | weak feeble
calm peaceful | angry furious
clean spotless | dirty filthy
thin slender | fat plump
"""


def _concept(line: str, broader: Concept | None = None) -> Concept:
    forms = [word.partition("/") for word in line.split()]
    return Concept(
        words=tuple(first for first, _, _ in forms),
        second_forms=tuple(second or f"{first}s" for first, _, second in forms),
        broader=broader,
    )


def _tree(text: str) -> dict[str, Concept]:
    """Return the concepts of an indented table by name; two blanks are one level."""
    concepts: dict[str, Concept] = {}
    path: list[Concept] = []
    for line in text.strip().splitlines():
        depth = (len(line) - len(line.lstrip())) // 2
        path = path[:depth]
        concept = _concept(line, path[-1] if path else None)
        path.append(concept)
        concepts[concept.name] = concept
    return concepts


def leaves(concepts: dict[str, Concept]) -> tuple[Concept, ...]:
    """Return the concepts that have no narrower one."""
    return tuple(concept for concept in concepts.values() if concept not in NARROWER)


AGENTS = _tree(_AGENTS)
ACTIVITIES = _tree(_ACTIVITIES)
ENCOUNTERS = _tree(_ENCOUNTERS)
THINGS = _tree(_THINGS)
PLACES = _tree(_PLACES)
TIMES = _tree(_TIMES)
HANDLING = {
    _concept(words): THINGS[kind.strip()]
    for words, _, kind in (line.partition(">") for line in _HANDLING.strip().splitlines())
}
_SIDES = [
    tuple(_concept(side) for side in line.split("|")) for line in _OPPOSITES.strip().splitlines()
]
OPPOSITE = {
    quality: other
    for first, second in _SIDES
    for quality, other in ((first, second), (second, first))
}

CONCEPTS: tuple[Concept, ...] = (
    *AGENTS.values(),
    *ACTIVITIES.values(),
    *ENCOUNTERS.values(),
    *HANDLING,
    *THINGS.values(),
    *PLACES.values(),
    *TIMES.values(),
    *OPPOSITE,
)
NARROWER: dict[Concept, tuple[Concept, ...]] = {
    broader: tuple(concept for concept in CONCEPTS if concept.broader is broader)
    for broader in {c.broader: None for c in CONCEPTS}
    if broader
}
