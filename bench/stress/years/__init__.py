"""Years of nights by a made-up clock: what stays bounded, and what every night came to."""
