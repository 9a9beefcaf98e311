"""Canonical forms of matrix products."""

from cuda_agent.expert.canonical import Draft, Rule, UnsupportedError
from cuda_agent.expert.graph import Node
from cuda_agent.expert.ops import PRODUCT

PRODUCT_DTYPES = ("float32",)
"""Products of other dtypes are left to the reference: their accumulation is not ours to choose."""


def add_product(draft: Draft, left: str, *, right: str) -> str:
    """The product of two matrices, or of two batches of matrices.

    Raises:
        UnsupportedError: it is not one of float32.
    """
    dtype = draft.dtypes[left]
    if dtype not in PRODUCT_DTYPES or draft.dtypes[right] != dtype:
        raise UnsupportedError(f"matrix products of {dtype} are beyond me")
    shape = (*draft.shapes[left][:-1], draft.shapes[right][-1])
    return draft.add(PRODUCT, {"left": {"ref": left}, "right": {"ref": right}}, shape=shape, dtype=dtype)


def write_product(left: str, right: str, *, bias: str = "") -> Rule:
    """A rule for a product whose operands are the arguments `left` and `right`; `bias` is added to it."""

    def rule(draft: Draft, node: Node) -> str:
        result = add_product(draft, draft.find(node.args[left]), right=draft.find(node.args[right]))
        if not bias:
            return result
        added = draft.find(node.args[bias])
        for key, name in (("alpha", result), ("beta", added)):
            factor = node.args.get(key, 1)
            if factor != 1:
                like = Node(name="", op="", args={}, shape=draft.shapes[name], dtype=node.dtype)
                scaled = draft.point("mul", [name, factor], like=like)
                result, added = (scaled, added) if key == "alpha" else (result, scaled)
        return draft.point("add", [result, added], like=node)

    return rule
