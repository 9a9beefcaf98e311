"""From a policy's name to the policy."""

from pathlib import Path

from cuda_agent.errors import ConfigError
from cuda_agent.expert.chat import ExpertChat
from cuda_agent.llm.chat import ChatModel
from cuda_agent.llm.endpoint import EndpointConfig, ToolCallForm
from cuda_agent.llm.http import HttpChat
from cuda_agent.llm.local_config import LocalConfig
from cuda_agent.llm.scripted import load_scripted_chat
from cuda_agent.llm.text_tools import TextToolChat
from cuda_agent.sandbox.protocol import Sandbox
from cuda_agent.tasks.target import Target

POLICIES = {
    "expert": "the built-in expert, which needs no model",
    "openai:MODEL": "a model behind an OpenAI-compatible endpoint (--base-url, --api-key-env)",
    "local:FOLDER": "a checkpoint that runs in this process: a folder, a hub id, or a .gguf file (--local.*)",
    "scripted:FILE": "replays FILE, a trajectories.jsonl or a hand-written .toml script",
}
"""What a policy may be called, and what it is."""


def build_policy(
    spec: str, *, target: Target, sandbox: Sandbox, endpoint: EndpointConfig, local: LocalConfig
) -> ChatModel:
    """The policy that `spec` names; `endpoint` is for a model behind one, `local` for a checkpoint.

    Raises:
        ConfigError: there is none of that name, or the endpoint's address or key is unusable.
        UserError: its file or checkpoint is missing or unusable.
    """
    kind, _, argument = spec.partition(":")
    if spec == "expert":
        return ExpertChat(sandbox=sandbox, target=target)
    if kind == "openai" and argument:
        chat = HttpChat(argument, endpoint)
        return chat if endpoint.tool_calls is ToolCallForm.NATIVE else TextToolChat(chat)
    if kind == "local" and argument:
        from cuda_agent.llm.local import load_local_chat  # torch and transformers, for this policy alone

        return load_local_chat(argument, local, sampling=endpoint.sampling, form=endpoint.tool_calls)
    if kind == "scripted" and argument:
        return load_scripted_chat(Path(argument))
    known = "; ".join(f"{name}: {what}" for name, what in POLICIES.items())
    raise ConfigError(f"no policy is called {spec!r}; choose one of: {known}")
