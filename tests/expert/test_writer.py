from collections.abc import Mapping

from cuda_agent.expert.cpu_kernel import ELEMENTS
from cuda_agent.expert.schedule import Keep, build_schedule
from cuda_agent.expert.writer import KernelWriter, is_busy
from tests.expert.built import Planned


def test_arguments_are_what_the_kernel_touches(planned: Mapping[str, Planned]) -> None:
    plan = planned["normalize"].plan
    named = []
    for kernel in plan.kernels:
        schedule = build_schedule(kernel, Keep.DEAR)
        named.append(KernelWriter(kernel, plan, schedule=schedule, elements=ELEMENTS).find_arguments())
    assert set().union(*map(set, named)) == {buffer.name for buffer in plan.buffers}
    assert all("in0" in names for names in named)


def test_idle_sweeps_are_told(planned: Mapping[str, Planned]) -> None:
    kernel = planned["rotary_partial"].plan.kernels[0]
    sweeps = build_schedule(kernel, Keep.DEAR).passes[0].sweeps
    assert [is_busy(sweep) for sweep in sweeps] == [True, True]
    idle = type(sweeps[0])((), (), (), (), (), ())
    assert not is_busy(idle)
