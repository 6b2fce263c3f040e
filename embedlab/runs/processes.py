"""Which process a number means: the system gives the number of one that has ended to another."""

_TOLERANCE_S = 1.0  # starts are counted in hundredths of a second; a number comes again after thousands of processes


def process_start(pid: int) -> float | None:
    """The seconds between the starts of this machine and of the process PID, whatever the clock says; None where it is gone."""
    import psutil  # who starts or stops no run need not load it

    try:
        return float(psutil.Process(pid).create_time() - psutil.boot_time())
    except psutil.Error:
        return None


def is_process(pid: int, started_s: float | None) -> bool:
    """Whether the process PID is the one that began STARTED_S after the machine; where that is unknown, or none is there, it may be."""
    found = process_start(pid)
    return started_s is None or found is None or abs(found - started_s) < _TOLERANCE_S
