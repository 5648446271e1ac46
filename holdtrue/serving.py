"""`holdtrue serve DIRECTORY`: this project's own store as a target of the wire protocol.

A module of its own, since a check by `--target` starts it hundreds of times: it imports what it serves.
"""

import sys
from pathlib import Path

from holdtrue import __version__
from holdtrue.exits import UsageError


def serve_command(options: object) -> int:
    """`holdtrue serve` as the command line asks for it; returns the exit code."""
    from stateful_tests.wire.serve import serve

    directory = vars(options)["directory"]
    if not directory:
        raise UsageError("an empty path names no directory")
    return serve(Path(directory), sys.stdin.buffer, sys.stdout.buffer, version=__version__)
