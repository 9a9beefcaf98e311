"""Write a plan as CUDA: a block, a warp or a part of one to a row, 16-byte accesses, rows kept in registers."""

from cuda_agent.expert.choice import Choice
from cuda_agent.expert.collapse import has_columns
from cuda_agent.expert.cuda_kernel import ELEMENTS, CudaKernel
from cuda_agent.expert.cuda_shape import TOTAL_BLOCKS
from cuda_agent.expert.plan import Buffer, Kernel, Plan, Role

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


def plan_partials(plan: Plan) -> Plan:
    """The plan as CUDA needs it: kernels of one column loop, and scratch memory for totals."""
    kernels = tuple(part for kernel in plan.kernels for part in split_loops(kernel))
    count = max((len(kernel.totals) for kernel in kernels), default=0)
    if not count:
        return plan.model_copy(update={"kernels": kernels})
    partials = Buffer(
        name=PARTIALS, role=Role.SCRATCH, node="", shape=(count * TOTAL_BLOCKS,), dtype="float64"
    )
    return plan.model_copy(update={"kernels": kernels, "buffers": (*plan.buffers, partials)})


def write_pointer(buffer: Buffer) -> str:
    """Take a tensor's pointer, checked for dtype, device and alignment."""
    const = "const " if buffer.role is Role.SOURCE else ""
    element = ELEMENTS[buffer.dtype]
    return (
        f"  {const}{element}* {buffer.name} = {buffer.name}_.data<{const}{element}>();\n"
        f"  check_aligned({buffer.name}, \"{buffer.name}\");"
    )


def emit_cuda(plan: Plan, choice: Choice, *, comment: str) -> str:
    """The source of `kernels/fused.cu`; `comment` explains the plan at its top."""
    kernels = [CudaKernel(kernel, plan, choice) for kernel in plan.kernels]
    bodies = "\n".join(kernel.write() for kernel in kernels)
    arguments = ", ".join(f"kernel::Tensor {buffer.name}_" for buffer in plan.buffers)
    pointers = "\n".join(write_pointer(buffer) for buffer in plan.buffers)
    launches = "\n".join(kernel.write_launch() for kernel in kernels)
    head = "\n".join(f"// {line}".rstrip() for line in comment.splitlines())
    anchor = plan.get_buffer(plan.outputs[0]).name
    return (
        f'{head}\n#include <cuda_agent/kernel.h>\n\n#include "device.h"\n\n{bodies}\n'
        f"static void fused({arguments}) {{\n{pointers}\n"
        f"  const cudaStream_t stream = kernel::stream({anchor}_);\n{launches}\n}}\n"
        "EXPORT_KERNEL(fused, fused);\n"
    )
