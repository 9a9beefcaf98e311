"""The verb `export`: from a run's folder, or from a folder of kernels, to a package."""

from pathlib import Path

import pytest

from cuda_agent.cli.main import main
from cuda_agent.environment.submission import Submission
from cuda_agent.tasks.task import Task
from tests.evaluations import build_passed

MODEL_NEW = b"import kernels\nimport torch\n\n\nclass ModelNew(torch.nn.Module): ...\n"
KERNEL = b"#include <cuda_agent/kernel.h>\nvoid a(kernel::Tensor x) {}\nEXPORT_KERNEL(a, a);\n"


@pytest.fixture
def folder(tmp_path: Path, tiny_task: Task) -> Path:
    """A submission with the evaluation that a run left beside it, and the task's file beside both."""
    submission = Submission({"model_new.py": MODEL_NEW, "kernels/a.cpp": KERNEL})
    submission.write_to(tmp_path / "mine")
    (tmp_path / "tiny.py").write_text(tiny_task.source)
    evaluation = build_passed(tiny_task, submission)
    (tmp_path / "mine" / "evaluation.json").write_text(evaluation.model_dump_json())
    return tmp_path / "mine"


def test_a_package_is_written_and_the_next_steps_are_told(
    folder: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    arguments = ["export", str(folder), str(tmp_path / "out"), "--task", str(tmp_path / "tiny.py")]
    assert main([*arguments, "--target", "cpu"]) == 0
    out = capfd.readouterr().out
    assert f"pip install {tmp_path}/out\n" in out
    assert "python -m kernel_tiny\n" in out
    assert (tmp_path / "out" / "src" / "kernel_tiny" / "prebuilt" / "kernels.so").is_file()
    assert f"cuda-agent export {folder} {tmp_path}/out --task" in (tmp_path / "out" / "README.md").read_text()


def test_a_folder_of_kernels_needs_its_task(
    folder: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["export", str(folder), str(tmp_path / "out")]) == 2
    assert "name its task's file: --task" in capfd.readouterr().err


def test_a_folder_that_is_neither_is_wrong_use(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["export", str(tmp_path), str(tmp_path / "out")]) == 2
    assert "holds no run" in capfd.readouterr().err
    assert not (tmp_path / "out").exists()
