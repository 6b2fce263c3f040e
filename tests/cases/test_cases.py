"""Every input of ../shared/cases gives what its README calls right; skipped without the folder."""

import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from embedlab.cli.app import main
from tests.cases.runner import FOLDER, Case, Ending, all_cases, copy_input, run_in_shell, words_of
from tests.cli.conftest import Answer
from tests.hints import type_hints


def _parameters(cases: Sequence[Case]) -> list[object]:
    return [
        pytest.param(
            case,
            id=f"{case.name}: {case.command}",
            marks=[pytest.mark.xfail(reason=case.waits, strict=True)] if case.waits else [],
        )
        for case in cases
    ]


@pytest.mark.skipif(not FOLDER.is_dir(), reason="the inputs are not beside the checkout")
@pytest.mark.parametrize("case", _parameters(all_cases()))
def test_an_input_that_went_wrong(
    case: Case,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if not (FOLDER / case.name).is_dir():
        pytest.skip(f"{case.name} is not there")
    if case.needs and subprocess.run(["bash", "-c", case.needs], capture_output=True).returncode:
        pytest.skip(f"this machine cannot: {case.needs}")
    folder = copy_input(case.name, tmp_path)
    monkeypatch.chdir(folder)
    monkeypatch.setattr("embedlab.core.frame_files.output_of_module", lambda *_: (0, ""))
    port = case.prepare()
    if case.in_shell:
        ending = run_in_shell(case, folder)
    else:

        def call(*words: str) -> Answer:
            capsys.readouterr()
            try:
                code = main(words)
            except SystemExit as end:
                code = int(end.code or 0)
            return Answer(code, *capsys.readouterr())

        line = words_of(case, port)
        answer = call(*line)
        if answer.code in (2, 3):
            type_hints(call, line, answer)
        ending = Ending(answer.code, f"{answer.out}\n{answer.err}")
    words = " ".join(f"{ending.text} {case.also()}".split())
    missing = [text for text in case.says if text not in words]
    wrong = [text for text in (*case.never, "unforeseen", "Traceback") if text in words]
    assert (ending.code, missing, wrong) == (case.code, [], []), ending.text
