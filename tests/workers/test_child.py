"""The process of a worker ends when nobody asks any more, when it is told to, and with its parent."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ENV = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'src'}"}
COMMAND = [sys.executable, "-m", "cuda_agent.workers.child", "tests.workers.served:Toy"]
PARENT = f"""
import subprocess, time
print(subprocess.Popen({COMMAND!r}, stdin=subprocess.PIPE).pid, flush=True)
time.sleep(600)
"""


def start() -> "subprocess.Popen[str]":
    return subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=ENV, text=True)


def ask(child: "subprocess.Popen[str]", **payload: str) -> dict[str, object]:
    assert child.stdin is not None
    assert child.stdout is not None
    child.stdin.write(json.dumps({"method": "work", "payload": payload}) + "\n")
    child.stdin.flush()
    answer: dict[str, object] = json.loads(child.stdout.readline())
    return answer


def test_one_line_in_one_line_out_whatever_is_printed() -> None:
    with start() as child:
        visible = os.environ.get("CUDA_VISIBLE_DEVICES")
        answer = ask(child, do="print", say="a")["value"]
        assert answer == {"echo": "a", "pid": child.pid, "visible": visible}
        assert ask(child, do="fail")["error"] == "ValueError: it does not work"
        assert child.stdin is not None
        child.stdin.close()
        assert child.wait(10) == 0


def test_sigterm_ends_it() -> None:
    with start() as child:
        ask(child)
        child.send_signal(signal.SIGTERM)
        assert child.wait(10) == 0


def test_it_dies_with_its_parent() -> None:
    command = [sys.executable, "-c", PARENT]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=ENV, text=True) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        time.sleep(2.0)
        parent.kill()
        parent.wait()
    deadline_s = time.monotonic() + 10
    while Path(f"/proc/{child}").exists() and time.monotonic() < deadline_s:
        time.sleep(0.05)
    assert not Path(f"/proc/{child}").exists()
