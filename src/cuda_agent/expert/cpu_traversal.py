"""Write one traversal of a plan as C++ for the CPU."""

from cuda_agent.expert.plan import Traversal
from cuda_agent.expert.text_traversal import RUNNERS, write_line_size


class CpuTraversal:
    """The C++ of one traversal; traverse.h does the work."""

    def __init__(self, step: Traversal) -> None:
        """Prepare to write `step`."""
        self.step = step

    def write(self) -> str:
        """Nothing: the call says it all."""
        return ""

    def write_call(self) -> str:
        """The call from `fused`."""
        step, size = self.step, write_line_size(self.step)
        if step.op == "sort":
            return f"sort_lines({size}, {step.source}, {step.out});"
        return f"traverse({RUNNERS[step.op]}{{}}, {size}, {step.source}, {step.out});"
