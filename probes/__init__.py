"""What runs in the interpreter under test: standard library and the thing under test only."""
