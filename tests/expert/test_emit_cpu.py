"""Emitted C++ computes what the reference does, for every module of the zoo."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from cuda_agent.expert.choice import Choice
from cuda_agent.expert.emit_cpu import emit_cpu, write_pointer
from cuda_agent.expert.plan import Buffer, Role
from cuda_agent.expert.schedule import Keep
from tests.expert.built import Planned, build_library, check_against_reference
from tests.expert.conftest import PARTS

CHOICES = {
    "default": Choice(),
    "rows_kept": Choice(keep=Keep.ROW, unroll=1, prefetch=True),
    "nothing_kept": Choice(keep=Keep.NOTHING, unroll=2, stream=False, chunk=16),
}


def find_wrong(planned: Mapping[str, Planned], folder: Path, *, choice: Choice) -> dict[str, object]:
    library = build_library(planned, folder, choice=choice)
    wrong: dict[str, object] = {}
    for name, one in planned.items():
        try:
            error = check_against_reference(one, getattr(library, name))
        except AssertionError as failure:
            wrong[name] = str(failure)[:300]
        else:
            if not error < 0.5:
                wrong[name] = error
    return wrong


@pytest.mark.parametrize("part", PARTS)
def test_every_module_is_right(planned: Mapping[str, Planned], tmp_path: Path, part: str) -> None:
    some = {name: planned[name] for name in PARTS[part]}
    assert find_wrong(some, tmp_path, choice=CHOICES["default"]) == {}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["rows_kept", "nothing_kept"])
def test_every_module_is_right_however_it_is_written(
    planned: Mapping[str, Planned], tmp_path: Path, name: str
) -> None:
    assert find_wrong(planned, tmp_path, choice=CHOICES[name]) == {}


def test_a_wrong_kernel_is_noticed(planned: Mapping[str, Planned], tmp_path: Path) -> None:
    one = planned["gelu_bias"]
    literal = next(v for v in one.plan.kernels[0].values if v.literal == 2.5)
    values = tuple(
        v.model_copy(update={"literal": 2.5001}) if v is literal else v for v in one.plan.kernels[0].values
    )
    kernel = one.plan.kernels[0].model_copy(update={"values": values})
    bad = Planned(one.source, one.graph, one.plan.model_copy(update={"steps": (kernel,)}))
    library = build_library({"bad": bad}, tmp_path, choice=Choice())
    assert check_against_reference(bad, library.bad) > 1


def test_large_outputs_are_streamed_only_when_asked(planned: Mapping[str, Planned]) -> None:
    plan = planned["even_pointwise"].plan
    big = tuple(b.model_copy(update={"shape": (1 << 22,)}) for b in plan.buffers)
    plan = plan.model_copy(update={"buffers": big})
    assert "stream(out0" in emit_cpu(plan, Choice(), comment="")
    assert "stream(out0" not in emit_cpu(plan, Choice(stream=False), comment="")


def test_the_plan_stands_at_the_top(planned: Mapping[str, Planned]) -> None:
    text = emit_cpu(planned["softmax"].plan, Choice(), comment="first\nsecond")
    assert text.startswith("// first\n// second\n#include <cuda_agent/kernel.h>\n")


def test_half_precision_pointers_are_taken_as_bits() -> None:
    buffer = Buffer(name="in0", role=Role.SOURCE, node="x", shape=(4,), dtype="bfloat16")
    assert (
        write_pointer(buffer)
        == "const Bf16* in0 = reinterpret_cast<const Bf16*>(in0_.data<const uint16_t>());"
    )
