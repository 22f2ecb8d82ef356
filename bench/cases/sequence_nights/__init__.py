"""Nights of models that read sequences: a language, ratings, file types."""
