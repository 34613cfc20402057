"""Running probes in child processes that may do anything."""
