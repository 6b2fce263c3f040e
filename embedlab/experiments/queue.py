"""The queue of a grid's cells: a SQLite file in the grid's folder that any number of processes on
one machine share.

A claim is a lease that its worker renews; if the worker is dead or silent, the next worker takes
the cell. Whether a cell is complete is decided by its run folder, so that a lost queue file loses
nothing.
"""

import os
import sqlite3
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

import xxhash

from embedlab.core.disk import disk_errors
from embedlab.core.errors import EmbedlabError, MissingError
from embedlab.core.schema import read_row

CellState = Literal["waiting", "running", "done", "failed", "cancelled"]  # by its user

LEASE_S = 30.0  # a worker that has not renewed its claim within this time loses it
_REMADE = "remove it: finished cells are found again by their runs"
PATIENCE_S = 60.0  # timeout for other processes' transactions, which take milliseconds

_TABLES = """
CREATE TABLE IF NOT EXISTS cells (
    run TEXT, seed INTEGER, number INTEGER NOT NULL, state TEXT NOT NULL DEFAULT 'waiting',
    errors INTEGER NOT NULL DEFAULT 0, kills INTEGER NOT NULL DEFAULT 0,
    worker TEXT, pid INTEGER, lease REAL, seconds REAL NOT NULL DEFAULT 0, ended REAL,
    rung INTEGER NOT NULL DEFAULT 0, reason TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (run, seed)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS by_state ON cells (state, rung DESC, number);
CREATE TABLE IF NOT EXISTS facts (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
"""
_COLUMNS = "run, seed, number, state, errors, kills, worker, pid, lease, seconds, reason"
# `rung` has no meaning any more, and is part of the checksums of rows that are there.
_SUMMED = _COLUMNS.replace("reason", "rung, reason")


def _sum_of(row: str) -> str:
    """Return SQL for the checksum of a row of `cells`, by its name there."""
    return f"checksum({', '.join(f'{row}.{column}' for column in _SUMMED.split(', '))})"


# SQLite checks the structure of its pages, not their values: `sums` has a checksum of each row. The
# file itself computes none, so that any program can repair a row: its triggers list the rows that
# were changed since, which are not verified and get their checksums at the end of our next
# transaction.
_SUMS = """
CREATE TABLE IF NOT EXISTS sums (run TEXT, seed INTEGER, sum INTEGER NOT NULL, PRIMARY KEY (run, seed)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS edited (run TEXT, seed INTEGER);
CREATE TRIGGER IF NOT EXISTS cell_inserted AFTER INSERT ON cells BEGIN
    INSERT INTO edited VALUES (NEW.run, NEW.seed);
END;
CREATE TRIGGER IF NOT EXISTS cell_updated AFTER UPDATE ON cells BEGIN
    INSERT INTO edited VALUES (OLD.run, OLD.seed), (NEW.run, NEW.seed);
END;
CREATE TRIGGER IF NOT EXISTS cell_deleted AFTER DELETE ON cells BEGIN
    INSERT INTO edited VALUES (OLD.run, OLD.seed);
END;
CREATE TRIGGER IF NOT EXISTS fact_inserted AFTER INSERT ON facts BEGIN
    INSERT INTO edited VALUES (NEW.key, -1);
END;
CREATE TRIGGER IF NOT EXISTS fact_updated AFTER UPDATE ON facts BEGIN
    INSERT INTO edited VALUES (OLD.key, -1), (NEW.key, -1);
END;
"""
# Of this connection alone: a damaged row is not changed, which would make its damage look right.
_CHECK = f"""
CREATE TEMP TRIGGER cell_checked BEFORE UPDATE ON main.cells BEGIN
    SELECT RAISE(ABORT, 'a row was damaged') FROM main.sums WHERE run = OLD.run AND seed = OLD.seed AND sum <> {_sum_of("OLD")}
    AND NOT EXISTS (SELECT 1 FROM main.edited WHERE run = OLD.run AND seed = OLD.seed);
END;
"""
_SEAL = (
    "DELETE FROM sums WHERE (run, seed) IN (SELECT run, seed FROM edited)",
    f"INSERT INTO sums SELECT run, seed, {_sum_of('cells')} FROM (SELECT DISTINCT run, seed "
    f"FROM edited) JOIN cells USING (run, seed)",
    "INSERT INTO sums SELECT key, -1, checksum(key, value) FROM (SELECT DISTINCT run FROM "
    "edited WHERE seed = -1) JOIN facts ON run = key",
    "DELETE FROM edited",
)


