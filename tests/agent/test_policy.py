"""A policy's name, or a clear error."""

from pathlib import Path

import pytest

from cuda_agent.agent.policy import build_policy
from cuda_agent.errors import ConfigError, UserError
from cuda_agent.sandbox.protocol import Sandbox
from cuda_agent.tasks.target import Target


def test_expert(sandbox: Sandbox) -> None:
    assert build_policy("expert", target=Target.CPU, sandbox=sandbox).name == "expert"


def test_scripted(sandbox: Sandbox, tmp_path: Path) -> None:
    path = tmp_path / "a:b.toml"
    path.write_text("[[reply]]\ntext = 'hm'\n")
    assert build_policy(f"scripted:{path}", target=Target.CPU, sandbox=sandbox).name == "scripted:a:b"
    with pytest.raises(UserError, match=r"none\.toml: the script cannot be read"):
        build_policy("scripted:none.toml", target=Target.CPU, sandbox=sandbox)


@pytest.mark.parametrize("spec", ["", "gpt", "scripted", "scripted:", "expert:3"])
def test_an_unknown_policy_names_the_known_ones(sandbox: Sandbox, spec: str) -> None:
    with pytest.raises(ConfigError, match=r"expert: .*; scripted:FILE: "):
        build_policy(spec, target=Target.CPU, sandbox=sandbox)
