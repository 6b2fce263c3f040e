"""What docs/referees.md says, written from that page alone and step by step as it has them: slow,
and without a look at how the package does it.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations, product
from math import atanh, exp, inf, log, pi, sqrt, tanh
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import ndtr, stdtrit
from scipy.stats import rankdata

Floats = NDArray[np.float64]
NORMAL = NormalDist()
cdf = NORMAL.cdf


# Step 1


def pearson(x: Floats, y: Floats) -> float:
    return float(np.corrcoef(x, y)[0, 1])


def spearman(x: Floats, y: Floats) -> float:
    return pearson(rankdata(x), rankdata(y))


def accuracy(x: Floats, y: Floats) -> float:
    return float((x == y).mean())


# Step 2


def above(x: Floats, w: Floats) -> Floats:
    """K_x[w]."""
    return np.array([w[x > v].sum() + w[x == v].sum() / 2 for v in x]) / len(x)


def spearman_influence(x: Floats, y: Floats) -> Floats:
    n = len(x)
    f, g = (rankdata(values) / n - 0.5 - 1 / (2 * n) for values in (x, y))
    a, b = (f**2).mean(), (g**2).mean()
    r = (f * g).mean() / sqrt(a * b)
    psi = (f * g + above(x, g) + above(y, f)) / sqrt(a * b)
    psi = psi - r / 2 * ((f**2 + 2 * above(x, f)) / a + (g**2 + 2 * above(y, g)) / b)
    return np.asarray(psi - psi.mean())


def pearson_influence(x: Floats, y: Floats) -> Floats:
    u, v = (x - x.mean()) / x.std(), (y - y.mean()) / y.std()
    psi = u * v - (u * v).mean() * (u**2 + v**2) / 2
    return np.asarray(psi - psi.mean())


def accuracy_influence(x: Floats, y: Floats) -> Floats:
    return np.asarray((x == y) - (x == y).mean())


MEASURES: dict[str, tuple[Callable[..., float], Callable[..., Floats]]] = {
    "spearman": (spearman, spearman_influence),
    "pearson": (pearson, pearson_influence),
    "accuracy": (accuracy, accuracy_influence),
}


# Step 3

Link = tuple[float, str, str]


def links(first: Sequence[str], second: Sequence[str]) -> list[Link]:
    """Every two sentences of a dataset that are nearly equal, in the order of the page."""
    sentences = list(dict.fromkeys([*first, *second]))
    words = [frozenset(re.findall(r"\w+", sentence.lower())) for sentence in sentences]
    having: dict[str, list[int]] = defaultdict(list)
    for number, own in enumerate(words):
        for word in own:
            having[word].append(number)
    weight = {word: log(len(sentences) / len(own)) + 0.1 for word, own in having.items()}
    length = [sqrt(sum(weight[word] ** 2 for word in own)) for own in words]
    products: dict[tuple[int, int], float] = defaultdict(float)
    for word, own in having.items():
        for pair in combinations(own, 2):
            products[pair] += weight[word] ** 2
    found = [
        (round(product / (length[a] * length[b]), 9), a, b) for (a, b), product in products.items()
    ]
    found = sorted((-cosine, a, b) for cosine, a, b in found if cosine >= 0.3)
    return [(-cosine, sentences[a], sentences[b]) for cosine, a, b in found]


class Joined:
    """Things of which some are joined to others."""

    def __init__(self, size: dict[str, float]) -> None:
        self.size, self.above = size, {name: name for name in size}

    def top(self, name: str) -> str:
        while self.above[name] != name:
            name = self.above[name]
        return name

    def join(self, one: str, other: str, most: float = inf) -> None:
        one, other = self.top(one), self.top(other)
        if one != other and self.size[one] + self.size[other] <= most + 1e-12:
            self.above[other] = one
            self.size[one] += self.size[other]


@dataclass
class Part:
    """Rows that are measured together, with the predictions of each member."""

    first: list[str]
    second: list[str]
    gold: Floats
    members: Floats  # (members, rows)
    links: list[Link]
    weight: float = 1.0

    @property
    def rows(self) -> int:
        return len(self.gold)


def topics(parts: Sequence[Part]) -> NDArray[np.int64]:
    """The number of each row's topic, the rows of all parts one after the other."""
    total = sum(part.weight for part in parts)
    size: dict[str, float] = {}
    for part in parts:
        for sentence in (*part.first, *part.second):
            size[sentence] = 0.0
    for part in parts:
        for sentence in part.first:
            size[sentence] += part.weight / total / part.rows
    joined = Joined(size)
    for part in parts:
        for one, other in zip(part.first, part.second, strict=True):
            joined.join(one, other)
    most = sum(part.weight / total * min(100 / part.rows, 0.1) for part in parts)
    if sum(part.rows for part in parts) >= 60:
        every = [(-np.float32(link[0]), n, link) for n, p in enumerate(parts) for link in p.links]
        for _, _, (_, one, other) in sorted(every, key=lambda each: each[:2]):
            if one in size and other in size:
                joined.join(one, other, most)
    tops = [joined.top(sentence) for part in parts for sentence in part.first]
    numbers = {top: number for number, top in enumerate(dict.fromkeys(tops))}
    return np.array([numbers[top] for top in tops])


