from cuda_agent.expert.cpu_traversal import CpuTraversal
from cuda_agent.expert.plan import Traversal

STEP = Traversal(name="kernel1", op="cumsum", source="in0", out="out0", outer=2, length=6, inner=35)


def test_the_call_names_the_operation() -> None:
    assert CpuTraversal(STEP).write_call() == "traverse(RunningSum{}, LineSize{2, 6, 35}, in0, out0);"


def test_sorting_is_a_call_of_its_own() -> None:
    sorting = STEP.model_copy(update={"op": "sort"})
    assert CpuTraversal(sorting).write_call() == "sort_lines(LineSize{2, 6, 35}, in0, out0);"
