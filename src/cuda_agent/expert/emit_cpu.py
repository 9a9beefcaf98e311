"""Write a plan as one C++ source for the CPU."""

from cuda_agent.expert.choice import Choice
from cuda_agent.expert.cpu_kernel import ELEMENTS, CpuKernel
from cuda_agent.expert.cpu_lanes import CpuLanes
from cuda_agent.expert.cpu_product import CpuProduct
from cuda_agent.expert.cpu_traversal import CpuTraversal
from cuda_agent.expert.plan import Buffer, Plan, Product, Role, Step, Traversal
from cuda_agent.expert.side_by_side import suits_lanes
from cuda_agent.expert.template import load_template

BITS = ("bfloat16", "float16")
"""dtypes that C++ has no type for: they are taken as 16 bits."""


def write_pointer(buffer: Buffer) -> str:
    """Take a tensor's pointer, checked for dtype and device."""
    const = "const " if buffer.role is Role.SOURCE else ""
    kind = f"{const}{ELEMENTS[buffer.dtype]}"
    if buffer.dtype in BITS:
        return f"{kind}* {buffer.name} = reinterpret_cast<{kind}*>({buffer.name}_.data<{const}uint16_t>());"
    return f"{kind}* {buffer.name} = {buffer.name}_.data<{kind}>();"


def build_step(step: Step, plan: Plan, *, choice: Choice) -> CpuKernel | CpuProduct | CpuTraversal:
    """The writer of one step."""
    if isinstance(step, Product):
        return CpuProduct(step)
    if isinstance(step, Traversal):
        return CpuTraversal(step)
    return (CpuLanes if suits_lanes(step) else CpuKernel)(step, plan, choice=choice)


def emit_cpu(plan: Plan, choice: Choice, *, comment: str) -> str:
    """The source of `kernels/fused.cpp`; `comment` explains the plan at its top."""
    steps = [build_step(step, plan, choice=choice) for step in plan.steps]
    return load_template(
        "fused.cpp.jinja",
        comment=comment.splitlines(),
        kernels=[text for step in steps if (text := step.write())],
        has_products=bool(plan.products),
        has_traversals=bool(plan.traversals),
        has_special=plan.has_special,
        arguments=[f"kernel::Tensor {buffer.name}_" for buffer in plan.buffers],
        pointers=[write_pointer(buffer) for buffer in plan.buffers],
        calls=[step.write_call() for step in steps],
    )
