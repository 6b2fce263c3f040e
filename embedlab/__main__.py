"""The command `embedlab`, and `python -m embedlab`, which detached processes use."""

import sys


def main() -> int:
    """Run the program; Ctrl-C while it still loads ends it with the same word as later."""
    try:
        from embedlab.cli.app import main as program

        return program()
    except KeyboardInterrupt:
        sys.stderr.write("embedlab: interrupted\n")
        return 130  # ExitCode.INTERRUPTED, which may not be loaded yet


if __name__ == "__main__":
    sys.exit(main())
