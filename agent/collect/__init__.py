"""Collectors: each turns one part of the machine into facts and gaps."""
