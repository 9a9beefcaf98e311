"""A submission at work, for tools that look on; runs in the sandbox, and knows no secret.

`python -m cuda_agent.environment.drive FOLDER LIBRARY CALLS TARGET` builds the reference's inputs and
`ModelNew` from FOLDER, with a seed that everybody knows, and calls it.
"""

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from cuda_agent.environment.submission import MODEL_FILE
from cuda_agent.environment.workspace import TASK_FILE
from cuda_agent.judge.runner import Kernels

SEED = 0


def drive(folder: Path, library: str, *, calls: int, device: str) -> None:
    """Call the submission once, and then `calls` times where profilers look."""
    torch.manual_seed(SEED)
    reference = _load(folder / TASK_FILE)
    sys.modules["kernels"] = Kernels(library)
    arguments: Any = reference.get_init_inputs()
    with torch.no_grad():
        model_class = _load(folder / MODEL_FILE).ModelNew
        model = model_class(**arguments) if isinstance(arguments, dict) else model_class(*arguments)
        model = model.to(device).eval()
        inputs = [
            each.to(device) if isinstance(each, torch.Tensor) else each for each in reference.get_inputs()
        ]
        model(*inputs)
        if device == "cuda":
            torch.cuda.synchronize()
            torch.cuda.profiler.start()
        for _ in range(calls):
            model(*inputs)
        if device == "cuda":
            torch.cuda.synchronize()
            torch.cuda.profiler.stop()


def _load(path: Path) -> Any:  # noqa: ANN401
    module = ModuleType(path.stem)
    module.__file__ = str(path)
    sys.modules[path.stem] = module
    exec(compile(path.read_text(encoding="utf-8"), str(path), "exec", dont_inherit=True), module.__dict__)
    return module


if __name__ == "__main__":
    drive(Path(sys.argv[1]), sys.argv[2], calls=int(sys.argv[3]), device=sys.argv[4])
