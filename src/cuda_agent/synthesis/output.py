"""Kept tasks as rows of a data set, split so that no combination of operators is in two parts."""

import hashlib
from collections.abc import Iterable

from cuda_agent.synthesis.fate import Fate
from cuda_agent.tasks.dataset import Row

DATASET = "tasks.parquet"
"""The data set's file in a run's folder."""

_SPLITS = (("train", 90), ("validation", 95), ("heldout", 100))
"""Parts, with the percentage below which a combination's hash falls into each."""


def choose_split(ops: tuple[str, ...]) -> str:
    """The part that a combination of operators belongs to, in whatever order they stand."""
    digest = hashlib.sha256("\n".join(sorted(ops)).encode()).digest()
    percentage = int.from_bytes(digest[:8], "big") % 100
    return next(name for name, limit in _SPLITS if percentage < limit)


def build_rows(fates: Iterable[Fate]) -> tuple[Row, ...]:
    """One row for each kept candidate, in order."""
    return tuple(_build_row(fate) for fate in fates if fate.is_kept)


def _build_row(fate: Fate) -> Row:
    candidate, measured = fate.candidate, fate.measured
    return Row(
        ops=candidate.ops,
        data_source=candidate.data_source,
        code=candidate.code,
        id=candidate.key,
        seed=candidate.seed,
        number=candidate.number,
        family=candidate.family,
        precision=candidate.precision,
        split=choose_split(candidate.ops),
        eager_ms=measured.eager_ms,
        compile_ms=measured.compile_ms,
        device=measured.device,
        memory_bytes=measured.memory_bytes,
        tags=candidate.tags,
        nearest_kernelbench=fate.nearest.name if fate.nearest else "",
        kernelbench_similarity=fate.nearest.similarity if fate.nearest else 0.0,
    )
