"""Another verl than the one this is written for is refused at once."""

import importlib.metadata
import importlib.util

import pytest

from cuda_agent.errors import ConfigError
from cuda_agent.rl.verl_adapter.version import VERL_VERSION, check_generator, check_verl


@pytest.mark.parametrize("found", ["0.8.0", "0.9.10"])
def test_another_version_is_named(found: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.metadata, "version", lambda name: found)
    with pytest.raises(ConfigError, match=f"verl {VERL_VERSION} is needed, and {found} is installed"):
        check_verl()


def test_none_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def find(name: str) -> str:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "version", find)
    with pytest.raises(ConfigError, match="and none is installed"):
        check_verl()


def test_the_right_one_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.metadata, "version", lambda name: VERL_VERSION)
    check_verl()


@pytest.mark.parametrize("is_there", [True, False])
def test_ppo_needs_a_generator(is_there: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: object() if is_there else None)
    if is_there:
        check_generator()
    else:
        with pytest.raises(ConfigError, match="PPO generates with vllm, which is not installed"):
            check_generator()
