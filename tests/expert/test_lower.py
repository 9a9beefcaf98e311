from cuda_agent.expert import ops
from cuda_agent.expert.domain import Dim, Domain
from cuda_agent.expert.graph import Graph
from cuda_agent.expert.lower import RULES, build_lowering


def test_every_word_has_a_rule() -> None:
    assert set(ops.POINTWISE) | set(ops.REDUCTIONS) <= set(RULES)


def test_a_new_kernel_is_empty() -> None:
    domain = Domain((Dim(2),), (3,), ((0, 3),))
    lowering = build_lowering(Graph(sources=(), nodes=(), outputs=(), structure=""), domain, stored={})
    assert lowering.values == []
    assert lowering.get_sizes(0) == {0: 2, 1: 3}
