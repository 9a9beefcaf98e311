"""An episode ends when it has spent what it may, and says what that was."""

import pytest
from pydantic import ValidationError

from cuda_agent.agent.budget import Budget, BudgetedChat, BudgetError
from cuda_agent.agent.episode import EpisodeConfig
from cuda_agent.llm.chat import Message, Reply, Role, ToolSchema, Usage
from cuda_agent.llm.endpoint import EndpointConfig, Prices
from cuda_agent.tasks.target import Target

PROMPT = (Message(role=Role.USER, content="x" * 3000),)


class SpendingChat:
    """Spends the same with each reply."""

    name = "spender"

    def __init__(self, usage: Usage) -> None:
        self.usage = usage

    def reply(self, messages: tuple[Message, ...], tools: tuple[ToolSchema, ...]) -> Reply:
        return Reply(message=Message(role=Role.ASSISTANT, content="y" * 300), usage=self.usage)


def count_replies(budget: Budget, usage: Usage) -> tuple[int, str]:
    """How often it may ask, and why no more; 20 times at most."""
    chat = BudgetedChat(SpendingChat(usage), budget)
    assert chat.name == "spender"
    for asked in range(20):
        try:
            chat.reply(PROMPT, ())
        except BudgetError as error:
            return asked, str(error)
    return 20, ""


@pytest.mark.parametrize(
    ("budget", "expected"),
    [
        (Budget(), (20, "")),
        (Budget(max_cost=0.5), (2, "a cost of 0.5 reached --max-cost 0.5")),
        (Budget(max_cost=0.6), (3, "a cost of 0.75 reached --max-cost 0.6")),
        (Budget(max_tokens_total=440), (4, "440 tokens reached --max-tokens-total 440")),
        (Budget(max_tokens_total=441), (5, "550 tokens reached --max-tokens-total 441")),
        (Budget(max_tokens_total=330, max_cost=10.0), (3, "330 tokens reached --max-tokens-total 330")),
    ],
)
def test_it_asks_until_the_budget_is_spent(budget: Budget, expected: tuple[int, str]) -> None:
    assert count_replies(budget, Usage(prompt_tokens=100, completion_tokens=10, cost=0.25)) == expected


def test_uncounted_tokens_are_estimated() -> None:
    replies, said = count_replies(Budget(max_tokens_total=4000), Usage())
    assert replies == 4
    assert said.startswith("4464 tokens")


def test_uncounted_cost_is_not_taken_for_none() -> None:
    replies, said = count_replies(Budget(max_cost=1.0), Usage())
    assert replies == 0
    assert "counts no tokens" in said


def test_a_limit_of_money_needs_prices() -> None:
    with pytest.raises(ValidationError, match=r"--max-cost needs --prices\.prompt"):
        EpisodeConfig(target=Target.CPU, budget=Budget(max_cost=1.0))
    priced = EndpointConfig(prices=Prices(completion=1.0))
    EpisodeConfig(target=Target.CPU, budget=Budget(max_cost=1.0), endpoint=priced)
