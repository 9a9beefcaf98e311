"""Those who verify share a device, whoever times has it alone, and the dead hold nothing."""

import subprocess
import sys
import threading
import time
from pathlib import Path

from cuda_agent.judge.lease import Lease

HOLDER = """
import sys, time
from pathlib import Path
from cuda_agent.judge.lease import Lease
with getattr(Lease("device", folder=Path(sys.argv[1])), sys.argv[2])():
    print("held", flush=True)
    time.sleep(float(sys.argv[3]))
"""


def start_holder(folder: Path, way: str, *, seconds: float) -> "subprocess.Popen[str]":
    """Another process that holds the device; it does when this returns."""
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(folder), way, str(seconds)], stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    return holder


def test_a_device_is_shared_by_those_who_share(tmp_path: Path) -> None:
    with start_holder(tmp_path, "share", seconds=60) as holder, Lease("device", folder=tmp_path).share():
        assert holder.poll() is None
        holder.kill()


def test_whoever_takes_it_waits_until_it_is_free(tmp_path: Path) -> None:
    for way, other in (("share", "take"), ("take", "share"), ("take", "take")):
        with start_holder(tmp_path, way, seconds=1.0):
            start = time.monotonic()
            with getattr(Lease("device", folder=tmp_path), other)():
                assert time.monotonic() - start > 0.5, (way, other)


def test_a_killed_holder_holds_nothing(tmp_path: Path) -> None:
    holder = start_holder(tmp_path, "take", seconds=600)
    holder.kill()
    holder.wait()
    with Lease("device", folder=tmp_path).take():
        pass


def test_whoever_waits_to_take_it_is_not_kept_out_by_newcomers(tmp_path: Path) -> None:
    lease, order = Lease("device", folder=tmp_path), list[str]()

    def use(way: str, hold_s: float) -> None:
        with getattr(lease, way)():
            order.append(way)
            time.sleep(hold_s)

    threads = []
    for way, hold_s in (("share", 1.0), ("take", 0.1), ("share", 0.1)):
        threads.append(threading.Thread(target=use, args=(way, hold_s)))
        threads[-1].start()
        time.sleep(0.3)
    for thread in threads:
        thread.join()
    assert order == ["share", "take", "share"]
