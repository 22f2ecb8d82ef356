"""The image night: a network trained on ImageNet personalized with photos of another kind.

Drives the real programs through the wrappers of bench/lib; PyTorch's side is in bench/peers.
Python's standard library only.
"""
