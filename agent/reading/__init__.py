"""Pasted text as observations."""
