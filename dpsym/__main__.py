"""``python -m dpsym`` is the command line."""

import sys

from dpsym.cli import main

sys.exit(main())
