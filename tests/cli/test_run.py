"""The verb `run`: what may be asked, what is printed, what Ctrl-C leaves. (The judged run is test_tiny.)"""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cuda_agent.agent.outcome import JobOutcome
from cuda_agent.agent.record import TRAJECTORIES
from cuda_agent.agent.refused import read_refused
from cuda_agent.agent.trajectory import Trajectory
from cuda_agent.cli.main import main
from cuda_agent.environment.result import Evaluation
from cuda_agent.rundir import read_records
from cuda_agent.tasks.task import Task
from tests.chat_server import Answer, ChatServer, say

KEY = "sk-marked-0123456789abcdef"

SLEEP = f"sleep {100_000 + os.getpid()}"
"""Told apart from that of the same tests in another worker."""


@pytest.fixture
def files(tmp_path: Path, tiny_task: Task, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a task and two scripts, and the working folder."""
    (tmp_path / "tiny.py").write_text(tiny_task.source)
    (tmp_path / "quit.toml").write_text("[[reply]]\ntext = 'I give up.'\n")
    (tmp_path / "hang.toml").write_text(
        "[[reply]]\ntext = 'I wait.'\n"
        f"[[reply.call]]\ntool = 'bash'\narguments = {{ command = '{SLEEP} & {SLEEP}' }}\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    return tmp_path


def test_a_task_without_a_submission_is_status_1(files: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "tiny.py", "tiny.py", "--target", "cpu", "--policy", "scripted:quit.toml"]) == 1
    out = capfd.readouterr().out
    (run,) = (files / "runs").iterdir()
    assert re.fullmatch(r"\d{4}-\d\d-\d\d-run-[0-9a-f]{6}", run.name)
    assert f"run folder: {run} " in out
    assert "[1/1] tiny\n  turn 1, 0 s: I give up.\n" in out
    assert re.search(r"tiny +nothing submitted \(finished\) +- +- +- +- +- +-1 +1 +\d", out)


def test_resuming_needs_nothing_but_the_folder_and_allows_no_other_configuration(
    files: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    asked = ["run", "tiny.py", "--target", "cpu", "--policy", "scripted:quit.toml"]
    assert main([*asked, "--out", "out"]) == 1
    assert main(["run", "--resume", "out"]) == 1
    assert main([*asked, "--resume", "out"]) == 1
    capfd.readouterr()
    assert main([*asked, "--resume", "out", "--limits.turns", "3"]) == 2
    assert "(episode.limits.turns: 150, now 3)" in capfd.readouterr().err
    (files / "tiny.py").write_text((files / "tiny.py").read_text().replace("256", "512"))
    assert main([*asked, "--resume", "out"]) == 2
    assert "another configuration (tasks: " in capfd.readouterr().err
    assert main([*asked, "--out", "out"]) == 2
    assert "--resume" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "no task given"),
        (["none.py"], "none.py: no such file"),
        (["quit.toml"], "quit.toml: Model is not defined"),
        (["tiny.py", "--policy", "gpt"], "no policy is called 'gpt'"),
        (["tiny.py", "--policy", "openai:m"], "OPENAI_API_KEY) is not set"),
        (["tiny.py", "--policy", "openai:m", "--api-key-env", "sk-1-2"], "never the key itself"),
        (["tiny.py", "--policy", "openai:m", "--base-url", "localhost"], "'localhost' is no address"),
        (["tiny.py", "--policy", "scripted:none.toml"], "none.toml: the script cannot be read"),
    ],
)
def test_wrong_use_is_told_in_one_line(
    files: Path, capfd: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    assert main(["run", "--target", "cpu", *arguments]) == 2
    err = capfd.readouterr().err
    assert said in err
    assert "Traceback" not in err
    assert not (files / "runs").exists()


def test_a_value_out_of_range_is_wrong_use(files: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as raised:
        main(["run", "tiny.py", "--limits.turns", "0"])
    assert raised.value.code == 2
    assert "greater than 0" in capfd.readouterr().err


def test_resuming_where_there_is_no_run_is_wrong_use(files: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--resume", "nowhere"]) == 2
    assert "nowhere holds no run" in capfd.readouterr().err


def run_with_key(server: ChatServer, repository: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """A run in a process of its own, in whose environment the key has been from the beginning."""
    return subprocess.run(
        [sys.executable, "-m", "cuda_agent.cli.main", "run", "tiny.py", "--target", "cpu", "--out", "out",
         "--policy", "openai:m", "--base-url", server.address, "--api-key-env", "MARKED_KEY",
         "--prices.prompt", "2", "--prices.completion", "10", *options],
        env={**os.environ, "PYTHONPATH": str(repository / "src"), "MARKED_KEY": KEY, "OPENAI_LOG": "debug"},
        capture_output=True, text=True, timeout=120.0,
    )  # fmt: skip


def test_an_endpoints_key_turns_up_nowhere(files: Path, repository: Path) -> None:
    look = "env; cat /proc/[0-9]*/environ | tr '\\0' '\\n'; echo looked"
    answers = (
        say("", calls=[("bash", {"command": look})]),
        Answer(500, f"internal error: {KEY}"),
        Answer(401, f"wrong key: {KEY}"),
    )
    with ChatServer(*answers) as server:
        done = run_with_key(server, repository, "--verbose")
    assert done.returncode == 1, done.stderr
    assert [heard.headers["authorization"] for heard in server.heard] == [f"Bearer {KEY}"] * 3
    assert "internal error: [key]" in done.stderr
    assert "wrong key: [key]" in done.stdout
    (trajectory,) = read_records(files / "out" / TRAJECTORIES, Trajectory)
    assert trajectory.turns[0].observations[0].content.endswith("looked")
    assert KEY not in done.stdout + done.stderr
    assert [path for path in (files / "out").rglob("*") if path.is_file() and KEY in path.read_text()] == []


def test_what_a_model_spent_is_told(files: Path, repository: Path) -> None:
    answers = (say("", calls=[("bash", {"command": "true"})], usage=(1500, 20)), say("No."))
    with ChatServer(*answers) as server:
        done = run_with_key(server, repository, "--max-cost", "0.003", "--sampling.temperature", "0.5")
    assert re.search(r"tiny +nothing submitted \(budget\)", done.stdout)
    assert "stopped: a cost of 0.0032 reached --max-cost 0.003" in done.stdout
    assert done.stdout.endswith("1,500 tokens read, 20 written, cost 0.0032\n")
    assert server.heard[0].body["temperature"] == 0.5
    saved = json.loads((files / "out" / "config.json").read_text())["config"]["episode"]
    assert saved["endpoint"]["base_url"] == server.address
    assert saved["budget"] == {"max_cost": 0.003, "max_tokens_total": None}


def find_sleepers() -> list[str]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                command = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if command.split(b"\0")[:-1] == SLEEP.encode().split():
                found.append(entry.name)
    return found


def start_hanging(repository: Path, *options: str, sleepers: int) -> "subprocess.Popen[bytes]":
    """A run in a process of its own whose commands all hang."""
    process = subprocess.Popen(
        [sys.executable, "-m", "cuda_agent.cli.main", "run", "tiny.py", "--target", "cpu",
         "--policy", "scripted:hang.toml", "--out", "out", *options],
        env={**os.environ, "PYTHONPATH": str(repository / "src")},
        stderr=subprocess.PIPE,
    )  # fmt: skip
    deadline_s = time.monotonic() + 60.0
    while len(find_sleepers()) < sleepers:
        assert time.monotonic() < deadline_s
        assert process.poll() is None
        time.sleep(0.05)
    return process


def wait_until_nothing_sleeps() -> None:
    deadline_s = time.monotonic() + 5.0
    while find_sleepers():
        assert time.monotonic() < deadline_s
        time.sleep(0.05)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_leaves_nothing_running_and_a_run_to_resume(
    files: Path, repository: Path, number: signal.Signals
) -> None:
    process = start_hanging(repository, sleepers=2)
    process.send_signal(number)
    _, err = process.communicate(timeout=20.0)
    assert process.returncode == 130
    assert err.endswith(b"cuda-agent: interrupted\n")
    assert b"Traceback" not in err
    assert find_sleepers() == []
    (files / "hang.toml").write_text((files / "quit.toml").read_text())
    assert main(["run", "--resume", "out"]) == 1


def test_a_second_interruption_ends_it_at_once_without_a_traceback(files: Path, repository: Path) -> None:
    process = start_hanging(repository, "--episodes", "3", "--concurrency", "3", sleepers=6)
    process.send_signal(signal.SIGINT)
    time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=20.0)
    assert process.returncode == 130
    assert err.endswith(b"cuda-agent: interrupted twice, so nothing was tidied up\n")
    assert b"Traceback" not in err
    wait_until_nothing_sleeps()
    (files / "hang.toml").write_text((files / "quit.toml").read_text())
    assert main(["run", "--resume", "out", "--concurrency", "2"]) == 1


def test_a_killed_run_leaves_nothing_running_and_goes_on_and_nobody_joins_it_before(
    files: Path, repository: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    process = start_hanging(repository, sleepers=2)
    assert main(["run", "--resume", "out"]) == 2
    assert "out is being written by process" in capfd.readouterr().err
    process.kill()
    process.communicate(timeout=20.0)
    wait_until_nothing_sleeps()
    (files / "hang.toml").write_text((files / "quit.toml").read_text())
    assert main(["run", "--resume", "out"]) == 1
    assert len((files / "out" / TRAJECTORIES).read_text().splitlines()) == 1


def test_several_episodes_are_counted_on_when_resumed(files: Path, capfd: pytest.CaptureFixture[str]) -> None:
    asked = ["run", "tiny.py", "--target", "cpu", "--policy", "scripted:quit.toml", "--episodes", "2"]
    assert main([*asked, "--out", "out", "--concurrency", "2"]) == 1
    out = capfd.readouterr().out
    assert "[2/2] tiny #2" in out
    assert re.search(r"tiny +nothing submitted ", out)
    assert re.search(r"tiny +2 +0% +0% +-1.00 +-1.00", out)
    trajectories = files / "out" / "trajectories.jsonl"
    first, _ = trajectories.read_text().splitlines(keepends=True)
    trajectories.write_text(first)
    assert main(["run", "--resume", "out", "--concurrency", "2"]) == 1
    out = capfd.readouterr().out
    assert "[2/2] tiny" in out
    assert "[1/2]" not in out
    assert len(trajectories.read_text().splitlines()) == 2


def find_descendants(pid: int) -> set[int]:
    """Every process below `pid`, through all generations."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
            children.setdefault(parent, []).append(int(entry.name))
    found: set[int] = set()
    below = [pid]
    while below:
        fresh = children.get(below.pop(), [])
        found.update(fresh)
        below += fresh
    return found


def is_judging(pid: int) -> bool:
    try:
        return b"cuda_agent.judge.runner" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


@pytest.mark.slow
def test_an_interruption_while_judging_ends_the_judges_processes(files: Path, repository: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "cuda_agent.cli.main", "run", "tiny.py", "--target", "cpu",
         "--policy", f"scripted:{repository / 'tests' / 'tiny.toml'}", "--out", "out"],
        env={**os.environ, "PYTHONPATH": str(repository / "src")},
        stderr=subprocess.PIPE,
    )  # fmt: skip
    deadline_s = time.monotonic() + 60.0
    while not any(map(is_judging, find_descendants(process.pid))):
        assert time.monotonic() < deadline_s
        assert process.poll() is None
        time.sleep(0.05)
    started = find_descendants(process.pid)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30.0)
    assert process.returncode == 130
    deadline_s = time.monotonic() + 5.0
    while alive := [pid for pid in started if Path(f"/proc/{pid}/exe").exists()]:
        assert time.monotonic() < deadline_s, alive
        time.sleep(0.05)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_judged_episodes_at_once_share_the_machine(
    files: Path, repository: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    script = repository / "tests" / "tiny.toml"
    asked = ["run", "tiny.py", "--target", "cpu", "--policy", f"scripted:{script}", "--out", "out"]
    assert main([*asked, "--episodes", "3", "--concurrency", "3"]) == 0
    result = JobOutcome.model_validate_json((files / "out" / "results.json").read_text())
    (task,) = result.tasks
    assert len(task.rewards) == 3
    assert task.best.reward == max(task.rewards) >= 1.0
    saved = (files / "out" / "evaluations" / f"{task.task_id}.json").read_text()
    assert Evaluation.model_validate_json(saved) == task.best.final
    assert main(["show", "out", "--episode", "3"]) == 0
    out = capfd.readouterr().out
    assert re.search(r"^--- submitted [0-9a-f]{16}: reward [123], verified, [\d.]+ ms", out, re.MULTILINE)
    assert "    +" in out


def test_a_task_that_is_not_worth_judging_is_named_and_left_out(
    files: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    faulty = (files / "tiny.py").read_text().replace("torch.relu(x)", "0 * x")
    (files / "zero.py").write_text(faulty)
    asked = ["--target", "cpu", "--policy", "scripted:quit.toml"]
    assert main(["run", "zero.py", "tiny.py", *asked, "--out", "out"]) == 1
    out = capfd.readouterr().out
    assert re.search(r"zero-\w+: task: faulty: zeros would pass for its output: the task is at fault", out)
    assert "[1/1] tiny" in out
    assert [result.reason for result in read_refused(files / "out").values()] == [
        "zeros would pass for its output"
    ]
    assert main(["run", "--resume", "out"]) == 1
    assert "zeros would pass for its output" in capfd.readouterr().out
    assert main(["run", "zero.py", "tiny.py", *asked, "--resume", "out"]) == 1
    assert main(["bench", "report", "out"]) == 1
    assert "task_error" in (files / "out" / "records.csv").read_text()
    assert main(["run", "zero.py", *asked]) == 2
    assert "no task is worth judging" in capfd.readouterr().err
