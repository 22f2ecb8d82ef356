"""Memory and time of training whole networks: the engine against PyTorch, and its swap modes.

Run as a folder by `scripts/bench memory`. Every figure is of a process of its own: memory_bench
(bench/native/memory_bench/) and bench/peers/torch_training.py. Python's standard library only; the peer needs PyTorch.
"""
