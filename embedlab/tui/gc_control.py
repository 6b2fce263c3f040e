"""The garbage collector kept out of the way: a full collection walks all that was ever imported, 0.1 s in which no key is answered."""

import gc


def hold() -> None:
    """Collect nothing while the dashboard starts: what it makes then stays."""
    gc.disable()


def resume() -> None:
    """Collect from now on, but look only at what is made from now on; nothing where `hold` was not called."""
    if not gc.isenabled():
        gc.freeze()
        gc.enable()
