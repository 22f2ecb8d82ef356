"""Nights without settings beside nights that were set by hand, on the same data.

The job of the former has a name, a model and a pack. Both begin from nothing, on a daemon of their
own: the feature maps of one are not the other's.
"""
