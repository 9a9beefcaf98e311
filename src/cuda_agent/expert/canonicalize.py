"""Write a traced graph in canonical words."""

from cuda_agent.expert.canonical import (
    Draft,
    Rule,
    UnsupportedError,
    find_packet,
    write_arange,
    write_cast,
    write_clamp,
    write_filled,
    write_full,
    write_mean,
    write_point,
    write_pow,
    write_sum,
    write_truth,
    write_var,
)
from cuda_agent.expert.canonical_composed import COMPOSED
from cuda_agent.expert.canonical_linear import write_product
from cuda_agent.expert.canonical_norms import write_batch_norm, write_group_norm, write_live_norm
from cuda_agent.expert.canonical_traversals import (
    RUNNING,
    write_median,
    write_nth,
    write_place,
    write_sort,
    write_top,
)
from cuda_agent.expert.canonical_views import (
    write_broadcast,
    write_cat,
    write_copy,
    write_embedding,
    write_embedding_bag,
    write_expand,
    write_flip,
    write_gather,
    write_index,
    write_index_select,
    write_part,
    write_permute,
    write_repeat,
    write_reshape,
    write_roll,
    write_same,
    write_select,
    write_slice,
    write_slice_scatter,
)
from cuda_agent.expert.canonical_windows import (
    write_adaptive_pool,
    write_avg_pool,
    write_convolution,
    write_max_pool,
    write_pad,
)
from cuda_agent.expert.graph import Graph, Node, Source

UNARY = (
    "neg", "abs", "exp", "expm1", "log", "log1p", "sqrt", "rsqrt", "reciprocal", "tanh", "sigmoid", "erf",
    "sin", "cos", "floor", "ceil", "round", "trunc", "isnan", "logical_not",
    "atan", "asin", "acos", "lgamma", "digamma", "erfinv", "i0",
)  # fmt: skip
BINARY = (
    "add", "sub", "mul", "maximum", "minimum", "eq", "ne", "lt", "le", "gt", "ge", "logical_and",
    "logical_or", "logical_xor",
)  # fmt: skip

FIRSTS: dict[str, Rule] = {
    "max_pool2d_with_indices": write_max_pool(2),
    "max_pool3d_with_indices": write_max_pool(3),
    "_native_batch_norm_legit": write_live_norm,
    "native_group_norm": write_group_norm,
    "_native_batch_norm_legit_no_training": write_batch_norm,
    "adaptive_max_pool2d": write_adaptive_pool("amax"),
    "adaptive_max_pool3d": write_adaptive_pool("amax"),
    "_embedding_bag": write_embedding_bag,
    "_embedding_bag_forward_only": write_embedding_bag,
    "var_mean": write_var,
    "cummax": RUNNING["cummax"],
    "cummin": RUNNING["cummin"],
    "sort": write_sort,
    "topk": write_top,
    "kthvalue": write_nth,
    "median": write_median,
    "max": write_sum("amax"),
    "min": write_sum("amin"),
}
"""Operations of several results, of which the first is the one that is wanted."""


SECONDS: dict[str, Rule] = {
    "max": write_place("amax"),
    "min": write_place("amin"),
    "var_mean": write_mean,
}
"""Operations whose second result can be had too."""


def write_item(draft: Draft, node: Node) -> str:
    """One of several results: a part of a tensor, or what is computed first.

    Raises:
        UnsupportedError: it is a further result that is not known.
    """
    whole = draft.get_traced(node.args["0"])
    packet = find_packet(whole)
    if packet not in FIRSTS:
        return write_part(draft, node)
    one = whole.model_copy(update={"shape": node.shape, "dtype": node.dtype})
    if node.get_int("1") == 0:
        return FIRSTS[packet](draft, one)
    if packet in SECONDS and node.get_int("1") == 1:
        return SECONDS[packet](draft, one)
    raise UnsupportedError(f"the further results of {whole.op} are beyond me")


