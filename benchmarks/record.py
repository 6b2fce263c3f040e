"""What every benchmark writes beside its numbers: the command, the versions, the processor, both
sides, the ratio and its limit.
"""

import json
import os
import platform
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
# Programs of benchmarks/ and of research/ write beside themselves.
_FOLDER = "research/programs" if "research" in Path(sys.argv[0]).resolve().parts else "benchmarks"
RESULTS = Path(
    os.environ.get(
        "BENCHMARK_RESULTS",
        ROOT / ("research/statistics" if _FOLDER != "benchmarks" else "benchmarks/results"),
    )
)


@dataclass(frozen=True, kw_only=True)
class Measured:
    """One claim: what this side and the peer took, in the same unit, and the limit that was
    promised.
    """

    what: str
    ours: float
    unit: str
    peer: float | None = None
    limit: str = ""  # "≥ 1.6 x", "< 60 s" …
    runs: int = 1  # that the numbers are medians of

    @property
    def ratio(self) -> float | None:
        """How many times as much the peer took."""
        return self.peer / self.ours if self.peer is not None and self.ours else None


def write(
    name: str,
    title: str,
    measured: Sequence[Measured],
    *,
    packages: Sequence[str],
    notes: Sequence[str] = (),
) -> Path:
    """Write results/NAME.json and .md, and print the table; PACKAGES are those whose versions
    decide the numbers.
    """
    facts = _facts(packages)
    rows = [{**asdict(one), "ratio": one.ratio} for one in measured]
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.json").write_text(
        json.dumps({**facts, "measured": rows, "notes": list(notes)}, indent=2, ensure_ascii=False)
        + "\n"
    )
    text = _markdown(title, facts, measured, notes)
    (RESULTS / f"{name}.md").write_text(text, encoding="utf-8")
    print(text)
    return RESULTS / f"{name}.md"


def write_table(
    name: str,
    title: str,
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    packages: Sequence[str],
    notes: Sequence[str] = (),
) -> Path:
    """Write results/NAME.md, a table of texts with the command and the versions that made it, and
    print it.
    """
    facts = _facts(packages)
    lines = [
        *_heading(title, facts),
        _line(columns),
        _line(["---", *["---:" for _ in columns[1:]]]),
        *map(_line, rows),
    ]
    text = "\n".join([*lines, "", *(f"- {note}" for note in notes)]).rstrip() + "\n"
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.md").write_text(text, encoding="utf-8")
    print(text)
    return RESULTS / f"{name}.md"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _facts(packages: Sequence[str]) -> dict[str, Any]:
    return {
        "command": " ".join(
            ["python", f"{_FOLDER}/{Path(sys.argv[0]).name}", *_without_paths(sys.argv[1:])]
        ),
        "date": datetime.now(UTC).date().isoformat(),
        "processor": f"{_processor()}, {len(os.sched_getaffinity(0))} hardware threads",
        "load at the end": round(os.getloadavg()[0], 1),
        "versions": {
            "python": platform.python_version(),
            **{package: _version(package) for package in packages},
        },
    }


def _heading(title: str, facts: dict[str, Any]) -> list[str]:
    versions = ", ".join(f"{package} {number}" for package, number in facts["versions"].items())
    return [
        f"# {title}",
        "",
        f"`{facts['command']}`; {facts['processor']}; {versions}; {facts['date']}.",
        "",
    ]


def _markdown(
    title: str, facts: dict[str, Any], measured: Sequence[Measured], notes: Sequence[str]
) -> str:
    lines = [
        *_heading(title, facts),
        "| what | embedlab | peer | ratio | limit |",
        "|---|---:|---:|---:|---|",
    ]
    for one in measured:
        peer = f"{one.peer:.2f} {one.unit}" if one.peer is not None else "–"
        ratio = f"{one.ratio:.2f} x" if one.ratio is not None else "–"
        lines.append(
            f"| {one.what} | {one.ours:.2f} {one.unit} | {peer} | {ratio} | {one.limit or '–'} |"
        )
    return "\n".join([*lines, "", *(f"- {note}" for note in notes)]).rstrip() + "\n"


def _without_paths(words: Sequence[str]) -> list[str]:
    """The command's words, folders and files of this machine replaced: a record is about the
    processor, not about where files lie.
    """
    return [
        "DIR" if Path(word).is_dir() else "FILE" if Path(word).is_absolute() else word
        for word in words
    ]


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    names = (
        [
            line.partition(":")[2].strip()
            for line in info.read_text().splitlines()
            if line.startswith("model name")
        ]
        if info.exists()
        else []
    )
    return names[0] if names else platform.processor() or platform.machine()


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "absent"
