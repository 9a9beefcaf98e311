"""Limits are passed on by name, and never above what we may set."""

import resource

from cuda_agent.sandbox.protocol import Limits
from cuda_agent.sandbox.rlimits import OPEN_FILES, compute_rlimits


def test_the_asked_limits_are_set() -> None:
    limits = compute_rlimits(Limits(memory_bytes=1 << 28, file_bytes=1 << 20, processes=17))
    assert limits["as"] == 1 << 28
    assert limits["fsize"] == 1 << 20
    assert limits["nproc"] == 17
    assert limits["core"] == 0


def test_without_a_memory_limit_the_address_space_is_free() -> None:
    assert "as" not in compute_rlimits(Limits())


def test_open_files_stay_below_our_own_hard_limit() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    assert compute_rlimits(Limits())["nofile"] == min(OPEN_FILES, hard)
    assert soft <= hard
