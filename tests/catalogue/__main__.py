"""``python -m tests.catalogue [--reasons] [beginnings of ids]`` prints what comes of them."""

from __future__ import annotations

import sys

from tests.catalogue.report import chosen, lines

reasons = "--reasons" in sys.argv
bad = False
for line in lines(chosen(tuple(word for word in sys.argv[1:] if word != "--reasons")), reasons):
    print(line, flush=True)
    bad = bad or "  expected " in line
sys.exit(bad)