# Steps 4 and 6


@dataclass
class Contributions:
    """What topics contribute to each member, and what the variances need."""

    points: Floats  # (members,)
    z: Floats  # (members, topics)
    m: Floats  # (topics,)
    v: Floats  # (members, rows)
    parts: Sequence[Part]

    @property
    def bracket(self) -> float:
        return max(1 - float((self.m**2).sum()), 0.5)


def contributions(parts: Sequence[Part], measure: str) -> Contributions:
    value, influence = MEASURES[measure]
    total = sum(part.weight for part in parts)
    topic = topics(parts)
    share = np.concatenate([np.full(p.rows, p.weight / total / p.rows) for p in parts])
    of_part = np.repeat(np.arange(len(parts)), [part.rows for part in parts])
    m = np.bincount(topic, share)
    factor = np.ones(len(topic))
    if len(parts) > 1:
        for number, part in enumerate(parts):
            s = np.bincount(topic[of_part == number]) / part.rows
            whole, own = (max(1 - (shares**2).sum(), 0.5) for shares in (m, s))
            factor[of_part == number] = sqrt(whole / own)
    large = np.flatnonzero((m > 0.01 - 1e-9) & (m < 0.5)).tolist()
    others = [c for c in range(len(m)) if c not in large] or list(range(len(m)))
    every_v, every_z, points = [], [], []
    for member in range(len(parts[0].members)):
        own = [(part, part.members[member]) for part in parts]
        v = np.concatenate([p.weight * influence(x, p.gold) / p.rows for p, x in own])
        z = np.bincount(topic, v * factor)
        for c in large:
            z[c] = 0.0
            for number, (part, x) in enumerate(own):
                stay = topic[of_part == number] != c
                without = value(x[stay], part.gold[stay])
                z[c] += part.weight * stay.mean() * (value(x, part.gold) - without)
            z[c] *= np.average(factor[topic == c], weights=share[topic == c])
        z[others] -= z.sum() * m[others] / m[others].sum()
        points.append(sum(part.weight * value(x, part.gold) for part, x in own))
        every_v.append(v)
        every_z.append(z)
    return Contributions(np.array(points), np.array(every_z), m, np.array(every_v), parts)


# Step 5


@cache
def all_signs(count: int) -> Floats:
    """Every choice of a sign for each of COUNT topics."""
    return np.array([*product((1.0, -1.0), repeat=count)])


def p_of(z: Floats, m: Floats, h: float, noise: float) -> float:
    """p(h)."""
    u, reach = z + m * h, abs(h)
    if len(u) <= 12:
        sums = np.abs(all_signs(len(u)) @ u)
        if noise == 0:
            return float((sums >= reach * (1 - 1e-10)).mean())
        tails = ndtr((sums - reach) / sqrt(noise)) + ndtr((-sums - reach) / sqrt(noise))
        return float(tails.mean())
    if len(u) > 64:
        weight = np.abs(z) + 2 * sqrt((z**2).sum()) * m
        order = np.argsort(-weight, kind="stable")
        noise += float((u[order[64:]] ** 2).sum())
        u = u[order[:64]]
    p = lugannani_rice(u, reach, noise)
    if noise == 0:
        against = sum(abs(each) for each in u if each * h < 0)
        small = sum(abs(each) <= against for each in u)
        p = min(max(p, 2.0 ** (1 - len(u))), 2.0 ** (1 - len(u) + small))
    return p


def lugannani_rice(u: Floats, reach: float, noise: float) -> float:
    if reach == 0 or (noise == 0 and reach >= np.abs(u).sum() * (1 - 1e-12)):
        return 1.0

    def slope(t: float) -> float:
        return float((u * np.tanh(t * u)).sum() + noise * t)

    high = 1.0
    while slope(high) < reach:
        high *= 2
    t = brentq(lambda t: slope(t) - reach, 0, high, xtol=1e-14)
    k = float(np.log(np.cosh(t * u)).sum() + noise * t**2 / 2)
    curve = float((u**2 * (1 - np.tanh(t * u) ** 2)).sum() + noise)
    w, s = sqrt(max(2 * (t * reach - k), 0.0)), t * sqrt(curve)
    if w < 1e-3:
        return 1.0
    p = 2 * (cdf(-w) + exp(-(w**2) / 2) / sqrt(2 * pi) * (1 / s - 1 / w))
    return min(max(p, 0.0), 1.0)


