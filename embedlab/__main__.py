"""The command `embedlab`, and `python -m embedlab`."""

import gc
import os
import sys

# polars gives memory that it freed back only when the system is short of it, unless its allocator
# has other settings when it is loaded.
os.environ.setdefault("_RJEM_MALLOC_CONF", "dirty_decay_ms:500,muzzy_decay_ms:0")

# Imports make a million objects that stay: Python's own first threshold of 700 visits them all
# again and again. The middle and the last one are Python's.
YOUNG_OBJECTS = (20_000, 10, 10)

if __name__ == "__main__" and not sys.flags.safe_path:
    del sys.path[
        0
    ]  # the working folder, whose files would come before all modules that are imported from here on


def main() -> int:
    """Run the program; Ctrl-C and a bug while it still loads end it with the same words as
    later.
    """
    gc.set_threshold(*YOUNG_OBJECTS)
    try:
        return _run()
    except KeyboardInterrupt:
        sys.stderr.write("embedlab: interrupted\n")
        return 130  # ExitCode.INTERRUPTED, which may not be loaded yet
    finally:
        gc.freeze()  # else the interpreter visits every object once more before it ends


def _run() -> int:
    try:
        from embedlab.cli.app import main as program
        from embedlab.core.python_processes import isolate_children
    except Exception as error:
        from embedlab.core.crash_reports import report_unforeseen, show_in_log

        known = report_unforeseen(error)
        show_in_log(known)
        return known.exit_code
    isolate_children()
    return program()


if __name__ == "__main__":
    sys.exit(main())
