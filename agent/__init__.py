"""firstlight: tells whether a delivered GPU machine works, and if not, why and who can fix it."""

__version__ = "0.1.0"