def end(p: Callable[[float], float], spread: float, alpha: float = 0.05) -> float:
    """The farthest distance with p of at least ALPHA."""
    near, far = 0.0, spread
    while p(far) >= alpha:
        near, far = far, far * 1.5
        if far > 1e6 * spread:
            return inf
    for _ in range(40):
        middle = (near + far) / 2
        near, far = (middle, far) if p(middle) >= alpha else (near, middle)
    return near


# Step 9


@dataclass
class Seeds:
    """How the members of a recipe vary."""

    k: int
    s: float = 0.0  # variance of the scores
    d: float = 0.0  # the sum of D


def variance_of_rows(v: Floats, parts: Sequence[Part]) -> float:
    """D of one estimate over one part."""
    (part,) = parts
    n = part.rows
    rows_of: dict[str, set[int]] = defaultdict(set)
    same: dict[tuple[str, ...], set[int]] = defaultdict(set)
    for row, (one, other) in enumerate(zip(part.first, part.second, strict=True)):
        rows_of[one].add(row)
        rows_of[other].add(row)
        if one != other:
            same[tuple(sorted((one, other)))].add(row)
    shared = {(a, b) for own in rows_of.values() for a in own for b in own}
    squares = [sum(v[row] for row in own) ** 2 for own in rows_of.values()]
    twice = [sum(v[row] for row in own) ** 2 for own in same.values()]
    b = len(shared) / n**2
    independent = (v**2).sum() / max(1 - 1 / n, 0.5)
    return float(max(independent, (sum(squares) - sum(twice)) / max(1 - b, 0.5)))


def spread(found: Contributions, members: Sequence[int]) -> Seeds:
    if len(members) == 1:
        return Seeds(k=1)
    v = found.v[members] - found.v[members].mean(axis=0)
    return Seeds(
        k=len(members),
        s=float(np.var(found.points[members], ddof=1)),
        d=sum(variance_of_rows(each, found.parts) for each in v),
    )


def seed_noise(recipes: Sequence[Seeds]) -> tuple[float, float]:
    """N and its degrees of freedom."""
    free = sum(each.k - 1 for each in recipes)
    if free == 0:
        return 0.0, inf
    sizes = [each.k for each in recipes]
    if len(sizes) > 1 and (min(sizes) == 1 or max(sizes) == 2):
        taken = max(sizes) > 2
        whole = sum((each.k - 1) * each.s - (each.d if taken else 0.0) for each in recipes)
        return max(0.0, whole / free * sum(1 / k for k in sizes)), free
    noise = sum(
        each.s / each.k - (each.d / (each.k * (each.k - 1)) if each.k > 2 else 0.0)
        for each in recipes
    )
    welch = sum((each.s / each.k) ** 2 / (each.k - 1) for each in recipes)
    freedom = sum(each.s / each.k for each in recipes) ** 2 / welch
    return max(0.0, noise), freedom


def at_level(noise: float, freedom: float, alpha: float) -> float:
    """N(t/z)²."""
    if noise == 0 or freedom == inf:
        return noise
    return noise * float(stdtrit(freedom, alpha / 2) / NORMAL.inv_cdf(alpha / 2)) ** 2


# Steps 7, 8, 10 and 11


@dataclass
class Result:
    """A score or a difference."""

    value: float
    low: float
    high: float
    p: float = 1.0
    design_effect: float = 1.0


