import pytest

from cuda_agent.expert import study as module
from cuda_agent.expert.choice import Choice
from cuda_agent.expert.study import StudyError, run_trace, study_task
from cuda_agent.expert.tune import CUDA_CHOICES
from cuda_agent.sandbox.protocol import Sandbox
from cuda_agent.tasks.target import Target
from tests.expert.zoo import ZOO, X, write_module


def test_a_task_is_traced_in_the_sandbox_and_planned(sandbox: Sandbox) -> None:
    study = study_task(sandbox, ZOO["layer_norm"], target=Target.CPU)
    assert len(study.plan.kernels) == 1
    first = study.write_files(Choice(), is_first=True)
    assert list(first) == ["model_new.py", "kernels/vec.h", "kernels/vec_math.h", "kernels/fused.cpp"]
    again = study.write_files(Choice(unroll=1), is_first=False)
    assert list(again) == ["kernels/fused.cpp"]
    assert again["kernels/fused.cpp"] != first["kernels/fused.cpp"]


def test_cuda_has_files_of_its_own(sandbox: Sandbox) -> None:
    study = study_task(sandbox, ZOO["even_total"], target=Target.CUDA)
    files = study.write_files(CUDA_CHOICES[0], is_first=True)
    assert list(files) == ["model_new.py", "kernels/device.h", "kernels/fused.cu"]
    assert "partials = torch.empty([1056]" in files["model_new.py"]


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        (write_module("return torch.nextafter(x, x * 2)", X), "no kernel for the operation aten.nextafter"),
        (write_module("import os\nos._exit(3)", X), "tracing ended with status 3"),
        ("def broken(", "SyntaxError"),
        (write_module("return x", X, init="raise RuntimeError('broken')"), "RuntimeError: broken"),
    ],
)
def test_what_stands_in_the_way_is_said(sandbox: Sandbox, source: str, reason: str) -> None:
    with pytest.raises(StudyError, match=reason):
        study_task(sandbox, source, target=Target.CPU)


def test_tracing_uses_the_cores_that_a_container_gives(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "count_cores", lambda: 3)
    telling = write_module("return x", X, init="import os; raise RuntimeError(os.environ['OMP_NUM_THREADS'])")
    with pytest.raises(StudyError, match="RuntimeError: 3"):
        run_trace(sandbox, telling, target=Target.CPU)


def test_what_a_module_prints_is_no_answer(sandbox: Sandbox) -> None:
    graph = run_trace(sandbox, "print('{}')\n" + ZOO["softmax"], target=Target.CPU)
    assert graph.structure == "{0}"
