"""The filters that read a candidate's text: they cost next to nothing, so they come first."""

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


@dataclass(frozen=True, kw_only=True)
class TextFilters:
    """Reads candidates one after another, and remembers those it has seen."""

    kernelbench: dict[str, Print]
    """KernelBench's tasks; empty when no folder was named."""
    similarity: float
    """How similar to one of them a candidate may be."""
    seen: dict[str, int] = field(default_factory=dict)
    """Digests of normal forms, with the first candidate that had each."""

    def remember(self, fate: Fate) -> None:
        """Take a recorded candidate for seen, without reading it again."""
        if fate.normal_digest:
            self.seen.setdefault(fate.normal_digest, fate.candidate.number)

    def check(self, candidate: Candidate) -> Fate:
        """The fate of a candidate as far as its text decides it."""
        try:
            return self._check(candidate)
        except RecursionError:
            return drop(Fate(candidate=candidate), Filter.PARSES, reason="it is nested too deeply")

    def _check(self, candidate: Candidate) -> Fate:
        try:
            parse_task(candidate.code, name="candidate")
            normal_form = compute_normal_form(candidate.code)
        except (TaskError, ValueError) as error:
            return drop(Fate(candidate=candidate), Filter.PARSES, reason=str(error))
        digest = hashlib.sha256(normal_form.encode(errors="surrogatepass")).hexdigest()[:32]
        fate = Fate(candidate=candidate, normal_digest=digest)
        first = self.seen.setdefault(digest, candidate.number)
        if first != candidate.number:
            return drop(fate, Filter.DUPLICATE, reason=f"of candidate {first}")
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


def drop(fate: Fate, by: Filter, *, reason: str) -> Fate:
    """The fate of a candidate that a filter drops."""
    return fate.model_copy(update={"dropped_by": by, "reason": make_printable(reason)[:300]})
