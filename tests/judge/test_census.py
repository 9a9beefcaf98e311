"""Threads and processes are counted from outside, wherever they hang."""

import subprocess
import sys
import time

from cuda_agent.judge.census import _descend, _search, find_processes_below, measure_work_ns

PROGRAM = """
import subprocess, sys, threading, time
for _ in range(3):
    threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
print("ready", flush=True)
time.sleep(60)
"""


def test_threads_of_a_process_and_of_its_children_count() -> None:
    with subprocess.Popen([sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(0.1)
        for find in (find_processes_below, _descend, _search):
            assert sum(find(process.pid).values()) == 5
        subprocess.run(["pkill", "-P", str(process.pid)], check=True)
        process.kill()


def test_what_is_gone_has_none() -> None:
    process = subprocess.Popen(["true"])
    process.wait()
    assert find_processes_below(process.pid) == {}


def test_a_busy_thread_works_and_a_sleeping_one_does_not() -> None:
    program = (
        "import sys, time, threading\nthreading.Thread(target=time.sleep, args=(60,), daemon=True).start()\n"
    )
    for rest, is_busy in (("while True: pass", True), ("time.sleep(60)", False)):
        process = subprocess.Popen([sys.executable, "-c", program + rest])
        try:
            time.sleep(1.0)
            before = measure_work_ns([process.pid])
            end = time.monotonic() + (10.0 if is_busy else 0.5)
            while (worked := measure_work_ns([process.pid]) - before) < 1e8 and time.monotonic() < end:
                time.sleep(0.05)
        finally:
            process.kill()
            process.wait()
        assert (worked >= 1e8) is is_busy