_UNEDITED = " AND (run, seed) NOT IN (SELECT run, seed FROM edited)"
_DAMAGED_ROWS = (
    f"SELECT run FROM cells JOIN sums USING (run, seed) WHERE sum <> "
    f"{_sum_of('cells')}{_UNEDITED} "
    f"UNION ALL SELECT key FROM facts JOIN sums ON run = key AND seed = -1 WHERE sum <> "
    f"checksum(key, value){_UNEDITED}"
)


@dataclass(frozen=True, kw_only=True)
class QueueEntry:
    """A cell in the queue."""

    run: str
    seed: int
    number: int  # in the plan, from 1
    state: CellState
    errors: int = 0  # endings with an error since the grid was last started
    kills: int = 0  # endings by a signal from outside
    worker: str | None = None
    pid: int | None = None  # process id, while it runs
    lease: float | None = None  # end of the claim, seconds since 1970
    seconds: float = 0.0  # spent on it so far by all its processes, in total
    reason: str = ""  # why it failed

    @property
    def key(self) -> tuple[str, int]:
        """Return the permanent key of the cell: numbers change with the grid file."""
        return self.run, self.seed


@dataclass(frozen=True, kw_only=True)
class Ending:
    """The outcome of a claimed cell."""

    state: CellState
    reason: str = ""
    errors: int = 0
    kills: int = 0


