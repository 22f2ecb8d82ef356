"""Whole nights, from pretraining to the judged model, driven through the real programs.

Used by scripts/quickstart and `scripts/bench digits-night` and `cifar-night`. Python's standard library only.
"""
