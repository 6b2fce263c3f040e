"""What must hold of a page besides that its commands work."""

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from docs.runner import Executed, execute, inside
from embedlab.reports.trained import TRAINED

Check = Callable[[Sequence[Executed], dict[str, Any], Path], None]


# page, part of one command on it, what that command writes
WRITTEN = (
    ("docs/data.md", "data ls", "49401"),
    ("docs/data.md", "data check", "not counted"),
    ("docs/data.md", "evaluate dice --task 'hub:", r"hub:\./copy"),
    ("docs/data.md", "evaluate dice --task dev.tsv", r"dev\.tsv +\d"),
    ("docs/data.md", "train recipes/answers.toml", "answers@1"),
    ("docs/guides/own-data.md", "train faq.csv --data tiny$", "dev: 10 of 48 rows that share no"),
    ("docs/plugins.md", "doctor --plugins", r"^((?! ok).)*( ok((?! ok).)*){8}$"),
    ("docs/plugins.md", "train mine.toml", "close-pairs, accuracy x 100"),
    ("docs/plugins.md", "evaluate mine letters:64", "letters:64"),
    ("docs/plugins.md", "weather.py --task weather", r"weather +8 +\d"),
    ("docs/plugins.md", "--suite two-years", "both years"),
    ("docs/plugins.md", "data check rain", "rain +test +8 +8 +counts right"),
    ("docs/plugins.md", "evaluate dice", r"rain +81\.44"),
    ("docs/plugins.md", "data ls", r"\sweather\s"),
    ("docs/plugins.md", "pairs letters:64 dice", "8 of 8 pairs"),
    ("docs/plugins.md", "--by capitals", "capitals"),
)


def check_written(name: str, executed: Sequence[Executed]) -> None:
    """Each command of a page writes what WRITTEN says."""
    for page, part, text in WRITTEN:
        if page == name:
            (one,) = [one for one in executed if re.search(part, one.command)]
            written = f"{one.output.out}{one.output.err}"
            assert re.search(text, written, re.IGNORECASE | re.DOTALL), one.command


def plugins(_executed: Sequence[Executed], _names: dict[str, Any], folder: Path) -> None:
    """The run of the plug-ins of the page is shown without them."""
    run = folder / "runs" / "mine" / "seed-1"
    assert {"objectives:margin", "poolings:ends"} <= json.loads(
        (run / "environment.json").read_text()
    )["packages"].keys()
    assert json.loads((run / "model" / "embedlab.json").read_text())["pooling"] == "ends"

    with inside(folder):
        assert execute("embedlab runs show mine --data tiny --json").code == 0
        assert (
            execute("embedlab evaluate mine --data tiny --task sts12").err.count(
                "no pooling named 'ends'"
            )
            == 1
        )


def python(_executed: Sequence[Executed], names: dict[str, Any], folder: Path) -> None:
    """The training of the page is a report with a tidy frame, and is not trained twice."""
    import embedlab

    trained = names["trained"]
    assert trained.frame.schema == dict(TRAINED)
    assert trained.frame["run"].unique(maintain_order=True).to_list() == ["small@1", "small@2"]
    assert set(trained.frame["task"]) == {"dev", "geometry"}
    assert "<table" in trained._repr_html_()
    options = {"set": names["values"], "name": "small", "data": "tiny", "threads": 1}
    with inside(folder):
        again = embedlab.train("snli-ce", seeds=[1, 2], **options)
    assert "small@1 is finished already: skipped" in again.notes
    assert again.frame.equals(trained.frame)


CHECKS: dict[str, Check] = {
    "docs/plugins.md": plugins,
    "docs/python.md": python,
}
