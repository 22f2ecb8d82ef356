"""From a folder of samples to a model that grows every night, as somebody meets it in the first hour."""
