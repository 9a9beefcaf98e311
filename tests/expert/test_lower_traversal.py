import pytest

from cuda_agent.expert.canonicalize import canonicalize
from cuda_agent.expert.fuse import fuse_graph
from cuda_agent.expert.lower_traversal import find_traversals
from cuda_agent.expert.lowering import CutError
from cuda_agent.expert.plan import Kernel, Traversal
from cuda_agent.expert.rewrite import rewrite_graph
from cuda_agent.expert.trace import trace_source
from tests.expert.lowered import PLACE, build, node, ref
from tests.expert.zoo import IMAGE, write_module


def test_no_kernel_goes_along_a_line() -> None:
    lowering = build(node("c", "cumsum", 4, 6, input=ref("x"), dim=1))
    with pytest.raises(CutError, match="along"):
        lowering.lower("c", PLACE)


def test_it_is_a_step_between_kernels() -> None:
    source = write_module("return F.relu((x * 2).cumsum(1)) + 1", IMAGE)
    graph = rewrite_graph(canonicalize(trace_source(source)))
    assert len(find_traversals(graph)) == 1
    before, step, after = fuse_graph(graph).steps
    assert isinstance(before, Kernel)
    assert isinstance(after, Kernel)
    assert isinstance(step, Traversal)
    assert (step.op, step.outer, step.length, step.inner) == ("cumsum", 2, 6, 35)
