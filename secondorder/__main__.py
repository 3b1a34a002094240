"""`python -m secondorder` is the command `secondorder`."""

import sys

from secondorder.cli import main

if __name__ == "__main__":
    sys.exit(main())
