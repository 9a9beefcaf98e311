"""KernelBench's single file is read without running it, and judged like any submission."""

from pathlib import Path

import pytest

from cuda_agent.environment.build import build_submission
from cuda_agent.environment.evaluate import Setting, evaluate
from cuda_agent.environment.foreign import unfold_foreign
from cuda_agent.environment.result import BuildStatus, RulesStatus, Stage
from cuda_agent.environment.rules import check_rules
from cuda_agent.environment.submission import Submission, freeze_submission
from cuda_agent.judge.policy import load_policy
from cuda_agent.judge.result import VerifyStatus
from cuda_agent.sandbox.protocol import Sandbox
from cuda_agent.tasks.target import Target
from cuda_agent.tasks.task import Task

SINGLE_FILE = '''\
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

source = """
#include <torch/extension.h>

torch::Tensor relu_scale(torch::Tensor x, torch::Tensor scale) {
  TORCH_CHECK(x.is_contiguous(), "x is not contiguous");
  auto out = torch::empty_like(x);
  const float* in = x.data_ptr<float>();
  const float* factor = scale.data_ptr<float>();
  float* result = out.data_ptr<float>();
  const int64_t columns = x.size(-1);
#pragma omp parallel for
  for (int64_t i = 0; i < x.numel(); ++i) result[i] = (in[i] > 0 ? in[i] : 0) * factor[i % columns];
  return out;
}
"""

ops = load_inline(
    name="ops",
    cpp_sources=source,
    functions=["relu_scale"],
    extra_cflags=["-O3"],
    verbose=True,
)


class ModelNew(nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(channels))
        self.ops = ops

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.ops.relu_scale(x, self.scale)
'''


def make(text: str = SINGLE_FILE) -> Submission:
    return Submission({"model_new.py": text.encode()})


def change(old: str, new: str) -> Submission:
    assert old in SINGLE_FILE
    return make(SINGLE_FILE.replace(old, new))


def test_each_line_stays_where_it_was() -> None:
    unfolded = unfold_foreign(make())
    assert list(unfolded.files) == ["kernels/ops.cpp", "model_new.py"]
    given = SINGLE_FILE.splitlines()
    kernel = unfolded.files["kernels/ops.cpp"].decode().splitlines()
    model = unfolded.files["model_new.py"].decode().splitlines()
    assert kernel[5:18] == given[5:18]
    assert kernel[-1] == "EXPORT_TORCH_FUNCTION(relu_scale);"
    assert len(model) == len(given)
    assert model[20] == "import kernels as ops"
    assert model[33].strip() == "pass"
    assert model[36].strip() == "return ops.relu_scale(x, self.scale)"
    assert check_rules(unfolded, Target.CPU).status is RulesStatus.OK


def test_our_own_form_is_left_alone(submission: Submission) -> None:
    assert unfold_foreign(submission) is submission


def test_a_file_is_taken_as_the_model(tmp_path: Path) -> None:
    (tmp_path / "relu.py").write_text(SINGLE_FILE)
    assert freeze_submission(tmp_path / "relu.py").files == make().files


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("cpp_sources='int a;' 'int b;'", "int a;int b;\n"),
        ("cpp_sources='int a;' + 'int b;'", "int a;int b;\n"),
        ("cpp_sources=['int a;', 'int b;']", "int a;\nint b;\n"),
        ("cpp_sources='// ' + source", "// \n#include <torch/extension.h>\n"),
    ],
)
def test_strings_written_out_are_read(written: str, read: str) -> None:
    unfolded = unfold_foreign(change("cpp_sources=source", written))
    assert unfolded.problems == ()
    assert read in unfolded.files["kernels/ops.cpp"].decode()


