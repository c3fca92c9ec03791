"""`python -m deskovky` is the command `deskovky`."""

import sys

from deskovky.cli import main

if __name__ == "__main__":
    sys.exit(main())
