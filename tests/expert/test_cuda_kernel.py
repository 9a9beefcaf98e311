from collections.abc import Mapping

from cuda_agent.expert.choice import Choice
from cuda_agent.expert.cuda_kernel import CudaKernel
from cuda_agent.expert.emit_cuda import plan_scratch
from cuda_agent.expert.schedule import Keep
from tests.expert.built import Planned

CHOICE = Choice(keep=Keep.ROW)


def build(planned: Planned) -> CudaKernel:
    plan = plan_scratch(planned.plan)
    return CudaKernel(plan.kernels[0], plan, choice=CHOICE)


def test_every_row_has_its_threads(planned: Mapping[str, Planned]) -> None:
    assert build(planned["even_masked_softmax"]).write_launches() == [
        "kernel0<<<1, 256, 0, stream>>>(in0, in1, out0);"
    ]
    assert build(planned["block_rows"]).write_launches()[0].startswith("kernel0<<<3, 256, 0, stream>>>")


def test_rows_that_do_not_fill_a_block_are_guarded(planned: Mapping[str, Planned]) -> None:
    text = build(planned["even_masked_softmax"]).write()
    assert "const bool has_row = block * 8 + threadIdx.x / 32 < 6;" in text
    assert "if (has_row) store_once<4>(out0" in text
    assert "has_row" not in build(planned["block_rows"]).write()


def test_a_row_is_read_once_and_kept_in_registers(planned: Mapping[str, Planned]) -> None:
    text = build(planned["block_rows"]).write()
    assert text.count("load_once<4>(in0") == 1
    assert text.count("gather_threads<Sum, 256>") == 2


def test_totals_are_finished_by_a_second_kernel(planned: Mapping[str, Planned]) -> None:
    kernel = build(planned["even_total"])
    launches = kernel.write_launches()
    assert launches == [
        "kernel0<<<4, 256, 0, stream>>>(in0, in1, out0, partials);",
        "kernel0_finish<<<1, 256, 0, stream>>>(in0, in1, out0, partials, 4);",
    ]
    assert "kernel0_finish(" in kernel.write()