@pytest.mark.parametrize(
    ("old", "new", "line", "part"),
    [
        ("cpp_sources=source", "cpp_sources=source.strip()", 23, "`source.strip()`: the sources are read"),
        ("cpp_sources=source", "cpp_sources=f'{source}'", 23, "without running the file"),
        ("cpp_sources=source", "cpp_sources=open('x').read()", 23, "without running the file"),
        ("cpp_sources=source", "cpp_sources=missing", 23, "`missing`"),
        ("\nops =", "\nsource += 'x'\nops =", 24, "`source`"),
        ("ops = load", "ops.x = load", 21, "write NAME = load_inline"),
        ("verbose=True", "build_directory='/x'", 26, "`build_directory` is not supported"),
        ('["relu_scale"]', "[source]", 24, "list the functions"),
        ('["relu_scale"]', '["f); system(1"]', 24, "list the functions"),
        ("self.ops = ops", "self.ops = load_inline(name='a')", 34, "write NAME = load_inline"),
    ],
)
def test_what_cannot_be_read_is_named_with_its_line(old: str, new: str, line: int, part: str) -> None:
    rules = check_rules(unfold_foreign(change(old, new)), Target.CPU)
    assert rules.status is RulesStatus.BAD_FILES
    assert [(each.file, each.line, each.rule) for each in rules.violations] == [
        ("model_new.py", line, "load-inline")
    ]
    assert part in rules.violations[0].reason


def test_both_forms_at_once_are_refused(submission: Submission) -> None:
    both = Submission({**submission.files, "model_new.py": SINGLE_FILE.encode()})
    (violation,) = check_rules(unfold_foreign(both), Target.CPU).violations
    assert (violation.line, violation.rule) == (3, "load-inline")


def test_the_python_part_keeps_the_rules() -> None:
    unfolded = unfold_foreign(change("self.ops.relu_scale(x, self.scale)", "torch.relu(x) * self.scale"))
    rules = check_rules(unfolded, Target.CPU)
    assert rules.status is RulesStatus.VIOLATION
    assert [(each.line, each.rule) for each in rules.violations] == [(37, "forbidden-name")]


def test_cuda_sources_need_the_cuda_target() -> None:
    unfolded = unfold_foreign(change("functions=", "cuda_sources='int a;', functions="))
    rules = check_rules(unfolded, Target.CPU)
    assert rules.status is RulesStatus.BAD_FILES
    assert rules.violations[0].file == "kernels/ops.cu"
    assert check_rules(unfolded, Target.CUDA).status is RulesStatus.OK


@pytest.mark.slow
def test_a_compile_error_names_file_and_line(plain_sandbox: Sandbox, tmp_path: Path) -> None:
    broken = unfold_foreign(change("return out;", "return ouch;"))
    result, _ = build_submission(broken, target=Target.CPU, sandbox=plain_sandbox, folder=tmp_path)
    assert result.status is BuildStatus.COMPILE_ERROR
    assert result.error_lines.startswith("kernels/ops.cpp:17:")
    assert "ouch" in result.error_lines


@pytest.mark.slow
def test_an_operator_of_torch_is_named(plain_sandbox: Sandbox, tmp_path: Path) -> None:
    computing = unfold_foreign(change("return out;", "return torch::relu(x) * scale;"))
    result, library = build_submission(computing, target=Target.CPU, sandbox=plain_sandbox, folder=tmp_path)
    assert result.status is BuildStatus.FORBIDDEN_SYMBOL
    assert library is None
    assert {violation.rule for violation in result.violations} == {"provenance"}
    assert [violation.reason.split(":")[2] for violation in result.violations] == ["mul_Tensor`", "relu`"]


@pytest.mark.slow
def test_an_honest_file_is_verified(sandbox: Sandbox, tiny_task: Task) -> None:
    setting = Setting(task=tiny_task, target=Target.CPU, sandbox=sandbox, policy=load_policy("strict"))
    with setting.open_judge() as judge:
        evaluation = evaluate(make(), setting=setting, judge=judge, until=Stage.VERIFY)
        broken = change("return out;", "result[7] += 0.01f; return out;")
        wrong = evaluate(broken, setting=setting, judge=judge, until=Stage.VERIFY)
    assert evaluation.verify is not None, evaluation
    assert evaluation.verify.status is VerifyStatus.OK, evaluation.verify
    assert evaluation.submission_sha == make().sha
    assert wrong.verify is not None
    assert wrong.verify.mismatch is not None
    assert wrong.verify.mismatch.index == (0, 7)
