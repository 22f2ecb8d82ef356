"""What benchmarks share: the daemon and the other programs, a night and its figures, datasets, tables.

tests/e2e borrows the wrappers of the programs. Python's standard library only.
"""
