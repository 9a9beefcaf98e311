"""The filters that read a candidate's text: they cost next to nothing, so they come first."""

import ast
import hashlib
from dataclasses import dataclass, field

from cuda_agent.errors import TaskError
from cuda_agent.printable import make_printable
from cuda_agent.synthesis.candidate import Candidate
from cuda_agent.synthesis.fate import Fate, Filter
from cuda_agent.synthesis.label import find_missing_operators, find_random_operator
from cuda_agent.synthesis.normal import compute_normal_form
from cuda_agent.synthesis.similarity import Print, find_nearest
from cuda_agent.tasks.source import parse_task

_MAX_NESTING = 200
"""Levels of a syntax tree; a program that somebody wrote has a few dozen."""


@dataclass(frozen=True, kw_only=True)
class TextFilters:
    """Reads candidates one after another, and remembers those it has seen."""

    kernelbench: dict[str, Print]
    """KernelBench's tasks; empty when no folder was named."""
    similarity: float
    """How similar to one of them a candidate may be."""
    seen: dict[str, Candidate] = field(default_factory=dict)
    """Digests of normal forms, without and with their sizes, with the first candidate that had each."""

    def remember(self, fate: Fate) -> None:
        """Take a recorded candidate for seen, without reading it again."""
        for digest in fate.normal_digests:
            self.seen.setdefault(digest, fate.candidate)

    def check(self, candidate: Candidate) -> Fate:
        """The fate of a candidate as far as its text decides it."""
        try:
            return self._check(candidate)
        except RecursionError:
            return drop(Fate(candidate=candidate), Filter.PARSES, reason="it is nested too deeply")

    def _check(self, candidate: Candidate) -> Fate:
        try:
            parse_task(candidate.code, name="candidate")
            if _measure_nesting(candidate.code) > _MAX_NESTING:
                raise RecursionError
            digests = _compute_digests(candidate.code)
        except (TaskError, ValueError) as error:
            return drop(Fate(candidate=candidate), Filter.PARSES, reason=str(error))
        fate = Fate(candidate=candidate, normal_digests=digests)
        first = self._find_first(candidate, digests)
        if first is not candidate:
            return drop(fate, Filter.DUPLICATE, reason=f"of candidate {first.number}")
        if missing := find_missing_operators(candidate.code, candidate.ops):
            return drop(fate, Filter.LABEL, reason=f"{missing[0]} does not occur")
        if not candidate.ops:
            return drop(fate, Filter.LABEL, reason="no operator is declared")
        nearest = find_nearest(candidate.code, self.kernelbench) if self.kernelbench else None
        fate = fate.model_copy(update={"nearest": nearest})
        if nearest is not None and nearest.similarity > self.similarity:
            return drop(fate, Filter.SIMILAR, reason=f"{nearest.similarity:.2f} to {nearest.name}")
        if name := find_random_operator(candidate.code):
            return drop(fate, Filter.STOCHASTIC, reason=f"{name} draws random numbers")
        return fate

    def _find_first(self, candidate: Candidate, digests: tuple[str, str]) -> Candidate:
        """Itself, or the one that it repeats: of its own family only at the same sizes."""
        other, same_sized = (self.seen.setdefault(digest, candidate) for digest in digests)
        is_of_family = candidate.family != "" and other.family == candidate.family
        return same_sized if is_of_family else other


def _measure_nesting(code: str) -> int:
    """How deep its syntax tree is: what torch raises Python's own limit to is not for a filter to know."""
    depth = 0
    level: list[ast.AST] = [ast.parse(code)]
    while level:
        depth += 1
        level = [child for node in level for child in ast.iter_child_nodes(node)]
    return depth


def _compute_digests(code: str) -> tuple[str, str]:
    return _digest(compute_normal_form(code)), _digest(compute_normal_form(code, keeps_sizes=True))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:32]


def drop(fate: Fate, by: Filter, *, reason: str) -> Fate:
    """The fate of a candidate that a filter drops."""
    return fate.model_copy(update={"dropped_by": by, "reason": make_printable(reason)[:300]})
