"""Identify processes by id and start time: the system reuses the ids of ended processes."""

# starts are counted in hundredths of a second; ids repeat after thousands of processes
_TOLERANCE_S = 1.0


def process_start(pid: int) -> float | None:
    """Return the seconds between the starts of this machine and of the process PID, independent of
    the clock; None if it has ended.
    """
    import psutil  # needed only for starting and stopping runs

    try:
        return float(psutil.Process(pid).create_time() - psutil.boot_time())
    except psutil.Error:
        return None


def is_process(pid: int, started_s: float | None) -> bool:
    """Return whether the process PID is the one that began STARTED_S after the machine; without
    that time nobody knows.
    """
    start = process_start(pid)
    if started_s is None or start is None:
        return False
    return abs(start - started_s) < _TOLERANCE_S
