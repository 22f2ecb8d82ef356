"""Tables of numbers: which there are, the network that knows them, and how its nights are set."""
