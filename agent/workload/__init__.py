"""The user's own command: run it untouched, measure what it needed, and say what ended it."""
