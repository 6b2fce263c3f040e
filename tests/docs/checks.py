"""What must hold of a page besides that its commands work."""

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from docs.runner import Executed, execute, inside
from embedlab.reports.trained import TRAINED

Check = Callable[[Sequence[Executed], dict[str, Any], Path], None]


def plugins(executed: Sequence[Executed], _names: dict[str, Any], folder: Path) -> None:
    """Each plug-in is found and used, and its run is shown without it."""

    def out(part: str) -> str:
        (found,) = [one.output.out for one in executed if part in one.command]
        return found

    assert out("doctor --plugins").count(" ok") == 8
    assert "close-pairs, accuracy x 100" in out("train mine.toml").lower()
    assert "letters:64" in out("evaluate mine letters:64")
    assert re.search(r"weather +8 +\d", out("weather.py --task weather"))
    assert "both years" in out("--suite two-years")
    assert re.search(r"rain +test +8 +8 +counts right", out("data check rain"))
    assert re.search(r"rain +81\.44", out("evaluate dice"))
    assert " weather " in out("data ls")
    assert "8 of 8 pairs" in out("pairs letters:64 dice")
    assert "capitals" in out("--by capitals")
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


def data(executed: Sequence[Executed], _names: dict[str, Any], _folder: Path) -> None:
    """Each command of the page reads what the page says."""

    def out(beginning: str) -> str:
        (found,) = [
            one.output.out + one.output.err
            for one in executed
            if one.command.startswith(f"embedlab {beginning}")
        ]
        return found

    assert "49401" in out("data ls")
    assert "not counted" in out("data check")
    assert "hub:./copy" in out("evaluate dice --task 'hub:")
    assert re.search(r"dev\.tsv +\d", out("evaluate dice --task dev.tsv"))
    assert "answers@1" in out("train recipes/answers.toml")


def one_line(executed: Sequence[Executed], _names: dict[str, Any], _folder: Path) -> None:
    """What the page says of the held-out rows is so."""
    trained = next(one for one in executed if one.command == "embedlab train faq.csv --data tiny")
    assert "dev: 10 of 48 rows that share no sentence with the rest" in trained.output.err


CHECKS: dict[str, Check] = {
    "docs/data.md": data,
    "docs/guides/own-data.md": one_line,
    "docs/plugins.md": plugins,
    "docs/python.md": python,
}
