"""Which verl this room is written for."""

import importlib.metadata
import importlib.util

from cuda_agent.errors import ConfigError

VERL_VERSION = "0.9.1"


def check_generator() -> None:
    """Look that what generates for verl is installed.

    Raises:
        ConfigError: it is not.
    """
    if importlib.util.find_spec("vllm") is None:
        raise ConfigError(
            "PPO generates with vllm, which is not installed: pip install vllm on a machine with GPUs "
            "(docs/scale.md)"
        )


def check_verl() -> None:
    """Look that the installed verl is the one whose hooks are used here.

    Raises:
        ConfigError: there is none, or another version: verl's hooks change between versions.
    """
    try:
        found = importlib.metadata.version("verl")
    except importlib.metadata.PackageNotFoundError:
        found = "none"
    if found != VERL_VERSION:
        raise ConfigError(
            f"verl {VERL_VERSION} is needed, and {found} is installed: pip install 'verl=={VERL_VERSION}', "
            "best in an environment of its own (docs/scale.md)"
        )
