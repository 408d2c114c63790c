"""The trusted kernel: standard library and python-flint only."""
