"""What a container allows counts, not what the machine has."""

import os
from pathlib import Path

import pytest

from cuda_agent.workers.cores import PROCESSES_A_JOB, count_cores, count_jobs


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _pid: set(range(64)))
    return tmp_path


def test_without_control_groups_affinity_counts(root: Path) -> None:
    assert count_cores(root) == 64
    assert (count_jobs(8, root=root), count_jobs(100, root=root)) == (8, 64)


@pytest.mark.parametrize(
    ("told", "cores"), [("max 100000", 64), ("350000 100000", 4), ("50000 100000", 1), ("nonsense", 64)]
)
def test_a_share_of_time_counts_as_cores(root: Path, told: str, cores: int) -> None:
    (root / "cpu.max").write_text(f"{told}\n")
    assert count_cores(root) == cores


@pytest.mark.parametrize(("limit", "jobs"), [("max", 8), (str(40 + 3 * PROCESSES_A_JOB), 3), ("50", 1)])
def test_few_processes_run_few_compilers(root: Path, limit: str, jobs: int) -> None:
    (root / "pids.max").write_text(f"{limit}\n")
    (root / "pids.current").write_text("40\n")
    assert count_jobs(8, root=root) == jobs
