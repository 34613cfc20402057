"""Errors that a user can meet: one sentence of what is wrong and one next step."""

from __future__ import annotations


class AgentError(Exception):
    """Something the user must hear about; ``hint`` is the next step, in the user's words."""

    exit_code = 3

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(AgentError):
    """Wrong usage, or input that cannot be read (exit code 2)."""

    exit_code = 2


class TargetError(AgentError):
    """The interpreter under test cannot be found or run."""

    exit_code = 2


class BundleError(AgentError):
    """A bundle that is not one: malformed, too large, wrong types (exit code 4)."""

    exit_code = 4


class SignatureError(BundleError):
    """A signature that is missing, foreign or does not match (exit code 4)."""
