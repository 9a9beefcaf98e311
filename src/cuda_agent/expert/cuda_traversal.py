"""Write one traversal of a plan as CUDA."""

from cuda_agent.expert.plan import Traversal
from cuda_agent.expert.text_traversal import RUNNERS, write_line_size

THREADS = 256
"""Threads in a block, as in device_traverse.h."""

LONGEST_SORTED = 4096
"""Elements of a line that is sorted in shared memory, as in device_traverse.h."""


def is_too_long(step: Traversal) -> bool:
    """Whether a line that must be sorted does not fit into shared memory."""
    return step.op == "sort" and step.length > LONGEST_SORTED


class CudaTraversal:
    """The CUDA of one traversal; device_traverse.h does the work."""

    def __init__(self, step: Traversal) -> None:
        """Prepare to write `step`."""
        assert not is_too_long(step), f"{step.name} is too long to be sorted"
        self.step = step

    def write(self) -> str:
        """Nothing: the launch says it all."""
        return ""

    def write_launches(self) -> list[str]:
        """The launch from `fused`: a block to a line, or a thread to each of many neighbouring lines."""
        step, size, lines = self.step, write_line_size(self.step), self.step.outer * self.step.inner
        if step.op == "sort":
            width = 1 << max(0, step.length - 1).bit_length()
            return [
                f"sort_line<<<{lines}, {THREADS}, 0, stream>>>({size}, {step.source}, {step.out}, {width});"
            ]
        kernel, blocks = (
            ("traverse_line", lines) if step.inner == 1 else ("traverse_lines", -(-lines // THREADS))
        )
        arguments = f"{RUNNERS[step.op]}{{}}, {size}, {step.source}, {step.out}"
        return [f"{kernel}<<<{blocks}, {THREADS}, 0, stream>>>({arguments});"]
