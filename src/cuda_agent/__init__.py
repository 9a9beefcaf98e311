"""cuda-agent: from a PyTorch module to a verified, faster kernel.

Importing this package costs nothing: torch is imported by the modules that need it.
"""

__version__ = "0.1.0"
