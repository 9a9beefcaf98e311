"""The judge on real submissions: honest ones pass, and every way to fail has its status."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import torch

from cuda_agent.judge import judge as judge_module
from cuda_agent.judge import task_process
from cuda_agent.judge.judge import Artifact, Judge
from cuda_agent.judge.lease import Lease
from cuda_agent.judge.policy import load_policy
from cuda_agent.judge.result import ProfileStatus, VerifyResult, VerifyStatus
from cuda_agent.sandbox.protocol import Sandbox
from cuda_agent.tasks.target import Target
from cuda_agent.tasks.task import Task
from tests.judge.conftest import KERNEL, Maker


@pytest.mark.timing
def test_an_honest_submission_is_right_and_has_times(judge: Judge, make: Maker) -> None:
    verified, profiled = judge.examine(make(), profile=True)
    assert (verified.status, verified.draws, verified.reason) == (VerifyStatus.OK, 5, "")
    assert profiled is not None
    assert profiled.status is ProfileStatus.OK, profiled.reason
    assert profiled.candidate is not None
    assert profiled.over_eager is not None
    assert profiled.over_eager.low <= profiled.over_eager.point <= profiled.over_eager.high
    assert len(profiled.candidate.calls_ms) >= 20
    assert profiled.sampled >= 3
    assert profiled.versions["torch"] == torch.__version__
    calls = len(profiled.candidate.calls_ms)
    rounds, block = (int(found) for found in re.findall(r"(\d+) (?:rounds|calls)", profiled.method))
    assert (rounds * block, rounds >= 6) == (calls, True)
    assert "fresh values and addresses for every call, caches flushed, medians" in profiled.method
    assert profiled.device
    assert profiled.floor_ms > 0


VERIFY_CASES = {
    "one wrong element": (("", ""), ("// more", "result[7] += 0.5f;"), VerifyStatus.MISMATCH),
    "NaN": (("", ""), ("// more", "result[7] = NAN;"), VerifyStatus.NON_FINITE),
    "crash": (("", ""), ("// more", "std::abort();"), VerifyStatus.CRASHED),
    "segmentation fault": (("", ""), ("// more", "*(volatile int*)8 = 1;"), VerifyStatus.CRASHED),
    "wrong shape": (
        ("return out", "return out.view(-1)"),
        ("", ""),
        VerifyStatus.WRONG_SHAPE,
    ),
    "wrong dtype": (
        ("return out", "return out.to(torch.float64)"),
        ("", ""),
        VerifyStatus.WRONG_DTYPE,
    ),
    "wrong structure": (("return out", "return [out]"), ("", ""), VerifyStatus.WRONG_STRUCTURE),
    "other constructor": (
        ("def __init__(self, channels)", "def __init__(self, channels, rows)"),
        ("", ""),
        VerifyStatus.CONSTRUCTOR_ERROR,
    ),
    "other weights": (("self.scale", "self.gain"), ("", ""), VerifyStatus.WEIGHTS_ERROR),
    "weights of another shape": (
        ("torch.ones(channels)", "torch.ones(channels + 1)"),
        ("", ""),
        VerifyStatus.WEIGHTS_ERROR,
    ),
    "missing kernel": (("kernels.scaled_relu", "kernels.absent"), ("", ""), VerifyStatus.FORWARD_ERROR),
    "import error": (
        ("import kernels", "import kernels\nraise ValueError('no')"),
        ("", ""),
        VerifyStatus.LOAD_ERROR,
    ),
    "no ModelNew": (("class ModelNew", "class Other"), ("", ""), VerifyStatus.CONSTRUCTOR_ERROR),
    "torch operator": (("return out", "return out * 1"), ("", ""), VerifyStatus.FORBIDDEN),
    "unwritten output": (("", ""), ("row < rows", "row < rows - 1"), VerifyStatus.NON_FINITE),
    "input overwritten": (
        ("", ""),
        ("// more", "const_cast<float*>(in)[3] = 9.0f;"),
        VerifyStatus.INPUTS_CHANGED,
    ),
    "early exit": (
        ("out = torch", "__import__('os')._exit(0)\n        out = torch"),
        ("", ""),
        VerifyStatus.CRASHED,
    ),
}


@pytest.mark.parametrize("name", VERIFY_CASES)
def test_what_is_wrong_has_its_status(judge: Judge, make: Maker, name: str) -> None:
    model, kernel, status = VERIFY_CASES[name]
    verified, profiled = judge.examine(make(model=model, kernel=kernel), profile=True)
    assert verified.status is status, verified
    assert verified.reason
    assert profiled is None


def test_a_hang_is_ended_and_the_next_submission_is_judged_as_ever(judge: Judge, make: Maker) -> None:
    hanging = make(kernel=("// more", "for (volatile int i = 0; i >= 0; i = 0) {}"))
    assert judge.examine(hanging, profile=False)[0].status is VerifyStatus.TIMED_OUT


def test_a_mismatch_names_the_element(judge: Judge, make: Maker) -> None:
    verified, _ = judge.examine(make(kernel=("// more", "result[256 * 3 + 7] += 0.5f;")), profile=False)
    assert verified.mismatch is not None
    assert verified.mismatch.index == (3, 7)
    assert verified.mismatch.differing == 1
    assert verified.mismatch.got == pytest.approx(verified.mismatch.expected + 0.5)


def test_weights_under_other_names_are_named(judge: Judge, make: Maker) -> None:
    verified, _ = judge.examine(make(model=("self.scale", "self.gain")), profile=False)
    assert verified.status is VerifyStatus.WEIGHTS_ERROR
    assert "parameters that the reference does not: gain; the reference has scale" in verified.reason


def test_state_that_answers_for_a_kernel_is_found_out(judge: Judge, make: Maker) -> None:
    remember = (
        "const float* in = x.data<float>();",
        "const float* in = x.data<float>(); static float kept[64 * 256]; static bool full = false;"
        "if (full) { for (int64_t i = 0; i < x.numel(); ++i) out.data<float>()[i] = kept[i]; return; }",
    )
    assert judge.examine(make(kernel=remember), profile=False)[0].status is VerifyStatus.OK
    keep = make_again(make, remember)
    assert judge.examine(keep, profile=False)[0].status is VerifyStatus.MISMATCH


def make_again(make: Maker, remember: tuple[str, str]) -> Artifact:
    """The same, but it fills its memory at the first call."""
    folder = make._folder / "again"
    folder.mkdir()
    again = Maker(make._sandbox, folder)
    source = (remember[0], remember[1])
    text = KERNEL.replace(*source).replace(
        "// more", "for (int64_t i = 0; i < x.numel(); ++i) kept[i] = result[i]; full = true;"
    )
    return again(kernel=(KERNEL, text))


@pytest.mark.parametrize(
    ("change", "status", "reason"),
    [
        (("torch.randn(64, 256)", "torch.randn(1 << 32, 256)"), VerifyStatus.DOES_NOT_FIT, "GiB"),
        (("torch.relu(x)", "torch.no_such(x)"), VerifyStatus.TASK_ERROR, "no_such"),
        (
            ("torch.randn(64, 256)", "torch.randn(0, 256)"),
            VerifyStatus.TASK_ERROR,
            "no element",
        ),
        (("return [256]", "raise ValueError('none today')"), VerifyStatus.TASK_ERROR, "none today"),
        (("return [torch.randn(64, 256)]", "return [torch.randn(64, 255)]"), VerifyStatus.TASK_ERROR, "256"),
    ],
)
def test_a_faulty_task_is_not_the_submissions_fault(
    sandbox: Sandbox,
    tiny_task: Task,
    make: Maker,
    *,
    change: tuple[str, str],
    status: VerifyStatus,
    reason: str,
) -> None:
    task = Task(name="faulty", source=tiny_task.source.replace(*change))
    with Judge(task, target=Target.CPU, sandbox=sandbox, policy=load_policy("strict")) as judge:
        verified, profiled = judge.examine(make(), profile=True)
    assert isinstance(verified, VerifyResult)
    assert (verified.status, profiled) == (status, None)
    assert reason in verified.reason


@pytest.mark.parametrize("free_bytes", [[1 << 10], pytest.param([1 << 40, 1 << 10], marks=pytest.mark.slow)])
def test_a_task_that_others_crowd_out_is_looked_at_again_alone(
    sandbox: Sandbox, tiny_task: Task, make: Maker, monkeypatch: pytest.MonkeyPatch, *, free_bytes: list[int]
) -> None:
    looks = iter(free_bytes)
    monkeypatch.setattr(task_process, "read_available_bytes", lambda _target: next(looks, 1 << 40))
    with Judge(tiny_task, target=Target.CPU, sandbox=sandbox, policy=load_policy("strict")) as judge:
        verified, _ = judge.examine(make(), profile=False)
    assert (verified.status, verified.reason) == (VerifyStatus.OK, "")
    assert next(looks, None) is None


@pytest.mark.slow
def test_a_large_task_is_verified_alone(
    sandbox: Sandbox, tiny_task: Task, make: Maker, monkeypatch: pytest.MonkeyPatch
) -> None:
    artifact, taken = make(), []

    class Watched(Lease):
        @contextmanager
        def take(self) -> Iterator[None]:
            taken.append(True)
            with super().take():
                yield

    monkeypatch.setattr(judge_module, "Lease", Watched)
    with Judge(tiny_task, target=Target.CPU, sandbox=sandbox, policy=load_policy("strict")) as judge:
        assert judge.check_task().is_judged
        assert judge.examine(artifact, profile=False)[0].status is VerifyStatus.OK
        assert not taken
        needed_bytes = judge._task.opened.needed_bytes
        monkeypatch.setattr(task_process, "read_total_bytes", lambda _target: 16 * needed_bytes)
        assert judge.examine(artifact, profile=False)[0].status is VerifyStatus.OK
        assert taken
