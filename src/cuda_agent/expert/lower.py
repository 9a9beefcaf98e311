"""Write nodes of the graph as steps of one kernel, by following them down to memory."""

from collections.abc import Mapping

from cuda_agent.expert import ops
from cuda_agent.expert.domain import Domain
from cuda_agent.expert.graph import Graph
from cuda_agent.expert.lower_point import lower_full, lower_iota, lower_point
from cuda_agent.expert.lower_product import lower_product
from cuda_agent.expert.lower_reduction import lower_reduction
from cuda_agent.expert.lower_traversal import lower_traversal
from cuda_agent.expert.lower_view import (
    lower_cat,
    lower_expand,
    lower_gather,
    lower_index,
    lower_permute,
    lower_reshape,
    lower_slice,
    lower_windows,
)
from cuda_agent.expert.lowering import Lowering, LoweringRule

RULES: dict[str, LoweringRule] = {
    **dict.fromkeys(ops.POINTWISE, lower_point),
    **dict.fromkeys(ops.REDUCTIONS, lower_reduction),
    ops.PRODUCT: lower_product,
    **dict.fromkeys(ops.TRAVERSALS, lower_traversal),
    "full": lower_full,
    "iota": lower_iota,
    "reshape": lower_reshape,
    "expand": lower_expand,
    "permute": lower_permute,
    "slice": lower_slice,
    "windows": lower_windows,
    "cat": lower_cat,
    "index": lower_index,
    "gather": lower_gather,
}
"""One rule for each word of a canonical graph."""


def build_lowering(graph: Graph, domain: Domain, *, stored: Mapping[str, str]) -> Lowering:
    """An empty kernel over `domain`; `stored` gives the buffer of everything that is in memory."""
    return Lowering(graph, domain, stored=stored, rules=RULES)
