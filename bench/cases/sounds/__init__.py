"""The audio night: an audio tagger, a digits' listener and a scene classifier personalized with sounds.

Drives the real programs through the wrappers of bench/lib.
"""
