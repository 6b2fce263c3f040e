"""The command `embedlab`, and `python -m embedlab`, which detached processes use."""

import sys


def main() -> int:
    """Run the program; Ctrl-C and a bug while it still loads end it with the same words as later."""
    try:
        return _run()
    except KeyboardInterrupt:
        sys.stderr.write("embedlab: interrupted\n")
        return 130  # ExitCode.INTERRUPTED, which may not be loaded yet


def _run() -> int:
    try:
        from embedlab.cli.app import main as program
    except Exception as error:
        from embedlab.core.crash_reports import show_in_log, unforeseen

        known = unforeseen(error)
        show_in_log(known)
        return known.exit_code
    return program()


if __name__ == "__main__":
    sys.exit(main())