class Queue:
    """An open connection to a grid's queue; each process and thread opens its own.

    A queue in another user's folder is read-only.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        with disk_errors(path):
            path.parent.mkdir(parents=True, exist_ok=True)
        self._is_foreign = path.is_file() and not (
            os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)
        )
        with self._errors():
            address = _reading(path) if self._is_foreign else path.absolute().as_uri()
            self._connection = sqlite3.connect(
                address, uri=True, timeout=PATIENCE_S, isolation_level=None
            )
            self._connection.row_factory = sqlite3.Row
            self._connection.create_function("checksum", -1, _checksum, deterministic=True)
            self._verify()
            if self._is_foreign:
                return
            # A write-ahead log lets readers read while others write; a power cut may lose the last
            # claims, but no result.
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute("PRAGMA synchronous = NORMAL")
            self._connection.executescript(_TABLES + _SUMS + _CHECK)

    def _verify(self) -> None:
        """Refuse a file with inconsistent pages or with rows that differ from their checksums."""
        (verdict,) = self._connection.execute("PRAGMA integrity_check(1)").fetchone()
        tables = (
            {name for (name,) in self._connection.execute("SELECT name FROM sqlite_schema")}
            if verdict == "ok"
            else set()
        )
        row = self._connection.execute(_DAMAGED_ROWS).fetchone() if "edited" in tables else None
        if verdict != "ok" or row is not None:
            raise _damaged(
                self.path,
                verdict if row is None else f"its row of {row[0]!r} does not match its checksum",
            )

    def fill(self, cells: Sequence[tuple[str, int]], done: Collection[tuple[str, int]]) -> None:
        """Make the queue hold exactly these CELLS, (run, seed) in the plan's order; failed or
        cancelled ones are queued again.

        DONE are those with complete runs. A claimed cell stays with its worker.
        """
        with self._transaction() as execute:
            execute(
                "CREATE TEMP TABLE IF NOT EXISTS wanted (run TEXT, seed INTEGER, number "
                "INTEGER, done INTEGER, PRIMARY KEY (run, seed))"
            )
            execute("DELETE FROM wanted")
            rows = [
                (run, seed, number, (run, seed) in done)
                for number, (run, seed) in enumerate(cells, start=1)
            ]
            self._connection.executemany("INSERT INTO wanted VALUES (?, ?, ?, ?)", rows)
            execute("DELETE FROM cells WHERE (run, seed) NOT IN (SELECT run, seed FROM wanted)")
            execute(
                "INSERT INTO cells (run, seed, number, state) SELECT run, seed, number, "
                "iif(done, 'done', 'waiting') FROM wanted WHERE 1 "
                "ON CONFLICT (run, seed) DO UPDATE SET number = excluded.number, "
                "errors = iif(state = 'running', errors, 0), kills = iif(state = 'running', "
                "kills, 0), "
                "reason = iif(excluded.state = 'done', '', reason), "
                "state = iif(state = 'running' AND excluded.state <> 'done', state, "
                "excluded.state)"
            )

    def claim(
        self, worker: str, dead: Collection[str] = (), now: float | None = None
    ) -> QueueEntry | None:
        """Claim the next waiting cell for this WORKER, or return None; the claims of DEAD and
        silent workers are released.
        """
        now = time.time() if now is None else now
        with self._transaction() as execute:
            execute(
                "UPDATE cells SET state = 'waiting', worker = NULL WHERE state = 'running' "
                "AND lease < ?",
                now,
            )
            for name in dead:
                execute(
                    "UPDATE cells SET state = 'waiting', worker = NULL WHERE state = "
                    "'running' AND worker = ?",
                    name,
                )
            row = execute(
                "SELECT run, seed FROM cells WHERE state = 'waiting' ORDER BY number LIMIT 1"
            ).fetchone()
            if row is None:
                return None
            return self._take(row["run"], row["seed"], worker, now)

    def _take(self, run: str, seed: int, worker: str, now: float) -> QueueEntry:
        taken = self._connection.execute(
            "UPDATE cells SET state = 'running', worker = ?, pid = NULL, lease = ?, reason = "
            "'' WHERE run = ? AND seed = ? "
            f"RETURNING {_COLUMNS}",
            (worker, now + LEASE_S, run, seed),
        ).fetchone()
        return self._entry(taken)

    def renew(self, entry: QueueEntry, *, pid: int | None = None, now: float | None = None) -> bool:
        """Extend a claim by another lease; False when it was lost to another worker."""
        now = time.time() if now is None else now
        return self._change(entry, "lease = ?, pid = coalesce(?, pid)", now + LEASE_S, pid)

    def renew_all(self, worker: str) -> None:
        """Extend all claims of a WORKER by another lease."""
        with self._transaction() as execute:
            change = "UPDATE cells SET lease = ? WHERE state = 'running' AND worker = ?"
            execute(change, time.time() + LEASE_S, worker)

    def settle(self, entry: QueueEntry, ending: "Ending", seconds: float) -> bool:
        """End a claim after SECONDS more of work; False when it was lost before."""
        change = (
            "state = ?, worker = NULL, pid = NULL, lease = NULL, seconds = seconds + ?, "
            "ended = ?, reason = ?, "
            "errors = errors + ?, kills = kills + ?"
        )
        return self._change(
            entry,
            change,
            ending.state,
            seconds,
            time.time(),
            ending.reason,
            ending.errors,
            ending.kills,
        )

    def _change(self, entry: QueueEntry, change: str, *values: object) -> bool:
        with self._transaction() as execute:
            where = "WHERE run = ? AND seed = ? AND state = 'running' AND worker = ?"
            return (
                execute(
                    f"UPDATE cells SET {change} {where}", *values, *entry.key, entry.worker
                ).rowcount
                == 1
            )

    def entries(self) -> list[QueueEntry]:
        """Return every cell in the plan's order."""
        with self._errors():
            return [
                self._entry(row)
                for row in self._connection.execute(f"SELECT {_COLUMNS} FROM cells ORDER BY number")
            ]

    def _entry(self, row: sqlite3.Row) -> QueueEntry:
        values = dict(row)
        if values["state"] in {"paused", "stopped"}:  # by halving, before it was removed
            values["state"] = "waiting"
        return read_row(QueueEntry, values, where=self.path, hint=_REMADE)

    def is_open(self) -> bool:
        """Return whether a cell waits or runs."""
        with self._errors():
            row = self._connection.execute(
                "SELECT 1 FROM cells WHERE state IN ('waiting', 'running') LIMIT 1"
            ).fetchone()
            return row is not None

    def request_cancel(self) -> None:
        """Request that every running worker stops."""
        with self._transaction() as execute:
            execute("INSERT OR REPLACE INTO facts VALUES ('cancelled', ?)", time.time())

    def is_cancelled(self, since: float) -> bool:
        """Return whether a stop was requested after SINCE."""
        with self._errors():
            row = self._connection.execute(
                "SELECT value FROM facts WHERE key = 'cancelled'"
            ).fetchone()
            return row is not None and isinstance(row["value"], float) and row["value"] > since

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @contextmanager
    def _transaction(self) -> Iterator[Callable[..., sqlite3.Cursor]]:
        """A block that other processes see completely or not at all."""
        with self._errors():
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield lambda statement, *values: self._connection.execute(statement, values)
                for statement in _SEAL:
                    self._connection.execute(statement)
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Raise an error with one line on what is wrong with the file or its disk."""
        try:
            yield
        except sqlite3.DatabaseError as error:
            raise _as_error(error, self.path, is_read=self._is_foreign) from error
        except UnicodeDecodeError as error:  # of a name that SQLite quotes while it complains
            raise _damaged(self.path, "a name in it is not text") from error


def _checksum(*values: object) -> int:
    """Return the checksum of some plain values as a whole number that a database takes."""
    return xxhash.xxh3_64_intdigest(repr(values).encode("utf-8", "surrogatepass")) >> 1


def _reading(path: Path) -> str:
    """Return the URI of a queue to read only. Without a log no process has it open; "immutable"
    keeps SQLite from creating one.
    """
    is_closed = not path.with_name(f"{path.name}-wal").exists()
    return f"{path.absolute().as_uri()}?mode=ro{'&immutable=1' if is_closed else ''}"


def _damaged(path: Path, reason: str) -> MissingError:
    return MissingError(f"{str(path)!r} is damaged: {' '.join(reason.split())}", hint=_REMADE)


def _as_error(error: sqlite3.DatabaseError, path: Path, *, is_read: bool) -> EmbedlabError:
    name = getattr(error, "sqlite_errorname", "")
    if is_read and name.startswith(
        "SQLITE_CANTOPEN"
    ):  # its log exists without the index, which other users may not create
        return MissingError(
            f"cannot read {str(path)!r}: {error}",
            hint="its owner has just opened or closed it, or it is a copy: look again",
        )
    if name.startswith("SQLITE_FULL"):
        return MissingError(
            f"no space left to write {str(path)!r}",
            hint="free some space; what was saved is intact",
        )
    if name.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM")):
        return MissingError(
            f"cannot write {str(path)!r}: {error}",
            hint="make the grid's folder writable, or choose another with --runs",
        )
    # A damaged row is refused by its trigger, a value that is not text by the checksum's function.
    if name.startswith(
        ("SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_CONSTRAINT_TRIGGER")
    ) or "user-defined function" in str(error):
        return _damaged(path, str(error))
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return EmbedlabError(
            f"{str(path)!r} was locked for {PATIENCE_S:.0f} s",
            hint="is it on a network disk? keep runs on a local one",
        )
    return EmbedlabError(f"{str(path)!r}: {error}", hint=_REMADE)
