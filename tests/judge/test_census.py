"""Threads and processes are counted from outside, wherever they hang."""

import subprocess
import sys
import time

from cuda_agent.judge.census import find_processes_below

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
        assert sum(find_processes_below(process.pid).values()) == 5
        subprocess.run(["pkill", "-P", str(process.pid)], check=True)
        process.kill()


def test_what_is_gone_has_none() -> None:
    process = subprocess.Popen(["true"])
    process.wait()
    assert find_processes_below(process.pid) == {}
