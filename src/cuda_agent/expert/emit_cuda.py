"""Write a plan as one CUDA source."""

from cuda_agent.expert.choice import Choice, Convolve
from cuda_agent.expert.collapse import has_columns
from cuda_agent.expert.cuda_kernel import ELEMENTS, CudaKernel
from cuda_agent.expert.cuda_product import (
    WORKSPACE,
    WORKSPACE_FLOATS,
    CudaProduct,
    find_product_header,
    is_convolution,
)
from cuda_agent.expert.cuda_shape import TOTAL_BLOCKS
from cuda_agent.expert.cuda_traversal import CudaTraversal
from cuda_agent.expert.ops import DTYPE_BYTES
from cuda_agent.expert.plan import Buffer, Kernel, Plan, Product, Role, Step, Traversal
from cuda_agent.expert.template import load_template
from cuda_agent.judge.policy import Precision

PARTIALS = "partials"
"""Scratch buffer for what each block adds to the totals."""


def split_loops(kernel: Kernel) -> list[Kernel]:
    """A kernel without rows as one kernel for each of its column loops, so that each has one length."""
    if len(kernel.loops) == 1 or has_columns(kernel) or kernel.totals:
        return [kernel]
    parts = []
    for loop, length in enumerate(kernel.loops):
        values = tuple(v.model_copy(update={"loop": 0}) for v in kernel.values)
        stores = tuple(s.model_copy(update={"loop": 0}) for s in kernel.stores if s.loop == loop)
        update = {"loops": (length,), "values": values, "stores": stores, "name": f"{kernel.name}_{loop}"}
        parts.append(kernel.model_copy(update=update))
    return parts


def plan_scratch(plan: Plan) -> Plan:
    """The plan as CUDA needs it: kernels of one column loop, and scratch memory for totals and for cuDNN."""
    steps = tuple(
        part for step in plan.steps for part in (split_loops(step) if isinstance(step, Kernel) else [step])
    )
    totals = max((len(kernel.totals) for kernel in plan.kernels), default=0)
    needs_workspace = any(is_convolution(product) for product in plan.products)
    sizes = {
        PARTIALS: (totals * TOTAL_BLOCKS, "float64"),
        WORKSPACE: (needs_workspace * WORKSPACE_FLOATS, "float32"),
    }
    scratch = tuple(
        Buffer(name=name, role=Role.SCRATCH, node="", shape=(numel,), dtype=dtype)
        for name, (numel, dtype) in sizes.items()
        if numel
    )
    return plan.model_copy(update={"steps": steps, "buffers": (*plan.buffers, *scratch)})


def write_pointer(buffer: Buffer) -> list[str]:
    """Take a tensor's pointer, checked for dtype, device and alignment."""
    const = "const " if buffer.role is Role.SOURCE else ""
    kind = f"{const}{ELEMENTS[buffer.dtype]}"
    taken = f"{kind}* {buffer.name} = {buffer.name}_.data<{kind}>();"
    return [taken, f'check_aligned({buffer.name}, "{buffer.name}");']


def build_step(
    step: Step, plan: Plan, *, choice: Choice, precision: Precision
) -> CudaKernel | CudaProduct | CudaTraversal:
    """The writer of one step."""
    if isinstance(step, Product):
        return CudaProduct(step, choice, precision=precision)
    return CudaTraversal(step) if isinstance(step, Traversal) else CudaKernel(step, plan, choice=choice)


def find_product_headers(plan: Plan, choice: Choice) -> list[str]:
    """The headers that the products of a plan need."""
    return sorted({find_product_header(product, choice) for product in plan.products})


def find_all_headers(plan: Plan) -> list[str]:
    """The headers that they need under any choice."""
    choices = [Choice(convolve=convolve) for convolve in Convolve]
    return sorted({header for choice in choices for header in find_product_headers(plan, choice)})


def emit_cuda(plan: Plan, choice: Choice, *, comment: str, precision: Precision = Precision.HIGHEST) -> str:
    """The source of `kernels/fused.cu`; `comment` explains the plan at its top."""
    steps = [build_step(step, plan, choice=choice, precision=precision) for step in plan.steps]
    return load_template(
        "fused.cu.jinja",
        comment=comment.splitlines(),
        is_narrow=all(DTYPE_BYTES[buffer.dtype] <= 2 for buffer in plan.buffers),
        kernels=[text for step in steps if (text := step.write())],
        headers=find_product_headers(plan, choice),
        has_traversals=bool(plan.traversals),
        has_special=plan.has_special,
        arguments=[f"kernel::Tensor {buffer.name}_" for buffer in plan.buffers],
        pointers=[line for buffer in plan.buffers for line in write_pointer(buffer)],
        anchor=plan.outputs[0],
        launches=[line for step in steps for line in step.write_launches()],
    )
