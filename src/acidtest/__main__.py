"""`acidtest`, and the same as `python -m acidtest`."""

import sys
import traceback

from acidtest.errors import DEFECT_EXIT_CODE

INTERRUPTED = 130
"""What shells report for a program that Ctrl-C ended."""


def main() -> None:
    """The command. Importing all that it needs takes long enough to be interrupted."""
    try:
        from acidtest.cli import main as run  # noqa: PLC0415
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except Exception:
        traceback.print_exc()
        sys.exit(DEFECT_EXIT_CODE)
    run()


if __name__ == "__main__":
    main()
