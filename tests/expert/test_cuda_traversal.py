import pytest

from cuda_agent.expert.cuda_traversal import LONGEST_SORTED, THREADS, CudaTraversal, is_too_long
from cuda_agent.expert.plan import Traversal
from cuda_agent.expert.template import TEMPLATES

STEP = Traversal(name="kernel1", op="cumsum", source="in0", out="out0", outer=20, length=6, inner=35)


def test_neighbouring_lines_have_a_thread_each() -> None:
    assert CudaTraversal(STEP).write_launches() == [
        "traverse_lines<<<3, 256, 0, stream>>>(RunningSum{}, LineSize{20, 6, 35}, in0, out0);"
    ]


def test_a_line_of_neighbours_has_a_block() -> None:
    flat = STEP.model_copy(update={"inner": 1})
    assert CudaTraversal(flat).write_launches()[0].startswith("traverse_line<<<20, 256, 0, stream>>>")


def test_sorting_is_done_in_a_power_of_two() -> None:
    sorting = STEP.model_copy(update={"op": "sort", "length": 600})
    (launch,) = CudaTraversal(sorting).write_launches()
    assert launch.startswith("sort_line<<<700, 256, 0, stream>>>")
    assert launch.endswith(", in0, out0, 1024);")


def test_a_line_beyond_shared_memory_is_refused() -> None:
    longer = STEP.model_copy(update={"op": "sort", "length": LONGEST_SORTED + 1})
    assert is_too_long(longer)
    with pytest.raises(AssertionError, match="too long"):
        CudaTraversal(longer)


def test_the_header_has_the_same_sizes() -> None:
    text = (TEMPLATES / "device_traverse.h").read_text()
    assert f"kLineThreads = {THREADS};" in text
    assert f"kLongestLine = {LONGEST_SORTED};" in text