RULES: dict[str, Rule] = {
    **{op: write_point(op, ("self",)) for op in UNARY},
    **{op: write_point(op, ("self", "other")) for op in BINARY},
    "bitwise_not": write_point("logical_not", ("self",)),
    "bitwise_and": write_point("logical_and", ("self", "other")),
    "bitwise_or": write_point("logical_or", ("self", "other")),
    **COMPOSED,
    **RUNNING,
    "argmax": write_place("amax"),
    "argmin": write_place("amin"),
    "where": write_point("where", ("condition", "self", "other")),
    "pow": write_pow,
    "clamp": write_clamp,
    "clamp_min": write_clamp,
    "_to_copy": write_cast,
    "prims.convert_element_type": write_cast,
    "full": write_full,
    "full_like": write_full,
    "scalar_tensor": write_full,
    "empty": write_filled(0.0),
    "empty_permuted": write_filled(0.0),
    "zeros": write_filled(0.0),
    "zeros_like": write_filled(0.0),
    "ones": write_filled(1.0),
    "ones_like": write_filled(1.0),
    "arange": write_arange,
    "prims.iota": write_arange,
    "sum": write_sum("sum"),
    "prims.sum": write_sum("sum"),
    "amax": write_sum("amax"),
    "amin": write_sum("amin"),
    "max": write_sum("amax"),
    "min": write_sum("amin"),
    "prod": write_sum("prod"),
    "mean": write_mean,
    "var": write_var,
    "prims.var": write_var,
    "view": write_reshape,
    "_unsafe_view": write_reshape,
    "reshape": write_reshape,
    "squeeze": write_reshape,
    "unsqueeze": write_reshape,
    "prims.broadcast_in_dim": write_broadcast,
    "expand": write_expand,
    "permute": write_permute,
    "transpose": write_permute,
    "t": write_permute,
    "slice": write_slice,
    "select": write_select,
    "getitem": write_item,
    "cat": write_cat,
    "gather": write_gather,
    "index": write_index,
    "embedding": write_embedding,
    "index_select": write_index_select,
    "flip": write_flip,
    "roll": write_roll,
    "copy": write_copy,
    "slice_scatter": write_slice_scatter,
    "repeat": write_repeat,
    "any": write_truth("amax"),
    "all": write_truth("amin"),
    "constant_pad_nd": write_pad,
    "avg_pool1d": write_avg_pool(1),
    "avg_pool2d": write_avg_pool(2),
    "avg_pool3d": write_avg_pool(3),
    "_adaptive_avg_pool2d": write_adaptive_pool("sum"),
    "_adaptive_avg_pool3d": write_adaptive_pool("sum"),
    "convolution": write_convolution,
    "mm": write_product("self", "mat2"),
    "bmm": write_product("self", "mat2"),
    "addmm": write_product("mat1", "mat2", bias="self"),
    "baddbmm": write_product("batch1", "batch2", bias="self"),
    **dict.fromkeys(("clone", "contiguous", "alias", "detach", "lift_fresh_copy", "dropout"), write_same),
}
"""One rule for each ATen operation that the expert knows."""

CHECKS = ("_assert_tensor_metadata", "_assert_scalar", "sym_constrain_range_for_size")
"""Operations without a result, which hold for the shapes that were traced."""

MANY = ("split_with_sizes", "split", "unbind", "unsafe_split")
"""Operations that give several tensors; their parts are written where they are picked."""

TRUTHS_ONLY = ("bitwise_not", "bitwise_and", "bitwise_or")
"""Operations whose rule holds for booleans only."""


def canonicalize(graph: Graph) -> Graph:
    """The same module in canonical words.

    Raises:
        UnsupportedError: an operation is beyond the expert; says which.
    """
    draft = Draft(graph)
    for source in graph.sources:
        if source.values is not None and len(source.values) == 1:
            number = draft.add("full", {"value": source.values[0]}, shape=source.shape, dtype=source.dtype)
            draft.renamed[source.name] = number
    for node in graph.nodes:
        packet = find_packet(node)
        if packet in (*MANY, *CHECKS) or (packet in FIRSTS and not node.dtype):
            continue
        if packet not in RULES or (packet in TRUTHS_ONLY and node.dtype != "bool"):
            raise UnsupportedError(f"I have no kernel for the operation {node.op} yet")
        draft.renamed[node.name] = RULES[packet](draft, node)
    outputs = tuple(draft.renamed.get(name, name) for name in graph.outputs)
    return graph.model_copy(update={"nodes": tuple(draft.nodes), "outputs": outputs})


def find_read_sources(graph: Graph) -> tuple[Source, ...]:
    """The sources that some node or output still reads."""
    read = {name for node in graph.nodes for name in node.get_refs()} | set(graph.outputs)
    return tuple(source for source in graph.sources if source.name in read)
