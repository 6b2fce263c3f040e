"""embedlab: a lab bench for sentence embeddings."""

from embedlab.core.version import __version__ as __version__
