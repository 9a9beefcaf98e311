"""Programs that a language model writes: asked for, parsed, and dropped where they are none."""

from pathlib import Path

import pytest

from cuda_agent.errors import InfrastructureError
from cuda_agent.llm.endpoint import EndpointConfig
from cuda_agent.llm.http import HttpChat
from cuda_agent.llm.scripted import load_scripted_chat
from cuda_agent.rundir import RunDir
from cuda_agent.sandbox.protocol import Sandbox
from cuda_agent.synthesis.compose_llm import LlmComposer, build_prompt, draw_operators
from cuda_agent.synthesis.fate import Fate, Filter
from cuda_agent.synthesis.operator import Operator
from cuda_agent.synthesis.pipeline import FATES, Workshop, build_job, run_synthesis
from cuda_agent.synthesis.recipe import Recipe
from tests.chat_server import ChatServer, say
from tests.synthesis.conftest import GOOD

RECIPE = Recipe(seed=4, transformers_share=0.0, operator_shares=(0.0, 1.0), longest_ms=1e-6, shortest_ms=1e-7)


def fence(code: str) -> str:
    return f"Here it is:\n```python\n{code}```\n"


BAD = {
    "the reply holds no code block": say("A program would begin with a linear layer."),
    "the reply holds several code blocks": say(fence(GOOD) + fence(GOOD)),
    "the program imports os": say(fence("import os\n" + GOOD)),
    "the program imports subprocess": say(fence(GOOD + "\nfrom subprocess import run\n")),
    "the program calls __import__": say(fence(GOOD + "\n__import__('os')\n")),
    "the reply was cut off at its cap": say("and then " * 5000, finish="length"),
    "the program has more than 20000 characters": say(fence(GOOD + "# more\n" * 3000)),
}


@pytest.fixture(scope="module")
def two(operators: tuple[Operator, ...]) -> tuple[Operator, ...]:
    return tuple(o for o in operators if o.name in ("torch.nn.Linear", "torch.clamp"))


def test_the_prompt_shows_what_was_drawn(operators: tuple[Operator, ...]) -> None:
    drawn = draw_operators(operators, RECIPE, number=3)
    assert drawn == draw_operators(operators, RECIPE, number=3)
    assert drawn != draw_operators(operators, RECIPE, number=4)
    prompt = build_prompt(drawn, RECIPE)
    for operator in drawn:
        assert f"`{operator.name}`, for example `{operator.template}`" in prompt
    assert "16.0 GB" in prompt


def test_a_scripted_model_writes_a_candidate(tmp_path: Path, two: tuple[Operator, ...]) -> None:
    (tmp_path / "s.toml").write_text(f"[[reply]]\ntext = {fence(GOOD)!r}\n".replace("'", '"'))
    chat = load_scripted_chat(tmp_path / "s.toml")
    fate = LlmComposer(chat, two, recipe=RECIPE)(7)
    assert fate.is_kept
    assert fate.candidate.code == GOOD
    assert (fate.candidate.number, fate.candidate.data_source) == (7, "torch#2")
    assert set(fate.candidate.ops) == {"torch.nn.Linear", "torch.clamp"}


@pytest.mark.parametrize("reason", BAD)
def test_a_bad_reply_is_dropped_with_its_reason(two: tuple[Operator, ...], reason: str) -> None:
    with ChatServer(BAD[reason]) as server:
        chat = HttpChat("m", EndpointConfig(base_url=server.address))
        fate = LlmComposer(chat, two, recipe=RECIPE)(0)
    assert (fate.dropped_by, fate.reason) == (Filter.REPLY, reason)


def test_a_run_counts_every_reply(tmp_path: Path, sandbox: Sandbox, two: tuple[Operator, ...]) -> None:
    """The written programs meet the filters that composed ones meet, and run in the sandbox."""
    good = GOOD.replace("torch.tanh(x)", "torch.clamp(x, -0.5, 0.5)")
    job = build_job(RECIPE, two, kernelbench=None, composer="openai:m")
    other = good.replace("0.5", "0.25")
    written = ["def\n", GOOD, good, good, other]
    answers = [*BAD.values(), *(say(fence(code)) for code in written)]
    with ChatServer(*answers) as server, RunDir.create(tmp_path / "run", job) as run:
        chat = HttpChat("m", EndpointConfig(base_url=server.address))
        shop = Workshop(
            job=job,
            compose=LlmComposer(chat, two, recipe=RECIPE),
            kernelbench={},
            sandbox=sandbox,
        )
        with pytest.raises(InfrastructureError):  # the server's script is at its end
            run_synthesis(shop, run, count=1, observe=lambda _: None)
        fates = sorted(run.read(FATES, Fate), key=lambda fate: fate.candidate.number)
    assert [fate.reason for fate in fates[:7]] == [*BAD]
    assert [fate.dropped_by for fate in fates[7:11]] == [
        Filter.PARSES,
        Filter.LABEL,
        Filter.WINDOW,
        Filter.DUPLICATE,
    ]
