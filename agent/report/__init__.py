"""Bundles as something a person reads."""
