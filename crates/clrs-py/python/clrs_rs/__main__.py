"""The program ``clrs``: ``python -m clrs_rs``."""

import os
import signal
import sys

from clrs_rs import _core


def main() -> int:
    """Runs the program with the arguments of this process, and returns its exit code."""
    # The program handles Ctrl-C itself; Python would only notice it afterwards. What ignores it, such as `nohup`, goes on to.
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _core.main([os.path.abspath(sys.argv[0]), *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
