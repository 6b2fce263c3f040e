"""The texts by which a served model is told from another: each kind shows another fault of serving.

Plain texts are short, in lower case and ASCII, so that only what changes every vector changes
theirs; the other kinds add one thing each.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

PLAIN, LENGTH = "plain", "length"
_PLAIN = """
a man is playing a guitar on the stage
the stock market fell sharply after the report
two dogs run along the beach in the evening
she put the last piece of bread on the table
the committee will publish its answer next week
water boils at a lower temperature on a mountain
he forgot to lock the door of the old house
our train was late because of snow on the line
this medicine should not be taken with milk
children learn a second language faster than adults
the museum shows paintings from the last century
nobody could explain why the bridge had moved
a small company built the first engine of this kind
the judge asked the witness to speak more slowly
farmers in the north expect a poor harvest this year
you can return the shoes within thirty days
the team lost the final game by a single point
light from that star needs four years to reach us
my neighbour repairs bicycles in his garage
the new law makes it easier to rent a flat
""".strip().splitlines()
_PAIRS = """
the cat sat on the mat|the cat did not sit on the mat
a woman cuts an onion|an onion cuts a woman
he sold the car to his sister|his sister sold the car to him
the meeting is at 3 pm on monday|the meeting is at 5 pm on tuesday
all of the students passed the test|none of the students passed the test
""".strip().splitlines()
_CASES = """
THE STOCK MARKET FELL SHARPLY AFTER THE REPORT
The Stock Market Fell Sharply After The Report
Apple sued Samsung in May, and Polish workers polish shoes.
NASA and the WHO met in US cities to help us.
iPhone, eBay, LaTeX and PyTorch
McDonald's opened in Reading, where people like reading.
""".strip().splitlines()
_ACCENTS = """
un café près de la gare, à côté du théâtre
el niño comió piña y después bebió té
die Straße über den Fluss ist größer als früher
résumé naïve façade coöperate Ångström
Dvořák und Čapek kamen aus Böhmen
São Paulo não é a capital, é a maior cidade
""".strip().splitlines()
_SCRIPTS = """
Кошка сидит на окне и смотрит на улицу.
今天天气很好，我们去公园散步。
東京は日本の首都であり、大きな都市です。
القطة تجلس على النافذة وتنظر إلى الشارع
बिल्ली खिड़की पर बैठी है
Η γάτα κάθεται στο παράθυρο.
고양이가 창가에 앉아 있다
החתול יושב על החלון
""".strip().splitlines()
_SYMBOLS = """
great game today 😀🎉⚽
i ❤️ this song 🎵
👍🏽 thanks a lot 🙏
the price rose by 12.5% to $1,299.00 (€1.180,50)
see https://example.org/a/b?c=d&e=f#g or mail me@example.org
“quoted” — dashed … and ‘single’ ½ ² ™
e = mc², α ≤ β, ∑ x_i → ∞
""".strip().splitlines()
_CODE = [
    "def add(a, b):\n    return a + b",
    "for (int i = 0; i < n; ++i) { sum += x[i]; }",
    "SELECT name, COUNT(*) FROM users WHERE age >= 18 GROUP BY name;",
    '{"id": 17, "tags": ["a", "b"], "ok": true}',
    "git commit -m 'fix: off-by-one' && git push --force",
    "<div class='box'><b>bold</b> &amp; more</div>",
]
_SPACES = [
    "  a man is playing a guitar  ",
    "a man  is   playing    a guitar",
    "a man is playing\na guitar on the stage",
    "the first line\n\nthe second paragraph\tafter a tab",
    "a man is playing a guitar\n",
    " ",
]
_WORDS = """
the harbour was built when the first ships came from the south and the people of the town had
little more than fish salt and wood to trade with them later a wall was raised around the market
because fires had twice destroyed the wooden halls and a tower was added from which a guard could
see far over the bay in good years grain was stored below the tower in bad years the poor were fed
from it and the council wrote down each sack that left the cellar many of these books are kept in
the archive today and they tell more about daily life than the letters of kings a baker paid his
rent with bread a widow asked for time a sailor left his dog as a pledge and never came back after
the war the river changed its bed the harbour filled with sand and the ships went elsewhere for a
hundred years the town slept then a railway came with engineers who measured every field a school
with glass roofs and a factory that made buttons from shells its owner collected clocks and let the
workers children read in his library on sundays one of them became a doctor another painted the
marsh in all weathers and a third went to sea to look for the sailor of the old story
"""


@dataclass(frozen=True, kw_only=True)
class ChosenText:
    """A text and what it is chosen for."""

    text: str
    kind: str


def chosen_texts(
    limits: Sequence[int], words_for: Callable[[str, int], str] | None = None
) -> list[ChosenText]:
    """About 200 texts: ordinary ones, odd ones, and of lengths around each of LIMITS in tokens.

    `words_for(stream, tokens)` gives the beginning of a stream that has so many tokens; without it
    a word counts as one.
    """
    begin = words_for or (lambda stream, tokens: " ".join(stream.split()[:tokens]))
    words = _WORDS.split()
    lengths = [8, 16, 24, 32, 40, 48, 56, 80, 100, 170, 210, 350]
    lengths += [limit + step for limit in limits for step in (-2, 0, 1, 8)]
    long = []
    for number, tokens in enumerate(sorted({length for length in lengths if length > 2})):
        start = 31 * number % len(words)  # so that no two long texts begin in one way
        stream = words[start:] + words * (tokens // len(words) + 1)
        long.append(begin(" ".join(stream), tokens))
    pairs = [side for pair in _PAIRS for side in pair.split("|")]
    kinds = {
        PLAIN: _PLAIN,
        "pairs": pairs,
        LENGTH: long,
        "case": _CASES + [text.capitalize() + "." for text in _PLAIN[:14]],
        "accents": _ACCENTS,
        "scripts": _SCRIPTS,
        "symbols": _SYMBOLS,
        "code": _CODE,
        "spaces": _SPACES,
        "questions": [f"{text}?" for text in _PLAIN[14:]],
        "joined": [
            f"{first}. {second}."
            for step in (3, 7)
            for first, second in zip(_PLAIN, _PLAIN[step:] + _PLAIN[:step], strict=True)
        ],
        "parts": [" ".join(text.split()[start : start + 3]) for text in _PLAIN for start in (0, 3)],
    }
    texts = {text: kind for kind, several in kinds.items() for text in several}
    return [ChosenText(text=text, kind=kind) for text, kind in texts.items()]
