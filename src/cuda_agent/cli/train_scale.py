"""What `cuda-agent train` does on many machines."""

from typing import Annotated

import tyro

from cuda_agent.cli.train_plan import PlanOptions, plan_training
from cuda_agent.cli.train_pool import PoolOptions, serve_pool
from cuda_agent.cli.train_verl import VerlOptions, train_on_verl

ScaleOptions = (
    Annotated[PlanOptions, tyro.conf.subcommand("plan")]
    | Annotated[PoolOptions, tyro.conf.subcommand("pool")]
    | Annotated[VerlOptions, tyro.conf.subcommand("verl")]
)


def run_scale(options: PlanOptions | PoolOptions | VerlOptions) -> int:
    """Plan a run, evaluate for one, or train."""
    match options:
        case PlanOptions():
            return plan_training(options.scale)
        case PoolOptions():
            return serve_pool(options)
        case VerlOptions():
            return train_on_verl(options)