class Compared:
    """Models on the same rows; MODELS gives the members of each, those of several are a recipe."""

    def __init__(
        self, parts: Sequence[Part], models: dict[str, list[int]], measure: str = "spearman"
    ) -> None:
        self.measure, self.models, self.parts = measure, models, parts
        self.found = contributions(parts, measure)
        self.rows = sum(part.rows for part in parts)

    @property
    def _unseen(self) -> float:
        if self.measure != "accuracy":
            return 0.0
        return sum(2 * part.weight**2 / part.rows**2 for part in self.parts)

    @property
    def effective_topics(self) -> float:
        return float(1 / (self.found.m**2).sum())

    def mean(self, name: str) -> tuple[float, Floats, Floats]:
        own, found = self.models[name], self.found
        return (
            float(found.points[own].mean()),
            found.z[own].mean(axis=0),
            found.v[own].mean(axis=0),
        )

    def _recipe(self, name: str) -> list[Seeds]:
        own = self.models[name]
        return [spread(self.found, own)] if len(own) > 1 else []

    def _ends(self, z: Floats, other: float, seeds: tuple[float, float]) -> tuple[float, float]:
        noise = other + at_level(*seeds, 0.05)
        sd = sqrt(float((z**2).sum()) / self.found.bracket + noise)
        if sd == 0:
            return 0.0, 0.0
        below = end(lambda h: p_of(z, self.found.m, h, noise), sd)
        return below, end(lambda h: p_of(-z, self.found.m, h, noise), sd)

    def _effect(self, z: Floats, v: Floats, other: float) -> float:
        variance = (z**2).sum() / self.found.bracket + other
        of_row = np.repeat([1 / p.rows for p in self.parts], [p.rows for p in self.parts])
        independent = (v**2).sum() / (1 - np.average(of_row, weights=v**2))
        return max(1.0, float(variance / (independent + other)))

    def score(self, name: str) -> Result:
        """The score of a model."""
        value, z, v = self.mean(name)
        seeds = seed_noise(self._recipe(name))
        other = self._unseen / 2 if len(self.parts) > 1 else 0.0
        below, above = self._ends(z, other, seeds)
        effect = self._effect(z, v, other)
        if self.measure in ("spearman", "pearson"):
            scale = 1 - value**2
            ends = tanh(atanh(value) - below / scale), tanh(atanh(value) + above / scale)
            return Result(value, *ends, design_effect=effect)
        if len(self.parts) > 1:
            return Result(value, value - below, value + above, design_effect=effect)
        variance = float((z**2).sum()) / self.found.bracket + seeds[0]
        n = min(value * (1 - value) / variance, self.rows)
        wilson = []
        zz = max(below, above) ** 2 / variance
        for sign in (-1, 1):
            half = sqrt(zz) * sqrt(value * (1 - value) / n + zz / (4 * n**2))
            wilson.append((value + zz / (2 * n) + sign * half) / (1 + zz / n))
        return Result(value, *wilson, design_effect=effect)

    def difference(self, first: str, second: str) -> Result:
        (one, z1, v1), (two, z2, v2) = self.mean(first), self.mean(second)
        z, v, d = z1 - z2, v1 - v2, one - two
        other = self._unseen
        seeds = seed_noise(self._recipes(first, second))
        skew = self._skew(one, two, z1, z2)
        below, above = self._ends(z, other, seeds)
        most = {"accuracy": 1.0 if len(self.parts) == 1 else inf}.get(self.measure, 2.0)
        reach = d / skew[0 if d >= 0 else 1]
        return Result(
            d,
            max(d - skew[0] * below, -most),
            min(d + skew[1] * above, most),
            self._p(z, reach, other, seeds),
            self._effect(z, v, other),
        )

    def _recipes(self, first: str, second: str) -> list[Seeds]:
        sizes = [len(self.models[name]) for name in (first, second)]
        if max(sizes) == 1:
            return []
        return [*self._recipe(first), *self._recipe(second)]

    def _p(self, z: Floats, h: float, other: float, seeds: tuple[float, float]) -> float:
        if seeds[0] == 0:
            return p_of(z, self.found.m, h, other)
        low, high = 0.0, 1.0  # the p that gives itself
        for _ in range(60):
            p = (low + high) / 2
            again = p_of(z, self.found.m, h, other + at_level(*seeds, p))
            low, high = (p, high) if again > p else (low, p)
        return low

    def _skew(self, r1: float, r2: float, z1: Floats, z2: Floats) -> tuple[float, float]:
        if self.measure == "accuracy" or len(self.parts) > 1:
            return 1.0, 1.0
        v1, v2, v = (float((z**2).sum()) / self.found.bracket for z in (z1, z2, z1 - z2))
        if v == 0:
            return 1.0, 1.0
        c, w = (v1 + v2 - v) / 2, NORMAL.inv_cdf(0.975) * sqrt(v)
        a, b = w * (v1 - c) / v, w * (c - v2) / v
        sides = []
        for sign in (-1, 1):
            moved = tanh(atanh(r1) + sign * a / (1 - r1**2)) - tanh(
                atanh(r2) + sign * b / (1 - r2**2)
            )
            sides.append(max(1.0, abs(moved - (r1 - r2)) / w))
        return sides[0], sides[1]


def holm(p: Sequence[float]) -> list[float]:
    corrected, before = [0.0] * len(p), 0.0
    for place, index in enumerate(sorted(range(len(p)), key=lambda index: p[index])):
        before = min(1.0, max(before, p[index] * (len(p) - place)))
        corrected[index] = before
    return corrected
