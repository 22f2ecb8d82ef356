"""Ways of choosing what is trained, compared: full, last layer, batch norms and biases, elastic(ρ).

Drives the real programs through the wrappers of bench/lib. Python's standard library only.
"""
