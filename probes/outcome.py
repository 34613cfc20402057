"""How the trial of an extension may end other than well, and how results are compared."""

from __future__ import annotations

from typing import Any, NamedTuple

from .report import Report


class Place(NamedTuple):
    """Where an extension's operation is tried.

    ``device`` is torch's name of it, ``cpu`` where there is no GPU or none was asked for;
    ``torch`` is None for extensions that are tried without it.
    """

    report: Report
    torch: Any
    device: str
    backend: str
    options: dict[str, Any]

    @property
    def on_gpu(self) -> bool:
        """Whether a GPU is there to be used."""
        return self.device != "cpu"


class NotRunError(Exception):
    """The operation could not be tried, which is no fault; ``reason`` is one of the ladder's."""

    def __init__(self, reason: str, text: str) -> None:
        super().__init__(text)
        self.reason = reason


class WrongResultError(Exception):
    """The operation ran and its result is not the reference's."""


def same(name: str, got: Any, wanted: Any, tolerance: float) -> float:
    """The largest difference of two tensors or arrays, relative to the largest wanted value.

    Raises WrongResultError where it exceeds the tolerance, is no number, or the shapes differ.
    """
    if tuple(got.shape) != tuple(wanted.shape):
        raise WrongResultError(
            "%s: the result has shape %s, the reference %s"
            % (name, tuple(got.shape), tuple(wanted.shape))
        )
    got, wanted = on_host(got), on_host(wanted)
    scale = max(float(abs(wanted).max()), 1e-30)
    difference = float(abs(got - wanted).max()) / scale
    if not difference <= tolerance:
        raise WrongResultError(
            "%s: the result differs from the reference by %.3g of the largest value, more than %.3g"
            % (name, difference, tolerance)
        )
    return difference


def on_host(value: Any) -> Any:
    """A tensor as float64 on the CPU; an array of another library as it is."""
    return value.detach().double().cpu() if hasattr(value, "detach") else value


def equal(name: str, got: Any, wanted: Any) -> None:
    """Raises WrongResultError unless two lists or numbers are the same."""
    if got != wanted:
        raise WrongResultError("%s: %s instead of %s" % (name, str(got)[:300], str(wanted)[:300]))
