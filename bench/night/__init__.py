"""Whole nights, from pretraining to the judged model, driven through the real programs.

Used by scripts/quickstart and `scripts/bench cifar-night`; tests/e2e borrows the wrappers of the
programs. Python's standard library only.
"""
