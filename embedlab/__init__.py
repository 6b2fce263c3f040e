"""embedlab: a lab bench for sentence embeddings."""

__version__ = "0.1.0"
