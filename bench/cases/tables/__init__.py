"""Nights over tables of numbers.

Drives the real programs through the wrappers of bench/lib. Python's standard library only.
"""
