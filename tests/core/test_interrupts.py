"""Interruptions that nothing discards."""

import signal
import time
from collections.abc import Callable
from contextlib import suppress

import pytest

from embedlab.cli.app import main
from embedlab.core.interrupts import AGAIN_S, interrupts

LONG_S = 20.0


class Discarding:
    """Its finaliser receives the signal; the interpreter discards what it raises."""

    def __del__(self) -> None:
        signal.raise_signal(signal.SIGTERM)


def in_a_finaliser() -> None:
    Discarding()


def in_a_bare_except() -> None:
    with suppress(BaseException):
        signal.raise_signal(signal.SIGTERM)


def in_a_handler_of_another_error() -> None:
    try:
        raise ImportError("no module")
    except ImportError:
        in_a_bare_except()


@pytest.mark.parametrize("receive", [in_a_finaliser, in_a_handler_of_another_error])
def test_a_stop_that_is_discarded_on_its_way_comes_again(
    receive: Callable[[], None], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def work() -> list[str]:
        receive()
        deadline = time.monotonic() + LONG_S
        while time.monotonic() < deadline:
            time.sleep(0.01)
        return []

    monkeypatch.setattr("embedlab.commands.recipes.recipe_names", work)
    began = time.monotonic()
    assert main(["recipes"]) == 130
    assert time.monotonic() - began < LONG_S / 2
    assert capfd.readouterr().err.splitlines() == [
        "embedlab: stopped by SIGTERM",
        "hint: what was saved before stays",
    ]


def interrupted(clean: Callable[[], None], *, becomes: type[Exception] | None = None) -> None:
    """A block that is interrupted, and what it does at its end."""
    with interrupts() as interrupt:
        try:
            try:
                interrupt()
            except KeyboardInterrupt:
                if becomes is not None:
                    raise becomes("stopped") from None
                raise
        finally:
            time.sleep(2 * AGAIN_S)  # longer than until the next attempt
            clean()


@pytest.mark.parametrize("becomes", [None, RuntimeError])
def test_what_is_done_at_the_end_is_not_interrupted_again(becomes: type[Exception] | None) -> None:
    cleaned: list[str] = []
    with pytest.raises(becomes or KeyboardInterrupt):
        interrupted(lambda: cleaned.append("whole"), becomes=becomes)
    assert cleaned == ["whole"]


def test_behind_the_block_nothing_is_left_of_it() -> None:
    before = signal.getsignal(signal.SIGALRM)
    with pytest.raises(KeyboardInterrupt):
        interrupted(lambda: None)
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    assert signal.getsignal(signal.SIGALRM) == before


def test_a_second_signal_interrupts_also_the_end(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def work() -> list[str]:
        try:
            signal.raise_signal(signal.SIGTERM)
        finally:
            signal.raise_signal(signal.SIGINT)
            time.sleep(LONG_S)
        return []

    monkeypatch.setattr("embedlab.commands.recipes.recipe_names", work)
    began = time.monotonic()
    assert main(["recipes"]) == 130
    assert time.monotonic() - began < LONG_S / 2
