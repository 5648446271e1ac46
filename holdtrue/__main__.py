"""`python -m holdtrue` is `holdtrue`."""

import sys

from holdtrue.cli import main

if __name__ == "__main__":
    sys.exit(main())
