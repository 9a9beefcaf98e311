"""What the record of memory says grows does, and what it says is flat is."""

import random
import subprocess
import sys
import time

import pytest

from scripts.memory_over_time import WINDOWS, fit_slope, take_sample

MIB = float(1 << 20)


def make_noise(count: int, *, each_bytes: float) -> tuple[list[float], list[float]]:
    generator = random.Random(0)
    done = [number / 4 for number in range(count)]
    return done, [500 * MIB + each_bytes * n + generator.gauss(0.0, 5 * MIB) for n in done]


def test_a_leak_is_found_in_noise_and_its_size_is_right() -> None:
    slope = fit_slope(*make_noise(4000, each_bytes=64 * 1024))
    assert slope.grows
    assert abs(slope.bytes_each - 64 * 1024) < slope.error < 8 * 1024


def test_noise_alone_is_flat() -> None:
    slope = fit_slope(*make_noise(4000, each_bytes=0.0))
    assert not slope.grows
    assert abs(slope.bytes_each) < slope.error


def test_too_little_is_no_verdict() -> None:
    with pytest.raises(ValueError, match="too few"):
        fit_slope([1.0] * (WINDOWS - 1), [1.0] * (WINDOWS - 1))
    with pytest.raises(ValueError, match="no evaluation ended"):
        fit_slope([1.0] * WINDOWS, [1.0] * WINDOWS)


def test_what_was_started_is_counted() -> None:
    before = take_sample(time.monotonic(), 0)
    hold = "import time; held = bytearray(64 << 20); print(flush=True); time.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", hold], stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.readline()
        after = take_sample(time.monotonic(), 0)
        child.kill()
    assert after.started_bytes - before.started_bytes > 64 << 20
    assert after.processes == before.processes + 1
    assert after.own_bytes > 10 << 20
