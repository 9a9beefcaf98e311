"""A policy's name, or a clear error."""

from pathlib import Path

import pytest

from cuda_agent.agent.policy import build_policy
from cuda_agent.errors import ConfigError, UserError
from cuda_agent.llm.chat import ChatModel
from cuda_agent.llm.endpoint import EndpointConfig, ToolCallForm
from cuda_agent.llm.http import HttpChat
from cuda_agent.llm.local_config import LocalConfig
from cuda_agent.llm.text_tools import TextToolChat
from cuda_agent.sandbox.protocol import Sandbox
from cuda_agent.tasks.target import Target

LOCAL = EndpointConfig(base_url="http://127.0.0.1:9/v1")


def build(spec: str, sandbox: Sandbox, *, endpoint: EndpointConfig = LOCAL) -> ChatModel:
    return build_policy(spec, target=Target.CPU, sandbox=sandbox, endpoint=endpoint, local=LocalConfig())


def test_expert(sandbox: Sandbox) -> None:
    assert build("expert", sandbox).name == "expert"


def test_scripted(sandbox: Sandbox, tmp_path: Path) -> None:
    path = tmp_path / "a:b.toml"
    path.write_text("[[reply]]\ntext = 'hm'\n")
    assert build(f"scripted:{path}", sandbox).name == "scripted:a:b"
    with pytest.raises(UserError, match=r"none\.toml: the script cannot be read"):
        build("scripted:none.toml", sandbox)


def test_an_endpoints_model_calls_tools_as_it_can(sandbox: Sandbox) -> None:
    native = build("openai:org/model:free", sandbox)
    assert isinstance(native, HttpChat)
    assert native.name == "openai:org/model:free"
    text = build("openai:small", sandbox, endpoint=LOCAL.replace(tool_calls=ToolCallForm.TEXT))
    assert isinstance(text, TextToolChat)
    assert text.name == "openai:small"


def test_a_checkpoint_that_is_not_there_is_named(sandbox: Sandbox) -> None:
    pytest.importorskip("transformers")
    with pytest.raises(UserError, match=r"no/such/checkpoint cannot be loaded"):
        build("local:no/such/checkpoint", sandbox)


def test_openais_own_address_needs_a_key(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(ConfigError, match="OPENAI_API_KEY"):
        build("openai:gpt", sandbox, endpoint=EndpointConfig())


@pytest.mark.parametrize(
    "spec", ["", "gpt", "scripted", "scripted:", "expert:3", "openai", "openai:", "local:"]
)
def test_an_unknown_policy_names_the_known_ones(sandbox: Sandbox, spec: str) -> None:
    with pytest.raises(ConfigError, match=r"expert: .*; openai:MODEL: .*; local:FOLDER: .*; scripted:FILE: "):
        build(spec, sandbox)
