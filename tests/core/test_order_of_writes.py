"""What survives a power cut: contents reach the disk before the name that leads to them, and the
name before the write is over.

tests/conftest.py makes `os.fsync` do nothing. Here the real calls are made, in a process of its
own, and noted by the audit hook and a wrapper that passes them on.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import json, os, sys
from pathlib import Path

calls = []
real = os.fsync

def fsync(descriptor):
    real(descriptor)
    calls.append(["fsync", os.readlink(f"/proc/self/fd/{descriptor}")])

def note(event, arguments):
    if event == "os.rename":
        calls.append(["rename", os.fspath(arguments[0]), os.fspath(arguments[1])])

os.fsync = fsync
sys.addaudithook(note)
"""
WRITES = {
    "file": "from embedlab.core.disk import write_atomic\nwrite_atomic(Path('out'), 'content')",
    "folder": (
        "from embedlab.core.disk import atomic_folder\n"
        "with atomic_folder(Path('out')) as place:\n"
        "    (place / 'below').mkdir()\n"
        "    (place / 'a').write_text('a')\n"
        "    (place / 'below' / 'b').write_text('b')"
    ),
}


def calls_of(write: str, folder: Path) -> list[list[str]]:
    program = f"{PROGRAM}\n{write}\nprint(json.dumps(calls))"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=folder, capture_output=True, text=True, check=True
    )
    found: list[list[str]] = json.loads(done.stdout)
    return [[kind, *(str((folder / path).resolve()) for path in paths)] for kind, *paths in found]


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="descriptors have no names here")
@pytest.mark.parametrize("kind", WRITES)
def test_contents_reach_the_disk_before_their_name_and_their_folder_after_it(
    tmp_path: Path, kind: str
) -> None:
    calls = calls_of(WRITES[kind], tmp_path)
    (rename,) = [number for number, call in enumerate(calls) if call[0] == "rename"]
    _, temporary, target = calls[rename]
    assert target == str(tmp_path / "out")
    before, after = (
        [call[1] for call in part if call[0] == "fsync"]
        for part in (calls[:rename], calls[rename:])
    )
    contents = (
        {temporary}
        if kind == "file"
        else {f"{temporary}/a", f"{temporary}/below/b", f"{temporary}/below", temporary}
    )
    assert contents <= set(before)
    assert str(tmp_path) in after
