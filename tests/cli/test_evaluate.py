"""The verb `evaluate`: what is printed and returned. (A verified submission is in test_tiny.)"""

import json
from pathlib import Path

import pytest

from cuda_agent.cli.main import main
from cuda_agent.tasks.task import Task

MODEL_NEW = """\
import kernels
import torch


class ModelNew(torch.nn.Module):
    def forward(self, x):
        out = torch.empty_like(x)
        kernels.a(x, out)
        return out
"""


@pytest.fixture
def arguments(tmp_path: Path, tiny_task: Task) -> list[str]:
    """A task and a submission that does not compile."""
    (tmp_path / "tiny.py").write_text(tiny_task.source)
    (tmp_path / "mine" / "kernels").mkdir(parents=True)
    (tmp_path / "mine" / "kernels" / "a.cpp").write_text("int a\n")
    (tmp_path / "mine" / "model_new.py").write_text(MODEL_NEW)
    return ["evaluate", str(tmp_path / "tiny.py"), str(tmp_path / "mine"), "--target", "cpu"]


def test_a_submission_that_fails_is_status_1_with_the_reason(
    arguments: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 1
    out, err = capfd.readouterr()
    assert out.startswith("rules: ok\nbuild: compile_error: ")
    assert [line.split(" s  ")[1] for line in err.splitlines() if " s  " in line] == [
        "checking the rules",
        "building",
        "done",
    ]
    assert out.endswith("\nreward: -1\n")


def test_json_is_the_whole_evaluation(arguments: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    assert main([*arguments, "--json"]) == 1
    found = json.loads(capfd.readouterr().out)
    assert found["build"]["status"] == "compile_error"
    assert found["target"] == "cpu"
    assert found["profile"] is None


def test_quiet_tells_the_result_alone(arguments: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["--quiet", *arguments]) == 1
    out, err = capfd.readouterr()
    assert "reward: -1" in out
    assert err == ""


def test_json_steers_no_terminal(arguments: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    kernel = Path(arguments[2]) / "kernels" / "a.cpp"
    kernel.write_text("int a = \x9b2J\x1b[2J;\n")
    assert main([*arguments, "--json"]) == 1
    out = capfd.readouterr().out
    assert out.isascii()
    assert "\x1b" not in out
    assert json.loads(out)["build"]["status"] == "compile_error"


def test_a_missing_folder_is_wrong_use(arguments: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    arguments[2] += "-not"
    assert main(arguments) == 2
    assert "mine-not is not a folder" in capfd.readouterr().err
