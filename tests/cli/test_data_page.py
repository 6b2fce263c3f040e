"""The page on data works as it is written."""

import re
import shlex
from pathlib import Path

from tests.cli.conftest import Answer, Embedlab

PAGE = (Path(__file__).parents[2] / "docs" / "data.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r"```\w+ file=(\S+)\n(.*?)```", PAGE, re.DOTALL))
COMMANDS = [line[2:] for block in re.findall(r"```console\n(.*?)```", PAGE, re.DOTALL) for line in block.splitlines()]


def test_the_page_works_as_it_is_written(embedlab: Embedlab, tiny_encoder: Path, tmp_path: Path) -> None:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    answers: dict[str, Answer] = {}
    for line in COMMANDS:
        start = ["--encoder", str(tiny_encoder)] if "train recipes/" in line else []  # the sample world's own takes seconds to make
        answers[line] = embedlab(*shlex.split(line)[1:], *start)
        assert answers[line].code == 0, f"{line}\n{answers[line].err}"

    def out(beginning: str) -> str:
        (found,) = [answer.out + answer.err for line, answer in answers.items() if line.startswith(f"embedlab {beginning}")]
        return found

    assert "49401" in out("data ls")
    assert "not counted" in out("data check")
    assert "hub:./copy" in out("evaluate dice --task 'hub:")
    assert re.search(r"dice +all +\d", out("evaluate dice --task dev.tsv"))
    assert "# stage 0: 4 rows" in out("train own-triplets")
    assert "# stage 0: 3 rows" in out("train own-labelled-pairs")
    assert "# stage 0: 8 rows" in out("train own-scored-pairs")
    assert "# stage 0: 2 rows" in out("train own-sentences")
    assert "faq@1: finished after 4 steps" in out("train recipes/faq.toml")
