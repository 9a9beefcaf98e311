"""The processes that torchrun started, joined so that they train together."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import torch

from cuda_agent.rl.verl_adapter.platform_cpu_environment import CPU_ENVIRONMENT


@contextmanager
def join_processes() -> Iterator[None]:
    """While it lasts this process is one of verl's: over NCCL on GPUs, over gloo on processors alone."""
    from verl.utils.distributed import destroy_global_process_group, initialize_global_process_group

    if os.environ.get("VERL_PLATFORM") == CPU_ENVIRONMENT["VERL_PLATFORM"]:
        # verl would name gloo twice for processors, which torch refuses.
        torch.distributed.init_process_group("gloo")
    else:
        initialize_global_process_group()
    try:
        yield
    finally:
        destroy_global_process_group()
