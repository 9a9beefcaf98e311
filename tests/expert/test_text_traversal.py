from cuda_agent.expert import ops
from cuda_agent.expert.plan import Traversal
from cuda_agent.expert.template import TEMPLATES
from cuda_agent.expert.text_traversal import RUNNERS, write_line_size

STEP = Traversal(name="kernel1", op="cumsum", source="in0", out="out0", outer=2, length=6, inner=35)


def test_every_running_operation_has_a_functor_on_both_targets() -> None:
    assert set(RUNNERS) == set(ops.RUNNING)
    for header in ("traverse.h", "device_traverse.h"):
        text = (TEMPLATES / header).read_text()
        assert all(f"struct {functor} {{" in text for functor in RUNNERS.values()), header


def test_sizes() -> None:
    assert write_line_size(STEP) == "LineSize{2, 6, 35}"
