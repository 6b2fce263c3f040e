import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest

from embedlab.core.errors import EmbedlabError, MissingError
from embedlab.experiments.queue import LEASE_S, Ending, Queue, QueueEntry

CELLS = [(f"run-{number}", seed) for seed in (1, 2) for number in range(20)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    with Queue(tmp_path / "queue.sqlite") as queue:
        queue.fill(CELLS, done=set())
    return tmp_path / "queue.sqlite"


def claim(queue: Queue, worker: str = "me", now: float | None = None) -> QueueEntry:
    entry = queue.claim(worker, now=now)
    assert entry is not None
    return entry


def test_cells_are_claimed_in_order_and_once(path: Path) -> None:
    with Queue(path) as queue:
        claimed = [claim(queue) for _ in CELLS]
        assert [entry.key for entry in claimed] == CELLS
        assert queue.claim("me") is None
        for entry in claimed:
            assert queue.settle(entry, Ending(state="done"), 1.0)
            assert not queue.settle(entry, Ending(state="done"), 1.0)
        assert not queue.is_open()


def test_many_threads_never_claim_a_cell_twice(path: Path) -> None:
    claimed: list[tuple[str, int]] = []

    def work(name: str) -> None:
        with Queue(path) as queue:
            while (entry := queue.claim(name)) is not None:
                claimed.append(entry.key)
                queue.settle(entry, Ending(state="done"), 0.0)

    threads = [threading.Thread(target=work, args=(f"worker-{number}",)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(claimed) == sorted(CELLS)


def test_a_claim_that_is_not_renewed_goes_to_another_worker(path: Path) -> None:
    with Queue(path) as queue:
        first = claim(queue, "silent", now=1000.0)
        renewed = claim(queue, "busy", now=1000.0)
        assert queue.renew(renewed, pid=7, now=1000.0 + LEASE_S)
        taken = claim(queue, "next", now=1001.0 + LEASE_S)
        assert taken.key == first.key
        assert not queue.renew(first)
        assert not queue.settle(first, Ending(state="done"), 1.0)
        assert claim(queue, "next", now=1001.0 + LEASE_S).key == CELLS[2]


def test_the_claims_of_a_dead_worker_are_free_at_once(path: Path) -> None:
    with Queue(path) as queue:
        first = claim(queue, "dead")
        taken = queue.claim("next", dead=["dead"])
        assert taken is not None
        assert taken.key == first.key


def test_a_new_plan_keeps_what_is_done_and_gives_failures_a_new_chance(path: Path) -> None:
    with Queue(path) as queue:
        for state in ("done", "failed", "cancelled"):
            queue.settle(claim(queue), Ending(state=state, reason="why", errors=1), 2.0)  # type: ignore[arg-type]
        running = claim(queue)
        queue.fill([("new", 1), *CELLS[:5]], done={CELLS[0]})
        found = {entry.key: entry for entry in queue.entries()}
        assert [entry.key for entry in queue.entries()] == [("new", 1), *CELLS[:5]]
        assert found["new", 1].state == found[CELLS[1]].state == found[CELLS[2]].state == "waiting"
        assert found[CELLS[0]].state == "done"
        assert found[CELLS[1]].errors == 0
        assert found[running.key].state == "running"
        assert queue.settle(running, Ending(state="done"), 1.0)


def test_a_done_cell_whose_run_is_gone_waits_again(path: Path) -> None:
    with Queue(path) as queue:
        queue.settle(claim(queue), Ending(state="done"), 2.0)
        queue.fill(CELLS, done=set())
        assert queue.entries()[0].state == "waiting"


def test_cancelling_reaches_those_who_started_before(path: Path) -> None:
    with Queue(path) as queue:
        before = time.time()
        assert not queue.is_cancelled(before)
        queue.request_cancel()
        assert queue.is_cancelled(before)
        assert not queue.is_cancelled(time.time())


def test_a_full_disk_is_one_clear_line_and_loses_nothing(path: Path) -> None:
    with Queue(path) as queue:
        pages = queue._connection.execute("PRAGMA page_count").fetchone()[0]
        queue._connection.execute(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(MissingError, match="no space left"):
            queue.fill([(f"{number}", 1) for number in range(5000)], done=set())
        assert len(queue.entries()) == len(CELLS)


def test_a_file_that_may_not_be_written_is_refused(path: Path) -> None:
    with Queue(path) as queue:
        queue._connection.execute("PRAGMA query_only = ON")
        with pytest.raises(MissingError, match="cannot write"):
            queue.claim("me")


@pytest.mark.parametrize("state", ["open", "closed", "half"])
def test_the_queue_in_another_users_folder_is_read_and_not_written(state: str) -> None:
    folder = Path(tempfile.mkdtemp())  # pytest's own folders cannot be entered by other users
    program = (
        "import os, sys; from pathlib import Path; from embedlab.experiments.queue import Queue\n"
        "from embedlab.core.settings import load_settings\n"
        'load_settings({"quiet": True})  # as every command begins\n'
        "if os.geteuid() == 0: os.setuid(65534)  # the superuser may write everywhere\n"
        "queue = Queue(Path(sys.argv[1]))\n"
        "print(len(queue.entries()), queue.is_open())\n"
        "queue.claim('me')"
    )
    try:
        with Queue(folder / "queue.sqlite") as queue:
            queue.fill(CELLS, done=set())
            if state == "closed":
                queue.close()
            elif state == "half":  # a copy without its index
                (folder / "queue.sqlite-shm").unlink()
            for file in folder.iterdir():
                file.chmod(0o444)
            folder.chmod(0o555)
            words = [sys.executable, "-c", program, str(folder / "queue.sqlite")]
            answer = subprocess.run(words, capture_output=True, text=True, check=False)
    finally:
        folder.chmod(0o755)
        shutil.rmtree(folder)
    if state == "half":
        assert "MissingError: cannot read" in answer.stderr
        return
    assert answer.stdout.split() == [str(len(CELLS)), "True"], answer.stderr
    assert "MissingError: cannot write" in answer.stderr


def test_a_damaged_file_is_refused_with_the_way_out(path: Path) -> None:
    for file in path.parent.glob("queue.sqlite*"):
        file.unlink()
    path.write_bytes(b"this is no database" * 100)
    with pytest.raises(MissingError, match="is damaged") as caught:
        Queue(path)
    assert "remove it" in caught.value.hint


def test_a_name_that_is_not_text_is_damage(path: Path) -> None:
    with Queue(path) as queue:
        queue.claim("me")
    content = path.read_bytes()
    path.write_bytes(content.replace(b"CREATE TABLE cells", b"CREATE TAB\xffE cells"))
    for file in path.parent.glob("queue.sqlite-*"):
        file.unlink()
    with pytest.raises(MissingError, match="is damaged: a name in it is not text") as caught:
        Queue(path)
    assert "remove it" in caught.value.hint


def test_other_trouble_names_the_file(path: Path) -> None:
    with Queue(path) as queue:
        queue._connection.execute("DROP TABLE cells")
        with pytest.raises(EmbedlabError, match="no such table"):
            queue.entries()


@pytest.mark.parametrize(
    ("change", "column"),
    [
        ("UPDATE cells SET state = 'odd'", "state"),
        ("UPDATE cells SET number = 'one'", "number"),
        ("UPDATE cells SET seconds = x'00ff'", "seconds"),
    ],
)
def test_a_row_that_no_worker_wrote_is_refused_by_file_and_column(
    path: Path, change: str, column: str
) -> None:
    with Queue(path) as queue:
        queue._connection.execute(change)
        with pytest.raises(MissingError, match=rf"queue\.sqlite: damaged: '{column}'"):
            queue.entries()


def test_pages_that_do_not_hang_together_are_reported_in_one_line(path: Path) -> None:
    with Queue(path) as queue:
        queue._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    content = bytearray(path.read_bytes())
    with sqlite3.connect(path) as plain:
        (page,) = plain.execute(
            "SELECT rootpage FROM sqlite_schema WHERE name = 'by_state'"
        ).fetchone()
        (size,) = plain.execute("PRAGMA page_size").fetchone()
    plain.close()
    content[(page - 1) * size] = 0xFF
    path.write_bytes(content)
    with pytest.raises(MissingError, match="damaged") as caught:
        Queue(path)
    assert "\n" not in caught.value.message


def test_cells_that_halving_paused_or_stopped_wait_again(path: Path) -> None:
    with Queue(path) as queue, queue._transaction() as execute:
        execute("UPDATE cells SET state = 'paused', rung = 1 WHERE number = 1")
        execute("UPDATE cells SET state = 'stopped', rung = 1 WHERE number = 2")
    with Queue(path) as queue:
        assert {entry.state for entry in queue.entries()} == {"waiting"}
        queue.fill(CELLS, done=set())
        claimed = [queue.claim("me") for _ in CELLS]
        assert [entry.number for entry in claimed if entry] == [*range(1, len(CELLS) + 1)]


def plainly(path: Path, *statements: str) -> None:
    """Run STATEMENTS as `sqlite3` does, which has no functions of ours."""
    with closing(sqlite3.connect(path)) as connection, connection:
        for statement in statements:
            connection.execute(statement)


def test_any_program_can_repair_a_row(path: Path) -> None:
    with Queue(path) as queue:
        claimed = queue.claim("dead")
        assert claimed is not None
    repair = (
        "UPDATE cells SET state = 'waiting', worker = NULL, lease = NULL WHERE state = 'running'"
    )
    plainly(
        path,
        repair,
        "DELETE FROM cells WHERE number = 2",
        "INSERT OR REPLACE INTO facts VALUES ('cancelled', 5.0)",
    )
    with Queue(path) as queue:
        assert queue.is_cancelled(4.0)
        assert len(queue.entries()) == len(CELLS) - 1
        again = queue.claim("me")
        assert again is not None
        assert again.key == claimed.key
    with Queue(
        path
    ) as queue:  # the repaired rows have checksums of their own since the last transaction
        assert [entry.worker for entry in queue.entries() if entry.state == "running"] == ["me"]
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT count(*) FROM edited").fetchone() == (0,)
        assert connection.execute("SELECT count(*) FROM sums WHERE seed > 0").fetchone() == (
            len(CELLS) - 1,
        )
        texts = [
            text
            for (text,) in connection.execute("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL")
        ]
    assert not [text for text in texts if "checksum" in text]


def test_a_row_that_is_damaged_behind_the_triggers_is_refused_and_not_changed(path: Path) -> None:
    with Queue(path) as queue, closing(sqlite3.connect(path)) as other:
        other.execute(
            "DROP TRIGGER cell_updated"
        )  # a bit that the disk flips runs no trigger either
        other.execute("UPDATE cells SET errors = 7 WHERE number = 1")
        other.commit()
        with pytest.raises(MissingError, match="damaged"):
            queue.claim("me")
    with pytest.raises(MissingError, match="does not match its checksum"):
        Queue(path)
