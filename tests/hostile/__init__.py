"""Targets that misbehave: what they do, and how to see that nothing of them is left."""
