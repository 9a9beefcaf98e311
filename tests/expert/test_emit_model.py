from collections.abc import Mapping
from pathlib import Path

import pytest

from cuda_agent.environment.result import RulesStatus
from cuda_agent.environment.rules import check_rules
from cuda_agent.environment.submission import freeze_submission
from cuda_agent.expert.choice import Choice
from cuda_agent.expert.emit_cpu import emit_cpu
from cuda_agent.expert.emit_cuda import emit_cuda, plan_scratch
from cuda_agent.expert.emit_model import emit_model
from cuda_agent.expert.study import find_headers
from cuda_agent.expert.template import TEMPLATES
from cuda_agent.tasks.target import Target
from tests.expert.built import Planned


def write_submission(one: Planned, folder: Path, *, target: Target) -> None:
    (folder / "kernels").mkdir(parents=True)
    plan = one.plan if target is Target.CPU else plan_scratch(one.plan)
    emit, name = (emit_cpu, "fused.cpp") if target is Target.CPU else (emit_cuda, "fused.cu")
    (folder / "kernels" / name).write_text(emit(plan, Choice(), comment="plan"))
    for header in find_headers(plan, target):
        (folder / "kernels" / header).write_text((TEMPLATES / header).read_text())
    (folder / "model_new.py").write_text(emit_model(one.graph, plan, source=one.source))


@pytest.mark.parametrize("target", list(Target))
def test_everything_written_keeps_the_rules(
    planned: Mapping[str, Planned], tmp_path: Path, target: Target
) -> None:
    for name, one in planned.items():
        write_submission(one, tmp_path / name, target=target)
        result = check_rules(freeze_submission(tmp_path / name), target)
        assert result.status is RulesStatus.OK, (name, result.violations[:2])


def test_shapes_and_dtypes_are_guarded(planned: Mapping[str, Planned]) -> None:
    one = planned["embedding"]
    text = emit_model(one.graph, one.plan, source=one.source)
    assert "if list(i.shape) != [2, 7] or i.dtype != torch.int64:" in text


def test_the_returned_structure_is_the_reference_s(planned: Mapping[str, Planned]) -> None:
    one = planned["nested_inputs"]
    text = emit_model(one.graph, one.plan, source=one.source)
    assert text.endswith("return {'sum': out0, 'rest': [out1]}\n")
