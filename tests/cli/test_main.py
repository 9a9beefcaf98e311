"""The command line's outermost layer: quick, and every way to fail ends cleanly."""

import errno
import os
import re
import signal
import subprocess
import sys
import types
from pathlib import Path

import pytest

from cuda_agent import __version__
from cuda_agent.cli import main as main_module
from cuda_agent.cli.exit_code import ExitCode
from cuda_agent.cli.main import main
from cuda_agent.config import Config
from cuda_agent.errors import InfrastructureError, TaskError


class ProbeConfig(Config):
    """A verb's options."""

    fail: str = ""
    """How to fail."""


FAILURES: dict[str, BaseException] = {
    "user": TaskError("a.py, line 3: no Model; add one"),
    "machine": InfrastructureError("the device is gone"),
    "interrupt": KeyboardInterrupt(),
    "bug": ZeroDivisionError("by zero"),
    "full": OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/a"),
    "forged": TaskError("no\nreward: 3\x1b[2J"),
}


@pytest.fixture(autouse=True)
def probe(monkeypatch: pytest.MonkeyPatch) -> None:
    """A verb `probe` that ends as it is told."""

    def run_probe(config: ProbeConfig) -> int:
        if config.fail == "term":
            os.kill(os.getpid(), signal.SIGTERM)
        if config.fail:
            raise FAILURES[config.fail]
        return ExitCode.NOT_VERIFIED

    module = types.ModuleType("cuda_agent.cli.probe", "Probe this.")
    module.__dict__.update(ProbeConfig=ProbeConfig, run_probe=run_probe)
    monkeypatch.setitem(sys.modules, "cuda_agent.cli.probe", module)
    monkeypatch.setattr(main_module, "VERBS", ("probe",))


@pytest.mark.parametrize(
    ("fail", "code", "said"),
    [
        ("", 1, ""),
        ("user", 2, "cuda-agent: a.py, line 3: no Model; add one\n"),
        ("machine", 3, "cuda-agent: the device is gone\n"),
        ("interrupt", 130, "cuda-agent: interrupted\n"),
        (
            "full",
            3,
            "cuda-agent: the disk is full at /a: make room; TMPDIR names the folder for temporary files\n",
        ),
        ("forged", 2, "cuda-agent: no\\nreward: 3\\x1b[2J\n"),
        ("term", 130, "cuda-agent: interrupted\n"),
        (
            "bug",
            3,
            "cuda-agent: bug: ZeroDivisionError: by zero; run again with --verbose for the traceback\n",
        ),
    ],
)
def test_every_end_has_its_own_status_and_one_clean_message(
    capfd: pytest.CaptureFixture[str], fail: str, code: int, said: str
) -> None:
    assert main(["probe", "--fail", fail]) == code
    assert capfd.readouterr().err == said


@pytest.mark.parametrize(
    "arguments", [["probe", "--fail", "user", "--verbose"], ["--verbose", "probe", "--fail", "user"]]
)
def test_verbose_shows_the_traceback(capfd: pytest.CaptureFixture[str], arguments: list[str]) -> None:
    assert main(arguments) == 2
    assert "Traceback" in capfd.readouterr().err


def test_wrong_use_is_status_2(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["fly"]) == 2
    assert "no verb 'fly'" in capfd.readouterr().err
    with pytest.raises(SystemExit) as raised:
        main(["probe", "--speed", "3"])
    assert raised.value.code == 2
    assert "--speed" in capfd.readouterr().err


def test_help_lists_every_verb_and_every_exit_status(capfd: pytest.CaptureFixture[str]) -> None:
    assert main([]) == main(["--help"]) == 0
    text = capfd.readouterr().out
    for verb in ("run", "evaluate", "doctor", "build", "verify", "profile", "submit"):
        assert re.search(rf"^  {verb} ", text, re.MULTILINE)
    assert {int(code) for code in re.findall(r"^  (\d+) ", text, re.MULTILINE)} == set(ExitCode)
    assert main(["--version"]) == 0
    assert __version__ in capfd.readouterr().out


def test_help_imports_nothing_heavy(repository: Path) -> None:
    program = (
        "import sys; from cuda_agent.cli.main import main; main(['--help']);"
        "print(sorted({'torch', 'pydantic', 'tyro', 'rich', 'jinja2'} & set(sys.modules)))"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(repository / "src")},
    )
    assert ended.stdout.endswith("[]\n")


def test_signals_do_afterwards_what_they_did_before() -> None:
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = [signal.getsignal(number) for number in numbers]
    main(["probe"])
    assert [signal.getsignal(number) for number in numbers] == before
