"""The released work folder's bindings are read from their sources, and judged like any submission."""

import pytest

from cuda_agent.environment.evaluate import Setting, evaluate
from cuda_agent.environment.foreign import unfold_foreign
from cuda_agent.environment.result import RulesStatus, Stage
from cuda_agent.environment.rules import check_rules
from cuda_agent.environment.submission import Submission
from cuda_agent.judge.policy import load_policy
from cuda_agent.judge.result import VerifyStatus
from cuda_agent.sandbox.protocol import Sandbox
from cuda_agent.tasks.target import Target
from cuda_agent.tasks.task import Task

MODEL = """\
import torch
import torch.nn as nn
import cuda_extension


class ModelNew(nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(channels))
        self.floor = 0.0

    def forward(self, x):
        return cuda_extension.relu_scale(x, self.scale, floor=self.floor)
"""

BINDING = """\
#include <torch/types.h>
#include <torch/csrc/utils/pybind.h>
#include "../binding_registry.h"

extern "C" void launch(
    float* out, const float* x, const float* scale, float floor, int64_t n, int64_t columns);

static torch::Tensor relu_scale(torch::Tensor x, torch::Tensor scale, double floor, int config = 0) {
    TORCH_CHECK(config == 0, "unknown configuration");
    auto out = torch::empty_like(x);
    launch(out.data_ptr<float>(), x.data_ptr<float>(), scale.data_ptr<float>(), float(floor), x.numel(),
           x.size(-1));
    return out;
}

static void bind_relu_scale(pybind11::module& m) {
    m.def("relu_scale", &relu_scale, py::arg("x"), py::arg("scale"), py::arg("floor"), py::arg("config") = 0);
}

REGISTER_BINDING(relu_scale, bind_relu_scale);
"""

KERNEL = """\
#include <cstdint>

extern "C" void launch(
    float* out, const float* x, const float* scale, float floor, int64_t n, int64_t columns) {
#pragma omp parallel for
  for (int64_t i = 0; i < n; ++i) out[i] = (x[i] > floor ? x[i] : floor) * scale[i % columns];
}
"""
FILES = {
    "model_new.py": MODEL,
    "kernels/relu_scale.cpp": KERNEL,
    "kernels/relu_scale_binding.cpp": BINDING,
}


def make(**changed: str) -> Submission:
    """The folder with other texts for `model` or `binding`."""
    files = {
        **FILES,
        "model_new.py": changed.get("model", MODEL),
        "kernels/relu_scale_binding.cpp": changed.get("binding", BINDING),
    }
    return Submission({path: text.encode() for path, text in files.items()})


def read_model(submission: Submission) -> list[str]:
    """The lines of the model as it comes out."""
    return unfold_foreign(submission).files["model_new.py"].decode().splitlines()


def test_bindings_become_exports_and_no_line_moves() -> None:
    unfolded = unfold_foreign(make())
    assert unfolded.needs_torch
    binding = unfolded.files["kernels/relu_scale_binding.cpp"].decode().splitlines()
    given = BINDING.splitlines()
    assert binding[2] == '#include "binding_registry.h"'
    assert binding[3 : len(given)] == given[3:]
    assert binding[-1] == "EXPORT_TORCH_FUNCTION_AS(relu_scale, relu_scale);"
    assert unfolded.files["kernels/relu_scale.cpp"].decode() == KERNEL
    model = read_model(make())
    assert model[2] == "import kernels as cuda_extension"
    assert model[12].strip() == "return cuda_extension.relu_scale(x, self.scale, self.floor, 0)"
    assert check_rules(unfolded, Target.CPU).status is RulesStatus.OK


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("relu_scale(x, self.scale, 1.0, 0)", "relu_scale(x, self.scale, 1.0, 0)"),
        ("relu_scale(x, self.scale, (1.0))", "relu_scale(x, self.scale, (1.0), 0)"),
        ("relu_scale(x, scale=self.scale, floor=1.0,)", "relu_scale(x, self.scale, 1.0,0)"),
        (
            "relu_scale(cuda_extension.relu_scale(x, self.scale, 1.0), self.scale, 2.0)",
            "relu_scale(cuda_extension.relu_scale(x, self.scale, 1.0, 0), self.scale, 2.0, 0)",
        ),
    ],
)
def test_calls_are_completed(written: str, read: str) -> None:
    model = MODEL.replace("relu_scale(x, self.scale, floor=self.floor)", written)
    assert read_model(make(model=model))[12].strip() == f"return cuda_extension.{read}"


@pytest.mark.parametrize(
    ("old", "new", "file", "line"),
    [
        ("&relu_scale,", "[](torch::Tensor x) { return x; },", "kernels/relu_scale_binding.cpp", 17),
        ("&relu_scale,", "name::space,", "kernels/relu_scale_binding.cpp", 17),
        ('m.def("relu_scale"', 'm.def("relu scale"', "kernels/relu_scale_binding.cpp", 17),
        ('py::arg("config") = 0', 'py::arg("config") = make()', "model_new.py", 13),
        ("floor=self.floor", "height=self.floor", "model_new.py", 13),
        ("self.scale, floor", "config=0, floor", "model_new.py", 13),
    ],
)
def test_what_cannot_be_read_is_named_with_its_line(old: str, new: str, file: str, line: int) -> None:
    assert old in MODEL + BINDING
    changed = make(model=MODEL.replace(old, new), binding=BINDING.replace(old, new))
    rules = check_rules(unfold_foreign(changed), Target.CPU)
    assert rules.status is RulesStatus.BAD_FILES
    assert [(each.file, each.line, each.rule) for each in rules.violations] == [
        (file, line, "cuda-extension")
    ]


def test_sources_keep_the_rules() -> None:
    for line in ("#include <Python.h>", "#include <dlfcn.h>", "#include <torch/library.h>"):
        changed = make(binding=f"{line}\n{BINDING}")
        (violation,) = check_rules(unfold_foreign(changed), Target.CPU).violations
        assert (violation.line, violation.rule) == (1, "include")


@pytest.mark.slow
def test_a_folder_is_verified(sandbox: Sandbox, tiny_task: Task) -> None:
    setting = Setting(task=tiny_task, target=Target.CPU, sandbox=sandbox, policy=load_policy("strict"))
    with setting.open_judge() as judge:
        evaluation = evaluate(make(), setting=setting, judge=judge, until=Stage.VERIFY)
    assert evaluation.verify is not None, evaluation
    assert evaluation.verify.status is VerifyStatus.OK, evaluation.verify
